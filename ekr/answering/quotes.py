"""Verbatim key passages: the words of the excerpts that decide a question, for what an answer leaves out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from ekr.answering.context import Source
from ekr.answering.quantities import of_kinds
from ekr.answering.sentences import split_sentences
from ekr.answering.support import Excerpts, terms
from ekr.models.base import Embedder

MAX_QUOTE_CHARACTERS = 400
# A quoted list may be this long, so that its last items are not lost.
MAX_LIST_CHARACTERS = 600
_COSINE_FLOOR, _COSINE_SPAN = 0.75, 0.25
MAX_QUANTITY_QUOTES = 4
_CITED_BONUS = 0.1
_RANK_COST = 0.03
# A quote whose terms the answer already has to this share adds nothing.
_ALREADY_SAID = 0.4
# A passage further than this below the best one is beside the point.
_RELEVANCE_GAP = 0.2
# The figures of a matter stand in passages that are less alike than those which answer a question.
_FIGURE_GAP = 0.3


@dataclass(frozen=True, slots=True)
class Quote:
    """Consecutive sentences of a source, word for word."""

    source: int
    text: str


def key_quotes(
    question: str,
    answer: str,
    sources: Sequence[Source],
    cited: Collection[int],
    embedder: Embedder,
    *,
    limit: int,
    max_characters: int = MAX_QUOTE_CHARACTERS,
) -> list[Quote]:
    """Up to `limit` passages that bear on the question and that `answer` does not already say, best first.

    At most one a source; those of cited sources come before equals.
    """
    if limit < 1:
        return []
    found = _Windows(question, sources, cited, embedder, max_characters)
    asked = {t.text for t in terms(question)}
    said = {t.text for t in terms(answer)}
    taken: list[int] = []
    chosen: list[int] = []
    for candidate in found.best_first():
        if len(taken) == limit:
            break
        if any(found.source(candidate) == found.source(t) for t in taken):
            continue
        # An answer that only says the question again has said nothing of the passage.
        new = {t.text for t in terms(found.texts[candidate])} - asked
        if not new:
            continue
        # A passage that the answer already tells takes its place without being repeated.
        taken.append(candidate)
        if len(new & said) / len(new) < _ALREADY_SAID:
            chosen.append(candidate)
            said |= new
    return [found.quote(c) for c in chosen]


def quantity_quotes(
    question: str,
    answer: str,
    sources: Sequence[Source],
    embedder: Embedder,
    *,
    wanted: frozenset[str],
    limit: int = MAX_QUANTITY_QUOTES,
    max_characters: int = MAX_QUOTE_CHARACTERS,
) -> list[Quote]:
    """Up to `limit` passages with a quantity of the `wanted` kinds that `answer` does not say, best first.

    For a question that takes for granted a figure which the excerpts do not have: these are the ones they have,
    whether or not the answer cites their source.
    """
    if not wanted:
        return []
    found = _Windows(question, sources, (), embedder, max_characters)
    said = set(of_kinds(answer, wanted)) | set(of_kinds(question, wanted))
    chosen: list[int] = []
    for candidate in found.best_first(_FIGURE_GAP):
        new = set(of_kinds(found.texts[candidate], wanted)) - said
        if new and len(chosen) < limit:
            chosen.append(candidate)
            said |= new
    return [found.quote(c) for c in chosen]


class _Windows:
    """Runs of sentences of the sources, and how much each bears on the question."""

    def __init__(
        self,
        question: str,
        sources: Sequence[Source],
        cited: Collection[int],
        embedder: Embedder,
        max_characters: int,
    ) -> None:
        self._sources = sources
        spans = [(i, a, b) for i, source in enumerate(sources) for a, b in _windows(source.text, max_characters)]
        self.texts = [sources[i].text[a:b] for i, a, b in spans]
        self._of = [i for i, _, _ in spans]
        if not spans:
            self._scores = np.zeros(0)
            return
        titled = [
            f"{(sources[i].heading or '').split(' > ')[-1]} {t}" for i, t in zip(self._of, self.texts, strict=True)
        ]
        closeness = embedder.embed_passages(titled) @ embedder.embed_query(question)
        meaning = ((closeness - _COSINE_FLOOR) / _COSINE_SPAN).clip(0, 1)
        shared = Excerpts(titled, None).coverage(question)
        preferred = np.array([sources[i].id in cited for i in self._of])
        self._scores = meaning + shared + _CITED_BONUS * preferred - _RANK_COST * np.array(self._of)

    def best_first(self, gap: float = _RELEVANCE_GAP) -> list[int]:
        """Windows that are at most `gap` below the best one: further ones are beside the point."""
        if not len(self._scores):
            return []
        order = np.argsort(-self._scores, kind="stable")
        return [int(w) for w in order if self._scores[w] >= self._scores.max() - gap]

    def source(self, window: int) -> int:
        """The id of the source that a window is of."""
        return self._sources[self._of[window]].id

    def quote(self, window: int) -> Quote:
        """A window, word for word but for its white space."""
        return Quote(self.source(window), " ".join(self.texts[window].split()))


def _windows(text: str, max_characters: int) -> list[tuple[int, int]]:
    """From each sentence on, as many as stay within the bound (at least one); a list goes on to its end."""
    spans = split_sentences(text)
    windows: list[tuple[int, int]] = []
    for first, (start, end) in enumerate(spans):
        last = end
        for _, next_end in spans[first + 1 :]:
            unfinished = text[last - 1] in ":;,"
            if next_end - start > (MAX_LIST_CHARACTERS if unfinished else max_characters):
                break
            last = next_end
        windows.append((start, last))
    return windows
