"""What a passage orders its reader to say. A small model may obey, and what it then says is no answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ekr.answering.sentences import split_sentences
from ekr.answering.support import fold

# An order to whoever answers, in English and French, without accents. A harmless sentence that looks like one loses
# nothing but its place as evidence for a word-for-word repetition of itself.
_ORDER = re.compile(
    r"\b(ignore|disregard|forget)\b.{0,60}\b(instructions?|prompts?|excerpts?|previous)\b"
    r"|\b(answer|respond|reply|say)\s+(with\s+)?(only|just|nothing but|exactly)\b"
    r"|\byou (are now a|must (answer|say|reply|respond))\b"
    r"|\b(ignorez?|oubliez?)\b.{0,60}\b(instructions|consignes|extraits)\b"
    r"|\b(reponds|repondez|dis|dites|ecris|ecrivez)\s+(seulement|uniquement|juste|exactement)\b"
    r"|\b(tu es|vous etes) (desormais|maintenant) une?\b"
    r"|^\W*(system|systeme|assistant|user)\s*:",
    re.DOTALL,
)

_WORD = re.compile(r"[^\W_]+")


def orders_in(texts: Sequence[str]) -> list[str]:
    """The sentences of `texts` that order their reader to say something, as plain words."""
    sentences = [fold(text[start:end]) for text in texts for start, end in split_sentences(text)]
    return [_words(sentence) for sentence in sentences if _ORDER.search(sentence)]


def is_ordered(sentence: str, orders: Sequence[str]) -> bool:
    """Whether an answer's sentence repeats what an order says, word for word."""
    said = _words(fold(sentence))
    return bool(said.strip()) and any(said in order for order in orders)


def _words(text: str) -> str:
    words = " ".join(_WORD.findall(text))
    return f" {words} "
