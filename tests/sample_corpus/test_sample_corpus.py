"""The sample corpus: rebuilt the same, read without loss, and its questions true of its documents."""

from __future__ import annotations

import importlib.util
import re
import sys
import zipfile
from collections import Counter
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from ekr.bench.normalise import normalise
from ekr.bench.questions import Question, compiled, load_questions
from ekr.reading import SUPPORTED_SUFFIXES, Document, read
from ekr.reading.files import discover

CORPUS = Path(__file__).resolve().parents[2] / "sample_corpus"
SUBJECTS = (
    "Babbage", "Lovelace", "Menabrea", "Herschel", "Scheutz", "Jacquard", "Difference Engine", "Analytical Engine",
    "Hollerith", "IBM", "Hopper", "Turing", "Newman", "Colossus", "Wilkes", "Mauchly", "ENIAC", "Zuse", "Bell Labs",
)  # fmt: skip
NOT_DOCUMENTS = {"README.md", "questions.jsonl"}
QUESTIONS = load_questions(CORPUS / "questions.jsonl")


def names() -> list[str]:
    files = (path for path in CORPUS.iterdir() if path.suffix in SUPPORTED_SUFFIXES)
    return sorted(path.name for path in files if path.name not in NOT_DOCUMENTS)


def fail(problem: Exception) -> None:
    raise problem


@cache
def document(name: str) -> Document:
    (found,) = read(CORPUS / name, fail)
    return found


@cache
def text(name: str) -> str:
    return normalise(document(name).text)


@cache
def pages(name: str) -> list[str]:
    found = document(name)
    ends = [*found.page_starts[1:], len(found.text)]
    return [normalise(found.text[start:end]) for start, end in zip(found.page_starts, ends, strict=True)]


@cache
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sample_corpus_build", CORPUS / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # dataclasses look their module up by name while it is being executed.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def question_id(question: Question) -> str:
    return question.id


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist()}


def test_a_rebuild_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    written = build().build_all(first)
    build().build_all(second)
    assert {path.name for path in written} == {name for name in names() if name.endswith((".pdf", ".docx"))}
    for path in written:
        assert path.read_bytes() == (second / path.name).read_bytes(), path.name
        if path.suffix == ".pdf":
            assert path.read_bytes() == (CORPUS / path.name).read_bytes(), path.name
        else:
            # Another zlib may pack the same members into other bytes.
            assert members(path) == members(CORPUS / path.name), path.name


def test_the_corpus_has_every_format() -> None:
    suffixes = Counter(Path(name).suffix for name in names())
    assert suffixes.total() >= 14
    for suffix, least in {".pdf": 3, ".md": 4, ".html": 2, ".docx": 2, ".txt": 2}.items():
        assert suffixes[suffix] >= least, suffix


@pytest.mark.parametrize("name", names())
def test_a_document_has_400_to_1500_words_and_is_clean(name: str) -> None:
    found = document(name)
    assert 400 <= len(found.text.split()) <= 1500
    assert not re.search("[\ufffd\ufffe\u00ad\x02]", found.text)
    # Plain text has no headings to read.
    assert len(found.headings) >= 5 or found.format == "text"


@pytest.mark.parametrize("name", names())
def test_a_document_speaks_of_subjects_of_other_documents(name: str) -> None:
    assert sum(subject in text(name) for subject in SUBJECTS) >= 3


def test_one_document_is_french_and_the_others_are_english() -> None:
    assert {name for name in names() if document(name).language == "fr"} == {"machines_a_calculer.pdf"}
    assert {document(name).language for name in names()} == {"en", "fr"}


def test_the_french_pdf_keeps_its_accents_and_quotation_marks() -> None:
    french = text("machines_a_calculer.pdf")
    for words in ("Étienne Pascal", "mémoire", "conçut", "« ordinateur »", "l'arithmomètre", "24 000 cartes"):
        assert words in french


def test_words_hyphenated_at_line_ends_are_whole() -> None:
    assert "compute and print mathematical tables" in text("babbage.pdf")
    assert "de telles machines" in text("machines_a_calculer.pdf")


