"""Finds many names in a text at once: on word boundaries, longest first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ekr.extraction.names import LINKING, Token, fold, is_acronym, singular, tokenize
from ekr.extraction.vocabulary import FUNCTION_WORDS

_SENTENCE_GAP = re.compile(r"[.;:!?…|•]|\n\s*\n")
_NEXT_WORD = re.compile(r"[ -]([^\W\d_]\w*)")
_PREVIOUS_WORD = re.compile(r"([^\W\d_]\w*)[ -]$")
_FORMS: tuple[Callable[[str], str], ...] = (lambda word: word, singular)


@dataclass(frozen=True, slots=True)
class Name:
    """A name to look for and what it stands for. `term`: a common-noun term, matched in any case and number."""

    text: str
    target: str
    term: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """Where a name stands in a text, and the targets it may mean (sorted)."""

    start: int
    end: int
    targets: tuple[str, ...]
    name: str


@dataclass(slots=True)
class _Pattern:
    name: str
    first: str
    gaps: tuple[bool, ...]
    capital: bool
    exact: bool
    targets: tuple[str, ...]


@dataclass(slots=True)
class _Node:
    # Most nodes have a single child or a single pattern: an empty dict and list in each would be the larger part.
    next: dict[str, _Node] | None = None
    patterns: tuple[_Pattern, ...] = ()

    def child(self, word: str) -> _Node:
        """The node that the word leads to, made when there is none."""
        if self.next is None:
            self.next = {}
        found = self.next.get(word)
        if found is None:
            found = self.next[word] = _Node()
        return found


def match_key(name: str, term: bool) -> str:
    """What a store indexes a name by: its folded words, in the singular for a term."""
    return " ".join(_FORMS[term](t.folded) for t in tokenize(name))


class NameMatcher:
    """A tree of words over names; a text is read once, whatever the number of names.

    A proper name matches only where the text writes it with a capital, unless `any_case` is given (questions are
    often typed in lower case); an acronym matches only as it is written. Words must be neighbours: punctuation
    that ends a sentence breaks a match, except where the name itself has it ("St. Maurice").
    """

    def __init__(self, names: Iterable[Name]) -> None:
        # One tree of words a form; a node's patterns end at that node.
        self._trees = (_Node(), _Node())
        for name in names:
            self._add(name)

    def _add(self, name: Name) -> None:
        form = _FORMS[name.term]
        tokens = tokenize(name.text)
        if not tokens:
            return
        written = [name.text[t.start : t.end] for t in tokens]
        telling = next((w for w in written if fold(w) not in LINKING), written[0])
        pattern = _Pattern(
            name.text,
            written[0],
            _gaps(name.text, tokens),
            capital=not name.term and not telling[0].islower(),
            exact=len(tokens) == 1 and is_acronym(written[0]) and len(written[0]) <= 4,
            targets=(name.target,),
        )
        node = self._trees[name.term]
        for token in tokens:
            node = node.child(form(token.folded))
        for other in node.patterns:
            if (other.gaps, other.capital, other.exact) == (pattern.gaps, pattern.capital, pattern.exact):
                if name.target not in other.targets:
                    other.targets += (name.target,)
                other.name = min(other.name, name.text)
                return
        node.patterns += (pattern,)

    def find(self, text: str, *, any_case: bool = False) -> list[Match]:
        """Matches that don't overlap, in the order of the text; the longest wins at each place."""
        tokens = tokenize(text)
        proper, common = (tree.next or {} for tree in self._trees)
        matches: list[Match] = []
        at = 0
        for index, token in enumerate(tokens):
            if index < at or not (token.folded in proper or singular(token.folded) in common):
                continue
            found = self._longest_at(text, tokens, index, any_case)
            if found is not None:
                at, patterns = found
                targets = sorted({t for p in patterns for t in p.targets})
                name = min(p.name for p in patterns)
                matches.append(Match(token.start, tokens[at - 1].end, tuple(targets), name))
        return matches

    def _longest_at(
        self, text: str, tokens: Sequence[Token], first: int, any_case: bool
    ) -> tuple[int, list[_Pattern]] | None:
        ends: dict[int, list[_Pattern]] = {}
        for tree, form in zip(self._trees, _FORMS, strict=True):
            node = tree
            for index in range(first, len(tokens)):
                following = node.next.get(form(tokens[index].folded)) if node.next else None
                if following is None:
                    break
                node = following
                if node.patterns:
                    ends.setdefault(index + 1, []).extend(node.patterns)
        for end in sorted(ends, reverse=True):
            window = tokens[first:end]
            fitting = [p for p in ends[end] if _fits(p, text, window, any_case)]
            if fitting:
                return end, fitting
        return None


def _gaps(text: str, tokens: Sequence[Token]) -> tuple[bool, ...]:
    return tuple(bool(_SENTENCE_GAP.search(text, a.end, b.start)) for a, b in pairwise(tokens))


def _fits(pattern: _Pattern, text: str, window: Sequence[Token], any_case: bool) -> bool:
    written = [text[t.start : t.end] for t in window]
    if pattern.exact:
        if written[0] != pattern.first:
            return False
    elif pattern.capital and not any_case:
        telling = next((w for w in written if fold(w) not in LINKING), written[0])
        if telling[0].islower() or (len(window) == 1 and _inside_longer_name(text, window[0])):
            return False
    wide = any(b.start - a.end > 4 for a, b in pairwise(window))
    broken = _gaps(text, window)
    return not wide and all(own or not gap for own, gap in zip(pattern.gaps, broken, strict=True))


def _inside_longer_name(text: str, token: Token) -> bool:
    """Whether a capitalised neighbour shows that a one-word name is part of another: "Frozen" in "Frozen Fever"."""
    after = _NEXT_WORD.match(text, token.end)
    if after and after[1][0].isupper():
        return True
    before = _PREVIOUS_WORD.search(text, max(0, token.start - 40), token.start)
    return bool(before and before[1][0].isupper() and fold(before[1]) not in FUNCTION_WORDS)
