"""The Python API, as docs/python.md shows it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ekr import Engine, Filters, Recipe
from ekr.errors import EkrError, RecipeError, RetrievalError, StoreEmpty, UsageError
from ekr.ingestion.pipeline import IngestOptions, Progress


def test_ingest_retrieve_and_look(notes: Path, tmp_path: Path) -> None:
    seen: list[Progress] = []
    with Engine.open(tmp_path / "s") as engine:
        report = engine.ingest(notes, options=IngestOptions(metadata={"case": "1"}), on_progress=seen.append)
        assert sorted(report.added) == ["engines.md", "people/lovelace.txt", "reglement.md"]
        assert [p.files_done for p in seen if p.stage == "reading"] == [1, 2, 3]
        result = engine.retrieve("Who worked with Charles Babbage?", rerank="none")
        assert result.items[0].document == "people/lovelace.txt"
        assert result.references[0].text == result.items[0].text
        assert result.answer is None
        assert engine.status()["documents"] == 3
        assert engine.delete("reglement.md") == ["reglement.md"]
        assert [d.display for d in engine.documents()] == ["engines.md", "people/lovelace.txt"]


def test_a_recipe_object_and_its_options_work_like_a_name_with_values(notes_store: Path) -> None:
    mine = Recipe(name="mine", methods=("chunk", "bm25"), rrf_k=30, bm25_k1=1.5, limit=2)
    with Engine.open(notes_store) as engine:
        by_object = engine.retrieve("punched cards", mine)
        assert len(by_object.items) == 2
        assert by_object.trace.fusion[0]["arithmetic"].startswith("1/(30+")
        by_name = engine.retrieve("punched cards", "hybrid_mix", rrf_k=30, bm25_k1=1.5, chunk_top_k=2, rerank="none")
        assert by_name.items[0].id == by_object.items[0].id
        only = engine.retrieve("punched cards", mine, filters=Filters(documents=("people/*",)))
        assert {item.document for item in only.items} == {"people/lovelace.txt"}


def test_a_query_runs_beside_an_event_loop(notes_store: Path) -> None:
    with Engine.open(notes_store) as engine:
        with pytest.raises(UsageError, match="empty"):
            asyncio.run(engine.aquery("  "))
        with pytest.raises(RecipeError, match="unknown recipe"):
            asyncio.run(engine.aquery("x", "none_such"))


def test_a_reader_sees_the_next_generation_after_a_write(notes: Path, tmp_path: Path) -> None:
    with Engine.open(tmp_path / "s") as engine:
        with pytest.raises(StoreEmpty, match="ekr ingest"):
            engine.retrieve("x", "chunk")
        engine.ingest(notes / "engines.md")
        first = engine.snapshot().generation
        engine.ingest(notes)
        assert engine.snapshot().generation > first
        assert engine.status()["documents"] == 3


def test_another_embedder_is_refused_with_the_command_that_embeds_again(notes_store: Path) -> None:
    with (
        Engine.open(notes_store, embedder="all-minilm-l6-v2") as engine,
        pytest.raises(EkrError, match=r"ekr reindex|ekr models pull"),
    ):
        engine.retrieve("x", "chunk")


def test_a_method_that_fails_is_named_and_the_other_still_answers(notes_store: Path, tmp_path: Path) -> None:
    with Engine.open(notes_store, cache_dir=tmp_path / "no models here") as engine:
        result = engine.retrieve("Bernoulli numbers", "hybrid_mix", max_context_tokens=100)
        failed = [(d["stage"], d["name"]) for d in result.degraded]
        methods = [("method", name) for name in ("chunk", "local", "global")]
        assert failed == [*methods, ("step", "rerank")]
        assert "ekr models pull" in result.degraded[0]["error"]
        assert result.items[0].document == "people/lovelace.txt"
        with pytest.raises(RetrievalError, match="every method failed"):
            engine.retrieve("Bernoulli numbers", "chunk")
