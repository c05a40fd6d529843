"""BM25: any string is a query, accents and apostrophes do not matter, filters are exact, languages keep apart."""

from __future__ import annotations

import json
import math
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ekr.errors import StoreError
from ekr.store import Snapshot, Store
from ekr.store.analysis import analyser
from ekr.store.bm25 import Bm25Reader, Bm25Writer
from ekr.store.records import PreparedDocument
from tests.store.builders import document, ingest, numbered

SENTENCES = {
    "reglement.md": ("fr", "Le règlement sur l’IA interdit la notation sociale des personnes autorisées."),
    "energie.md": ("fr", "Les systèmes d'énergie à haut risque de l'Union sont contrôlés par l'autorité."),
    "lovelace.txt": ("en", "Ada Lovelace wrote the first programs for the analytical engine of Babbage."),
    "article.txt": ("en", "Article 6 paragraph III: providers shall keep the logs that AI systems generate."),
    "japanese.txt": ("ja", "人工知能は計算機科学の一分野である。"),
    "thai.txt": ("th", "ปัญญาประดิษฐ์เป็นสาขาหนึ่งของวิทยาการคอมพิวเตอร์"),
    "korean.txt": ("ko", "인공지능은 컴퓨터 과학의 한 분야이다."),
    "russian.txt": ("ru", "Ёлка стоит в большом зале института вычислительной техники."),
    "german.txt": ("de", "Die Rechenmaschine des Ingenieurs stand in der großen Halle."),
    "arabic.txt": ("ar", "الذَّكاء الاصطناعي فرع من علوم الحاسوب"),
}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> object:
    store = Store(tmp_path_factory.mktemp("bm25") / "store")
    ingest(store, *(document(f"/d/{name}", text, language=code) for name, (code, text) in SENTENCES.items()))
    with store.snapshot() as opened:
        yield opened


def found(snapshot: Snapshot, query: str, **options: object) -> list[str]:
    hits = snapshot.search_bm25(query, 10, **options)  # type: ignore[arg-type]
    chunks = snapshot.chunks([chunk_id for chunk_id, _ in hits])
    records = snapshot.document_records({chunk.document_id for chunk in chunks.values()})
    return [records[chunks[chunk_id].document_id].display for chunk_id, _ in hits]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("réglement", "reglement.md"),
        ("REGLEMENTS", "reglement.md"),
        ("l'IA", "reglement.md"),
        ("l’IA", "reglement.md"),
        (unicodedata.normalize("NFD", "règlement"), "reglement.md"),
        ("personne autorisé", "reglement.md"),
        ("qu'est-ce que la notation d’une personne ?", "reglement.md"),
        ("système énergétique à haut risque", "energie.md"),
        ("dʼénergie", "energie.md"),
        ("Who wrote programs?", "lovelace.txt"),
        ("Babbage’s engines", "lovelace.txt"),
        ("article 6", "article.txt"),
        ("6", "article.txt"),
        ("iii", "article.txt"),
        ("AI", "article.txt"),
        ("6(1)", "article.txt"),
        ("人工知能", "japanese.txt"),
        ("知", "japanese.txt"),
        ("計算機とは何ですか", "japanese.txt"),
        ("ประดิษฐ์", "thai.txt"),
        ("인공지능이란", "korean.txt"),
        ("елка", "russian.txt"),
        ("grosse Rechenmaschine großen", "german.txt"),
        ("الذكاء", "arabic.txt"),
        ("Qui était Ada Lovelace et quels sont ses programs ?", "lovelace.txt"),
    ],
)
def test_a_question_finds_its_passage_first(snapshot: Snapshot, query: str, name: str) -> None:
    assert found(snapshot, query)[0] == name


@pytest.mark.parametrize("query", ["", "   ", "?!…", "le la les de d' l'", "the of and", "()\"'-:", "\x00", "\ud800"])
def test_a_query_without_a_term_of_its_own_finds_nothing(snapshot: Snapshot, query: str) -> None:
    assert snapshot.search_bm25(query, 10) == []


