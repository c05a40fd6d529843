"""The raw answer, streamed: it stops where the model begins to repeat itself, and shows where it was cut."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable

from ekr.answering.citation_marks import CITATION
from ekr.answering.sentences import ENUMERATOR, split_sentences

_log = logging.getLogger(__name__)
_SENTENCE_WORDS = 4
_LOOP_WORDS = range(6, 61)
_TORN_WORDS = 8
_OPEN_MARK = re.compile(r"\s*\[\d*$")
ELLIPSIS = " …"


def collect(pieces: Iterable[str], emit: Callable[[str], None], *, cited: bool) -> str:
    """The text of `pieces`, each of them given to `emit` as it comes.

    It ends before a sentence or a run of words that the text has just said, so that a model in a loop does not
    spend its tokens on it. `cited` says that a grammar lets the text end in a citation alone: one that does
    not ran out of tokens, and ends in an ellipsis.
    """
    text = ""
    for piece in pieces:
        # the words before a space are whole
        if piece[:1].isspace() and (looped := loop_from(text)) is not None:
            _log.info("the generator repeats itself; stopped")
            return text[:looped].rstrip(" ,;:") + ELLIPSIS
        text += piece
        emit(piece)
        if piece.rstrip().endswith((".", "]", "!", "?")) and (repeated := repeated_from(text)) is not None:
            _log.info("the generator repeats itself; stopped")
            return text[:repeated]
    return without_torn_end(text) if cited else text


def repeated_from(text: str) -> int | None:
    """Where the last sentence begins, when the same words stand earlier in `text`, list numbers apart."""
    spans = split_sentences(text)
    if len(spans) < 2:
        return None
    said = [re.findall(r"\w+", CITATION.sub(" ", ENUMERATOR.sub("", text[a:b])).lower()) for a, b in spans]
    last = said[-1]
    return spans[-1][0] if len(last) >= _SENTENCE_WORDS and last in said[:-1] else None


def loop_from(text: str) -> int | None:
    """Where the last words begin, when as many before them are the same: six at least, sixty at most."""
    words = list(re.finditer(r"\S+", text[-2000:]))
    said = [word.group().strip(",;:").lower() for word in words]
    for count in _LOOP_WORDS:
        if 2 * count > len(said):
            return None
        if said[-count:] == said[-2 * count : -count]:
            return len(text) - len(text[-2000:]) + words[-count].start()
    return None


def without_torn_end(text: str) -> str:
    """`text` as it is when a citation ends it; else with an ellipsis for what was being written.

    That is a word, or a sentence of a few words beside others.
    """
    if text.rstrip().endswith("]"):
        return text
    whole = _OPEN_MARK.sub("", text)
    if whole != text or whole.rstrip().endswith((".", "!", "?", ";")):
        return whole
    spans = split_sentences(whole)
    if len(spans) > 1 and len(whole[spans[-1][0] :].split()) < _TORN_WORDS:
        kept = whole[: spans[-1][0]]
    else:
        kept = re.sub(r"\S+$", "", whole).rstrip(" \n,;:–-(")
    return kept.rstrip() + ELLIPSIS if kept.strip() else whole
