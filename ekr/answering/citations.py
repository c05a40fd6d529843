"""Checks an answer's citations against the excerpts: forged ones go, misplaced ones move, missing ones come."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ekr.answering.citation_marks import CITATION, parse_citations
from ekr.answering.context import Source
from ekr.answering.language import question_language
from ekr.answering.orders import is_ordered, orders_in
from ekr.answering.sentences import ENUMERATOR, split_sentences
from ekr.answering.support import Excerpts, names, numbers, terms, written_numbers
from ekr.models.base import Embedder

# Thresholds on the support score (0 to 1), chosen on the AI Act and the English check questions.
MOVE_MARGIN = 0.15
DROP_BELOW = 0.35
# An answer in another language than the excerpts shares few words with them: meaning decides, and scores less.
DROP_FOREIGN_BELOW = 0.2
_COVERAGE_WEIGHT, _FOREIGN_COVERAGE_WEIGHT = 0.75, 0.25
# Cosines of multilingual-e5 lie between about 0.75 (unrelated) and 1; other embedders spread wider, which
# only makes the same mapping stricter.
_COSINE_FLOOR = 0.75
# A sentence half of whose words stand in no excerpt is the model's own: of 496 sentences in answers about the sample
# corpus and the AI Act, none that an excerpt bears out reached it.
_UNSEEN_SHARE, _UNSEEN_WORDS = 0.5, 2


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """One sentence without its citations, the ids it cites now, and its best support (0 to 1)."""

    text: str
    cited: tuple[int, ...]
    support: float


@dataclass(frozen=True, slots=True)
class Verified:
    """The answer with its citations corrected, the ids cited in order of first use, and what was changed.

    `obeyed` says that a sentence of the answer is what an excerpt orders its reader to say.
    """

    text: str
    cited: tuple[int, ...]
    notes: tuple[str, ...]
    sentences: tuple[CheckedSentence, ...] = field(default=())
    obeyed: bool = False


def verify(
    text: str, sources: Sequence[Source], embedder: Embedder | None, question: str = "", given: str = ""
) -> Verified:
    """`text` with only citations that `sources` support; no other character of it is removed.

    A citation whose id is not among the sources is removed; one that another source supports better by
    `MOVE_MARGIN` moves there; one whose sentence no source supports to `DROP_BELOW`, or that holds a figure
    that no source has or a name that neither a source nor the question has, or most of whose words are in no source, is
    dropped. A sentence without
    citation gets the source that supports it, if one does. Where the cited ones lack a figure of the sentence, the
    one that has it is cited, too. A sentence `given` to the model to begin with is ours, and not checked.
    """
    spans = split_sentences(text)
    bare = [CITATION.sub("", text[a:b]).strip() for a, b in spans]
    checker = _Checker(sources, embedder, question, " ".join(bare))
    checked: list[CheckedSentence] = []
    pieces: list[str] = []
    position = 0
    for (start, end), sentence, row in zip(spans, bare, checker.scores(bare), strict=True):
        cited = parse_citations(text[start:end])
        final, support = ((), 0.0) if sentence == given else checker.decide(sentence, cited, row)
        checked.append(CheckedSentence(sentence, final, support))
        pieces += [text[position:start], _place(text[start:end], final)]
        position = end
    pieces.append(text[position:])
    order = tuple(dict.fromkeys(n for s in checked for n in s.cited))
    return Verified("".join(pieces), order, tuple(checker.notes), tuple(checked), checker.obeyed)


class _Checker:
    """The sources and what they hold, and notes on what was changed."""

    def __init__(self, sources: Sequence[Source], embedder: Embedder | None, question: str, answer: str) -> None:
        self.notes: list[str] = []
        self.obeyed = False
        self._ids = [source.id for source in sources]
        self._orders = orders_in([source.text for source in sources])
        self._texts = [f"{source.heading or ''}\n{source.text}" for source in sources]
        self._embedder = embedder
        given = " ".join(self._texts)
        self._numbers_of = [numbers(text) for text in self._texts]
        self._asked = written_numbers(question)
        self._numbers = set[str]().union(*self._numbers_of)
        self._held = {t.text for t in terms(given)}
        self._terms = self._held | {t.text for t in terms(question)}
        # A short answer alone ("Quellbridge, England.") tells no language, and names must be checked then, too.
        spoken = question_language(f"{answer} {question}", "und")
        self._foreign = embedder is not None and spoken != "und" and question_language(given, spoken) != spoken

    def scores(self, sentences: Sequence[str]) -> list[list[float]]:
        """For each sentence, the support (0 to 1) that each source gives it."""
        if not self._ids:
            return [[] for _ in sentences]
        excerpts = Excerpts(self._texts, self._embedder)
        weight = 1.0 if self._embedder is None else _COVERAGE_WEIGHT
        if self._foreign:
            weight = _FOREIGN_COVERAGE_WEIGHT
        rows: list[list[float]] = []
        for sentence, close in zip(sentences, excerpts.closeness(sentences), strict=True):
            meaning = ((close - _COSINE_FLOOR) / (1 - _COSINE_FLOOR)).clip(0, 1)
            row = weight * excerpts.coverage(sentence) + (1 - weight) * meaning
            rows.append([float(score) for score in row])
        return rows

    def decide(self, sentence: str, cited: Sequence[int], row: Sequence[float]) -> tuple[tuple[int, ...], float]:
        """The ids that a sentence may cite, and its best support."""
        unique = list(dict.fromkeys(cited))
        self.notes += [f"[{n}] is not an excerpt: removed" for n in unique if n not in self._ids]
        valid = [n for n in unique if n in self._ids]
        if not row or not re.search(r"\w", sentence):
            return (), 0.0
        top = max(row)
        best = self._ids[row.index(top)]
        shown = _shown(sentence)
        if is_ordered(sentence, self._orders):
            self.notes.append(f"an excerpt orders to say {shown}: not cited")
            self.obeyed = True
            return (), 0.0
        if stray := self._stray(sentence):
            self.notes.append(f"no excerpt has {', '.join(stray)} of {shown}: not cited")
            return (), top
        if top < (DROP_FOREIGN_BELOW if self._foreign else DROP_BELOW) or self._is_invented(sentence):
            self.notes.append(f"no excerpt supports {shown}: not cited")
            return (), top
        moved = [n for n in valid if row[self._ids.index(n)] < top - MOVE_MARGIN]
        self.notes += [f"{shown}: [{n}] moved to [{best}]" for n in moved]
        kept = list(dict.fromkeys([best if n in moved else n for n in valid] or [best]))
        for added in self._with_figures(sentence, kept, row):
            self.notes.append(f"{shown}: [{added}] has a figure of it: cited, too")
            kept.append(added)
        return tuple(kept), top

    def _is_invented(self, sentence: str) -> bool:
        """Whether at least half of the words of a sentence, and two, stand in no excerpt."""
        said = {t.text for t in terms(sentence)}
        unseen = len(said - self._held)
        return not self._foreign and unseen >= _UNSEEN_WORDS and unseen >= _UNSEEN_SHARE * len(said)

    def _with_figures(self, sentence: str, cited: Sequence[int], row: Sequence[float]) -> list[int]:
        """The sources that hold the figures of a sentence which the cited ones lack, best supporting first."""
        figures = written_numbers(ENUMERATOR.sub("", sentence))
        missing = figures.difference(self._asked, *(self._numbers_of[self._ids.index(n)] for n in cited))
        added = []
        while missing:
            held = [len(missing & found) for found in self._numbers_of]
            place = max(range(len(row)), key=lambda i: (held[i], row[i]))
            missing -= self._numbers_of[place]
            added.append(self._ids[place])
        return added

    def _stray(self, sentence: str) -> list[str]:
        """Figures and names of a sentence, a list number and its first word apart, that nothing given has."""
        figures = sorted(written_numbers(ENUMERATOR.sub("", sentence)) - self._numbers)
        if self._foreign:
            return figures
        return figures + [name for name in names(sentence) if not {t.text for t in terms(name)} <= self._terms]


def _place(sentence: str, cited: Sequence[int]) -> str:
    """The sentence with its citations replaced by `cited`, where the first stood or at its end."""
    marks = "".join(f"[{n}]" for n in cited)
    first = CITATION.search(sentence)
    if first is None:
        return f"{sentence} {marks}" if marks else sentence
    lead = " " if first.group()[0].isspace() else ""
    head = sentence[: first.start()] + (lead + marks if marks else "")
    return head + CITATION.sub("", sentence[first.end() :])


def _shown(sentence: str) -> str:
    words = " ".join(sentence.split())
    return f"“{words if len(words) <= 60 else words[:57].rstrip() + '…'}”"
