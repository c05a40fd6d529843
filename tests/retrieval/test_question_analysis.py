"""Keywords and parts of a question, and the cache of what a generator said about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ekr import Engine
from ekr.retrieval.call_cache import CallCache
from ekr.retrieval.decomposition import split_by_rule


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Who built the loom?", []),
        ("Who built the loom and when was it shown?", ["Who built the loom", "when was it shown?"]),
        ("Who built the loom? Where is Lyon?", ["Who built the loom?", "Where is Lyon?"]),
        ("Qui a construit le métier et où se trouve Lyon ?", ["Qui a construit le métier", "où se trouve Lyon ?"]),
        ("salt and pepper; sugar and spice", ["salt and pepper", "sugar and spice"]),
        ("What do salt and pepper have in common?", []),
    ],
)
def test_a_question_is_split_where_another_begins(question: str, parts: list[str]) -> None:
    assert split_by_rule(question) == parts


@given(st.text(max_size=200))
def test_any_text_is_split_into_none_or_several_pieces_of_itself(question: str) -> None:
    parts = split_by_rule(question)
    assert len(parts) <= 4
    assert all(part in question for part in parts)


def test_what_was_kept_comes_back_and_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "a" / "b")
    assert cache.get("k") is None
    cache.put("k", '{"é": 1}', "")
    assert CallCache(tmp_path / "a" / "b").get("k") == '{"é": 1}'
    assert [file.name for file in (tmp_path / "a" / "b").iterdir()] == ["k"]
    (tmp_path / "file").write_text("")
    blocked = CallCache(tmp_path / "file" / "b")
    blocked.put("k", "v", "")
    assert blocked.get("k") is None


@pytest.mark.models
def test_a_generator_gives_keywords_that_stand_in_the_question(library_store: Path) -> None:
    with Engine.open(library_store, reranker="none", generator="smollm2-135m") as engine:
        result = engine.retrieve("Who worked with Charles Babbage?", "local", keywords="llm")
    assert result.degraded == []
    (found,) = result.trace.extra["keywords"]
    assert found["by"] != "nlp"
    assert found["low"]
    assert found["high"]
    assert any(item.name == "Charles Babbage" for item in result.items)
