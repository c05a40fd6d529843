"""Verbatim key passages: the words of the excerpts that decide a question, for what an answer leaves out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from ekr.answering.context import Source
from ekr.answering.sentences import split_sentences
from ekr.answering.support import Excerpts, terms
from ekr.models.base import Embedder

MAX_QUOTE_CHARACTERS = 400
# A quoted list may be this long, so that its last items are not lost.
MAX_LIST_CHARACTERS = 600
_COSINE_FLOOR, _COSINE_SPAN = 0.75, 0.25
_CITED_BONUS = 0.1
_RANK_COST = 0.03
# A quote whose terms the answer already has to this share adds nothing.
_ALREADY_SAID = 0.4
# A passage further than this below the best one is beside the point.
_RELEVANCE_GAP = 0.2


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
    windows = [
        (index, start, end)
        for index, source in enumerate(sources)
        for start, end in _windows(source.text, max_characters)
    ]
    if not windows or limit < 1:
        return []
    texts = [sources[i].text[a:b] for i, a, b in windows]
    titled = [
        f"{(sources[i].heading or '').split(' > ')[-1]} {text}" for (i, _, _), text in zip(windows, texts, strict=True)
    ]
    closeness = embedder.embed_passages(titled) @ embedder.embed_query(question)
    meaning = ((closeness - _COSINE_FLOOR) / _COSINE_SPAN).clip(0, 1)
    shared = Excerpts(titled, None).coverage(question)
    ranks = np.array([i for i, _, _ in windows])
    preferred = np.array([sources[i].id in cited for i, _, _ in windows])
    scores = meaning + shared + _CITED_BONUS * preferred - _RANK_COST * ranks
    asked = {t.text for t in terms(question)}
    said = {t.text for t in terms(answer)}
    taken: list[int] = []
    chosen: list[int] = []
    for candidate in np.argsort(-scores, kind="stable"):
        index = windows[candidate][0]
        if len(taken) == limit or scores[candidate] < scores.max() - _RELEVANCE_GAP:
            break
        if any(index == windows[t][0] for t in taken):
            continue
        # An answer that only says the question again has said nothing of the passage.
        new = {t.text for t in terms(texts[candidate])} - asked
        if not new:
            continue
        # A passage that the answer already tells takes its place without being repeated.
        taken.append(int(candidate))
        if len(new & said) / len(new) < _ALREADY_SAID:
            chosen.append(int(candidate))
            said |= new
    return [Quote(sources[windows[c][0]].id, " ".join(texts[c].split())) for c in chosen]


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