@pytest.mark.parametrize(
    "query",
    [
        'l\'article 6(1): "haut risque" -foo AND (bar',
        "fish days:",
        "http://example.org/a?b=c#d [1 TO 2] field:*",
        "-règlement",
        ">>> (règlement OR",
        "règlement^1000000000~99 \\",
    ],
)
def test_query_syntax_is_plain_text(snapshot: Snapshot, query: str) -> None:
    assert all(math.isfinite(score) for _, score in snapshot.search_bm25(query, 10))
    if "règlement" in query:
        assert found(snapshot, query)[0] == "reglement.md"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(st.characters(exclude_categories=[]), max_size=80), limit=st.integers(-2, 30))
def test_any_string_is_a_valid_query(snapshot: Snapshot, query: str, limit: int) -> None:
    for field in ("chunk", "parent"):
        hits = snapshot.search_bm25(query, limit, field=field)  # type: ignore[arg-type]
        assert len(hits) <= max(limit, 0)
        assert [score for _, score in hits] == sorted((score for _, score in hits), reverse=True)
        assert all(score > 0 for _, score in hits)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(sorted(SENTENCES)),
    start=st.integers(0, 60),
    form=st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]),
    upper=st.booleans(),
)
def test_a_piece_of_a_passage_finds_it_in_every_spelling(
    snapshot: Snapshot, name: str, start: int, form: str, upper: bool
) -> None:
    language, text = SENTENCES[name]
    words = text.split(" ")
    piece = " ".join(words[start % len(words) :])
    spelt = unicodedata.normalize(form, piece.upper() if upper and language != "de" else piece)
    hits = found(snapshot, spelt)
    assert not hits or name in hits
    assert hits or not analyser({"en": "en", "fr": "fr"}.get(language, "other")).terms(piece)


def test_a_very_long_question_is_bounded_and_keeps_its_rare_terms(snapshot: Snapshot) -> None:
    filler = " ".join(f"filler{number}" for number in range(1500))
    query = f"{filler} Lovelace {filler}"
    assert len(query) > 10_000
    assert found(snapshot, query) == ["lovelace.txt"]
    assert found(snapshot, "Lovelace " * 2000)[0] == "lovelace.txt"
    assert found(snapshot, "人工知能" * 3000)[0] == "japanese.txt"


def test_the_document_filter_is_part_of_the_search(store: Store) -> None:
    documents = [numbered(number) for number in range(60)]
    ingest(store, *documents)
    last = documents[-1].record.id
    with store.snapshot() as snapshot:
        everywhere = [chunk_id for chunk_id, _ in snapshot.search_bm25("engine tested report", 500)]
        assert len(everywhere) == 180
        for wanted in ({last}, {d.record.id for d in documents[10:40]}, {last, *(f"no-{n}" for n in range(5000))}):
            own = {c.id for d in documents for c in d.chunks if d.record.id in wanted}
            hits = snapshot.search_bm25("engine tested report", 500, documents=wanted)
            assert [chunk_id for chunk_id, _ in hits] == [chunk_id for chunk_id in everywhere if chunk_id in own]
            hits = snapshot.search_bm25("engine tested report", 2, documents=wanted)
            assert [chunk_id for chunk_id, _ in hits] == [i for i in everywhere if i in own][:2]
        assert snapshot.search_bm25("engine", 5, documents=set()) == []
        assert snapshot.search_bm25("engine", 5, documents={"unknown"}) == []


def test_whole_parents_are_searched_apart_from_their_children(store: Store) -> None:
    split = document("/a.md", "Alpha is first. ", "Omega is last.", heading="I > Letters")
    other = document("/b.md", "Alpha alone.", "Nothing.")
    ingest(store, split, other)
    with store.snapshot() as snapshot:
        assert snapshot.search_bm25("alpha omega", 5, field="parent")[0][0] == split.parents[0].id
        assert {hit for hit, _ in snapshot.search_bm25("letters", 5)} == {c.id for c in split.chunks}
        assert [hit for hit, _ in snapshot.search_bm25("letters", 5, field="parent")] == [split.parents[0].id]


def test_a_document_without_headings_is_found_by_its_title(store: Store) -> None:
    ingest(store, document("/difference_engine.txt", "It was a machine."), document("/x.txt", "It was a machine."))
    with store.snapshot() as snapshot:
        assert len(snapshot.search_bm25("difference", 5)) == 1