def test_running_heads_and_feet_are_gone() -> None:
    for name in names():
        if name.endswith(".pdf"):
            assert not re.search(r"\bPage \d (of|sur) \d\b", text(name)), name
            assert "Notes on the History of Computing" not in text(name), name


def test_one_pdf_has_five_pages_and_a_table_that_runs_over_a_page_end() -> None:
    found = pages("machines.pdf")
    assert len(found) >= 5
    holding = [{row for row in ("1642 Pascaline", "1964 System/360") if row in page} for page in found]
    assert [rows for rows in holding if rows] == [{"1642 Pascaline"}, {"1964 System/360"}]


def test_a_passage_says_that_babbage_and_lovelace_worked_together() -> None:
    assert "Charles Babbage worked with Ada Lovelace in 1843" in text("babbage.pdf")
    assert "Ada Lovelace and Charles Babbage worked together" in text("lovelace.md")


def test_what_is_not_a_document_is_skipped_by_the_rules() -> None:
    found = discover([CORPUS])
    assert [file.display for file in found.files] == names()
    assert {skipped.display for skipped in found.skipped} >= {"README.md", "questions.jsonl", "source/", "build.py"}
    assert found.errors == []


def test_there_are_enough_questions_of_each_kind() -> None:
    kinds = Counter(question.category for question in QUESTIONS)
    least = {
        "factual": 1, "definition": 1, "date and number": 1, "relation": 1, "two documents": 10, "list": 1,
        "comparison": 1, "thematic": 1, "french": 6, "out of scope": 4, "false premise": 3,
    }  # fmt: skip
    assert kinds.total() >= 40
    assert {kind: count for kind, count in least.items() if kinds[kind] < count} == {}
    assert set(kinds) == set(least)


@pytest.mark.parametrize("question", QUESTIONS, ids=question_id)
def test_a_question_is_complete(question: Question) -> None:
    assert question.reference
    assert question.facts
    assert question.trap == (question.category in {"out of scope", "false premise"})
    assert set(question.gold_passages) <= set(names())
    if question.category == "out of scope":
        assert not question.gold_passages
        assert question.forbidden
    else:
        assert question.evidence
        assert question.gold_passages
    if question.category == "two documents":
        assert len(question.gold_passages) == 2


@pytest.mark.parametrize("question", QUESTIONS, ids=question_id)
def test_the_reference_holds_every_fact_and_nothing_forbidden(question: Question) -> None:
    reference = normalise(question.reference or "")
    assert [fact for fact in question.facts if not compiled(fact).search(reference)] == []
    assert [pattern for pattern in question.forbidden if compiled(pattern).search(reference)] == []


@pytest.mark.parametrize("question", QUESTIONS, ids=question_id)
def test_evidence_and_gold_documents_prove_each_other(question: Question) -> None:
    held = {
        pattern: {name for name in question.gold_passages if compiled(pattern).search(text(name))}
        for pattern in question.evidence
    }
    assert [pattern for pattern, found in held.items() if not found] == []
    assert {name for found in held.values() for name in found} == set(question.gold_passages)


@pytest.mark.parametrize("question", QUESTIONS, ids=question_id)
def test_gold_pages_are_those_of_the_evidence_in_pdfs(question: Question) -> None:
    found = {
        number
        for name in question.gold_passages
        if name.endswith(".pdf")
        for number, page in enumerate(pages(name), start=1)
        if any(compiled(pattern).search(page) for pattern in question.evidence)
    }
    assert set(question.pages) == found


@pytest.mark.parametrize(
    "question", [question for question in QUESTIONS if question.category == "out of scope"], ids=question_id
)
def test_what_is_out_of_scope_is_nowhere_in_the_corpus(question: Question) -> None:
    everything = " ".join(text(name) for name in names())
    assert [pattern for pattern in question.forbidden if compiled(pattern).search(everything)] == []


def test_a_short_answer_of_a_two_document_question_is_in_its_documents() -> None:
    for question in QUESTIONS:
        if question.category != "two documents":
            continue
        both = " ".join(text(name) for name in question.gold_passages).lower()
        pieces = [answer.lower().split(", ") for answer in question.answers]
        assert any(all(piece in both or piece == "three" for piece in answer) for answer in pieces), question.id
