from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ekr.answering.quotes import key_quotes
from ekr.answering.support import fold, terms
from ekr.models.base import EmbedderInfo, Vectors
from tests.answering.support_for_answering import source


class HashingEmbedder:
    """A bag of hashed word stems: enough meaning for a test, and no model to load."""

    info = EmbedderInfo("hashing", "0", 256, "", "", "mean")

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), 256), np.float32)
        for number, text in enumerate(texts):
            for term in terms(fold(text)):
                rows[number, sum(map(ord, term.text)) % 256] += 1
            rows[number] /= np.linalg.norm(rows[number]) or 1
        return rows

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_passages([text])[0]
        return vector


SOURCES = [
    source(1, "The gate is painted green. The wall is old.", "Walls", 1),
    source(2, "The yearly fee is 40 crowns for each plot. Students pay half of the yearly fee.", "Fee", 2),
]
QUESTION = "What is the yearly fee for a plot?"


def test_the_decisive_passage_is_quoted_word_for_word() -> None:
    found = key_quotes(QUESTION, "It depends.", SOURCES, (), HashingEmbedder(), limit=1)
    assert [quote.source for quote in found] == [2]
    assert found[0].text in SOURCES[1].text


def test_what_the_answer_already_says_is_not_repeated() -> None:
    answer = "The yearly fee is 40 crowns for each plot, and students pay half of the yearly fee."
    assert key_quotes(QUESTION, answer, SOURCES, (2,), HashingEmbedder(), limit=2) == []


def test_a_passage_beside_the_point_is_not_quoted() -> None:
    found = key_quotes(QUESTION, "It depends.", SOURCES, (), HashingEmbedder(), limit=5)
    assert all(quote.source == 2 for quote in found)


def test_a_list_is_quoted_to_its_end() -> None:
    items = "".join(f"\n- the yearly fee item {n} of a rather long list of yearly fees for plots;" for n in range(5))
    listed = source(1, f"The yearly fee for a plot covers:{items}\n- and the key.\nOther things.", None, 1)
    found = key_quotes(QUESTION, "", [listed], (), HashingEmbedder(), limit=1, max_characters=120)
    assert found[0].text.startswith("The yearly fee for a plot covers:")
    assert found[0].text.endswith("and the key.")


def test_no_source_no_quote() -> None:
    assert key_quotes(QUESTION, "", [], (), HashingEmbedder(), limit=2) == []