def test_ties_are_broken_by_id_whatever_the_limit(store: Store) -> None:
    same = [document(f"/same/{number}.txt", "exactly the same words", heading="Same") for number in range(30)]
    for part in (same[20:], same[:5], same[5:20]):
        ingest(store, *part)
    expected = sorted(prepared.chunks[0].id for prepared in same)
    with store.snapshot() as snapshot:
        for limit in (1, 7, 30, 100):
            assert [hit for hit, _ in snapshot.search_bm25("words", limit)] == expected[:limit]


def reference_bm25(documents: list[PreparedDocument], query: str, k1: float, b: float) -> dict[str, float]:
    """BM25 by its definition, without fieldnorm rounding: the passages are short enough to have exact lengths."""
    how = analyser("en")
    bags = {
        c.id: Counter(how.terms(f"{d.record.title}\n{d.record.title}\n{c.text}")) for d in documents for c in d.chunks
    }
    average = sum(bag.total() for bag in bags.values()) / len(bags)
    scores: dict[str, float] = {}
    for term, weight in Counter(how.terms(query)).items():
        holders = sum(term in bag for bag in bags.values())
        idf = math.log(1 + (len(bags) - holders + 0.5) / (holders + 0.5))
        for chunk_id, bag in bags.items():
            if bag[term]:
                norm = 1 - b + b * bag.total() / average
                scores[chunk_id] = scores.get(chunk_id, 0) + weight * idf * bag[term] * (k1 + 1) / (
                    bag[term] + k1 * norm
                )
    return scores


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.9, 0.4), (2.0, 0.0), (1.2, 1.0)])
def test_scores_are_those_of_the_formula_for_any_k1_and_b(store: Store, k1: float, b: float) -> None:
    texts = ["engine " * (1 + n % 3) + "mill " * (n % 4) + " ".join(f"w{n}{m}" for m in range(n)) for n in range(14)]
    documents = [document(f"/{number}.txt", text) for number, text in enumerate(texts)]
    ingest(store, *documents)
    expected = reference_bm25(documents, "engine mill mill", k1, b)
    with store.snapshot() as snapshot:
        hits = dict(snapshot.search_bm25("engine mill mill", 50, k1=k1, b=b))
    assert hits == pytest.approx(expected, rel=1e-4)


def test_a_missing_index_is_an_error_not_an_empty_result(store: Store) -> None:
    ingest(store, numbered(1))
    for file in (store.path / "generations" / "1" / "bm25" / "chunk-en").iterdir():
        file.unlink()
    with store.snapshot() as snapshot, pytest.raises(StoreError, match="ekr doctor --repair"):
        snapshot.search_bm25("report", 5)


@pytest.mark.parametrize("name", ["chunk-fr", "parent-fr"])
def test_a_missing_index_of_one_language_is_an_error_too(store: Store, name: str) -> None:
    ingest(store, numbered(1), document("/d/fr.txt", "Le rapport est prêt.", language="fr"))
    (store.path / "generations" / "1" / "bm25" / name / "meta.json").unlink()
    kind = "parent" if name.startswith("parent") else "chunk"
    with store.snapshot() as snapshot, pytest.raises(StoreError, match=f"{name} is missing; run: ekr doctor --repair"):
        snapshot.search_bm25("report", 5, field=kind)


@pytest.mark.shared
@pytest.mark.parametrize(("name", "least"), [("musique", 52.7), ("hotpotqa", 78.0), ("2wiki", 66.1)])
def test_recall_at_5_on_the_multihop_sets_is_at_least_the_starting_line(
    tmp_path: Path, shared: Path, name: str, least: float
) -> None:
    corpus = [json.loads(line) for line in (shared / "multihop" / f"{name}_corpus.jsonl").open()]
    questions = [json.loads(line) for line in (shared / "multihop" / f"{name}_questions.jsonl").open()]
    writer = Bm25Writer(tmp_path)
    for row in corpus:
        prepared = document(f"/{name}.jsonl#{row['id']}", row["text"], heading=row["title"], record_id=str(row["id"]))
        writer.add_document(prepared.record, prepared.chunks, ())
    writer.finish()
    reader = Bm25Reader(tmp_path)
    record_of = {document(f"/{name}.jsonl#{row['id']}", row["text"]).chunks[0].id: row["id"] for row in corpus}
    recall = 0.0
    for question in questions:
        hits = {record_of[hit] for hit, _ in reader.search(question["question"], 5)}
        gold = set(question["gold_passages"])
        recall += len(hits & gold) / len(gold)
    assert 100 * recall / len(questions) >= least
