"""The two official PDFs of the AI Act, cut with the default embedder's own tokenizer."""

from __future__ import annotations

import json
import re
import unicodedata
from functools import cache
from pathlib import Path

import pypdfium2
import pytest

from ekr.chunking import ChunkSettings, chunk
from ekr.config import Settings
from ekr.errors import ModelMissing
from ekr.models import load_tokenizer
from ekr.models.base import Tokenizer
from ekr.reading import Document, read
from ekr.store.records import ChunkRecord
from ekr.text import comparable
from tests.chunking.helpers import PieceTokenizer

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "ai-act"
LANGUAGES = pytest.mark.parametrize("language", ["fr", "en"])
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not DATA.is_dir(), reason="the evaluation data (../shared/data) is not there"),
]

_LABEL = re.compile(r"(article|annexe?) (premier|\d+|[ivx]+)\b", re.IGNORECASE)
_CLOSE = re.compile("[\\s\ufffe\u00ad\u2010-]+")


@cache
def tokenizer() -> Tokenizer:
    try:
        return load_tokenizer("multilingual-e5-small", Settings())
    except ModelMissing:
        return PieceTokenizer()


@cache
def act(language: str) -> Document:
    problems: list[Exception] = []
    (document,) = read(DATA / f"ai_act_{language}.pdf", problems.append)
    assert problems == []
    return document


@cache
def chunks(language: str) -> list[ChunkRecord]:
    return chunk(act(language), language, tokenizer(), ChunkSettings())[1]


@LANGUAGES
def test_every_article_and_annex_is_a_heading_on_its_first_page(language: str) -> None:
    document = act(language)
    found: dict[tuple[str, str], list[int | None]] = {}
    for heading in document.headings:
        match = _LABEL.match(heading.text)
        if match:
            key = match[1].lower()[:5], match[2].lower().replace("premier", "1")
            found.setdefault(key, []).append(document.page_at(heading.start))
    expected = json.loads((DATA / "article_pages.json").read_text("utf-8"))[language]
    keys = {name: (name.lower()[:5], name.split()[1].lower()) for name in expected}
    assert {name: found.get(keys[name]) for name in expected} == {name: [page] for name, page in expected.items()}


def test_breadcrumbs_join_labels_with_their_whole_titles() -> None:
    headings = {item.heading for item in chunks("fr")}
    assert (
        "CHAPITRE III SYSTÈMES D’IA À HAUT RISQUE > SECTION 3 Obligations incombant aux fournisseurs et aux "
        "déployeurs de systèmes d’IA à haut risque et à d’autres parties > Article 26 Obligations incombant aux "
        "déployeurs de systèmes d’IA à haut risque"
    ) in headings
    assert any(
        heading and heading.endswith("ANNEXE III Systèmes d'IA à haut risque visés à l'article 6, paragraphe 2")
        for heading in headings
    )


@LANGUAGES
def test_the_text_of_every_chunk_stands_on_the_pages_it_claims(language: str) -> None:
    with pypdfium2.PdfDocument(DATA / f"ai_act_{language}.pdf") as pdf:
        pages = [closed(page.get_textpage().get_text_range()) for page in pdf]
    missing = []
    for item in chunks(language):
        assert item.page_start is not None
        assert item.page_end is not None
        words = closed(item.text)
        first, last = pages[item.page_start - 1], pages[item.page_end - 1]
        if item.page_start == item.page_end:
            stands = words in first
        else:
            # Between the two pages stand foot, notes and head, so the passage is there in two halves.
            stands = item.page_end == item.page_start + 1 and any(
                words[:cut] in first and words[cut:] in last for cut in range(1, len(words))
            )
        if not stands:
            missing.append(item.text)
    assert missing == []


@LANGUAGES
def test_no_chunk_is_above_the_limit_and_few_are_tiny(language: str) -> None:
    sizes = [item.tokens for item in chunks(language)]
    assert max(sizes) <= 220
    assert sum(size < 40 for size in sizes) < 0.05 * len(sizes)


def test_the_evidence_of_every_question_is_in_a_chunk() -> None:
    passages = [comparable(f"{(item.heading or '').rsplit(' > ', 1)[-1]} {item.text}") for item in chunks("fr")]
    lost = []
    for line in (DATA / "questions_fr.jsonl").read_text("utf-8").splitlines():
        question = json.loads(line)
        for pattern in question.get("evidence", []):
            if not any(re.search(pattern, passage) for passage in passages):
                lost.append((question["id"], pattern))
    assert lost == []


def closed(text: str) -> str:
    return _CLOSE.sub("", unicodedata.normalize("NFC", text))
