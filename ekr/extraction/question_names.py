"""Names of the graph that a question contains, found with the matcher that found them in the passages."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ekr.extraction.matcher import Match, Name, NameMatcher
from ekr.extraction.names import is_acronym, singular, tokenize
from ekr.extraction.records import SearchName
from ekr.extraction.references import references
from ekr.extraction.structure import keys_of
from ekr.extraction.vocabulary import FUNCTION_WORDS

# Given keys, the searchable names that have them; a store answers this from one indexed column.
Lookup = Callable[[Sequence[str]], Iterable[SearchName]]
_LONGEST_NAME_WORDS = 12


@dataclass(frozen=True, slots=True)
class QuestionName:
    """A name in the question (offsets in its NFC form) and the entities that it may mean, sorted."""

    start: int
    end: int
    name: str
    entity_ids: tuple[str, ...]
    defined: bool


def question_keys(question: str) -> list[str]:
    """Every key that a name inside the question could have, as written and in the singular."""
    folded = [token.folded for token in tokenize(unicodedata.normalize("NFC", question))]
    keys: dict[str, None] = {}
    for first in range(len(folded)):
        for last in range(first + 1, min(len(folded), first + _LONGEST_NAME_WORDS) + 1):
            run = folded[first:last]
            keys[" ".join(run)] = None
            keys[" ".join(singular(word) for word in run)] = None
    return list(keys)


def names_in_question(question: str, lookup: Lookup) -> list[QuestionName]:
    """Names in the order of the question, the longest at each place, and the numbered units that it refers to.

    People type questions without capitals, so names of two words and more match in any case. A single word counts
    when it is capitalised past the first word, is written as the acronym it is, or when nothing in the question is
    capitalised and it is no function word.
    """
    question = unicodedata.normalize("NFC", question)
    referred = references(question)
    keys = [*question_keys(question), *(key for r in referred for key in keys_of(r))]
    rows = list(lookup(list(dict.fromkeys(keys))))
    known = [name for name in rows if not name.unit]
    units: dict[str, list[SearchName]] = defaultdict(list)
    for name in rows:
        if name.unit:
            units[name.key].append(name)
    defined = {name.entity_id for name in known if name.defined}
    matcher = NameMatcher(Name(n.text, n.entity_id, n.term) for n in known)
    terms = {n.text for n in known if n.term}
    tokens = tokenize(question)
    bare = not any(question[t.start].isupper() for t in tokens[1:])
    first = tokens[0].start if tokens else 0
    found = [
        QuestionName(m.start, m.end, m.name, m.targets, any(t in defined for t in m.targets))
        for m in matcher.find(question, any_case=True)
        if m.name in terms or _counts(question, m, bare, first)
    ]
    for reference in referred:
        meant = next((units[key] for key in keys_of(reference) if key in units), [])
        if meant:
            ids = tuple(sorted({name.entity_id for name in meant}))
            found.append(QuestionName(reference.start, reference.end, meant[0].text, ids, True))
    return sorted(found, key=lambda n: (n.start, n.end))


def _counts(question: str, match: Match, bare: bool, first: int) -> bool:
    written = question[match.start : match.end]
    if len(tokenize(written)) > 1 or is_acronym(written):
        return True
    if written.casefold() in FUNCTION_WORDS:
        return False
    if match.start == first:
        return written[0].isupper() or bare
    return written[0].isupper() or written[0].isdigit() or (bare and len(written) > 3) or not written.isascii()


def lookup_in(names: Iterable[SearchName]) -> Lookup:
    """A lookup over names held in memory."""
    index: dict[str, list[SearchName]] = {}
    for name in names:
        index.setdefault(name.key, []).append(name)
    return lambda keys: [name for key in keys for name in index.get(key, ())]
