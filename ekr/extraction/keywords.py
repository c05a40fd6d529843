"""Keywords of a question: low-level ones name things, high-level ones are themes."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from ekr.extraction.constrained import (
    Cache,
    NoCache,
    ask,
    field_rule,
    list_rule,
    prompt,
    string_rule,
    whole_object,
)
from ekr.extraction.fallback import capitalised_names
from ekr.extraction.names import LINKING, clean, key_of, singular, tokenize
from ekr.extraction.question_names import Lookup, names_in_question
from ekr.extraction.references import references
from ekr.extraction.vocabulary import FUNCTION_WORDS
from ekr.extraction.words import word_list
from ekr.models.base import Generator, Message

_MOST_LOW = 8
_MOST_HIGH = 6
_QUOTED = re.compile(r"«\s*([^«»]{2,80}?)\s*»|“\s*([^“”]{2,80}?)\s*”|\"([^\"\n]{2,80})\"|‘([^‘’]{2,80})’")
# Words of asking, which name neither a thing nor a theme.
_ASKING = word_list("asking")
_CONNECTORS = frozenset(["of", "de", "du", "des", "d", "à", "en", "la", "l", "le", "les"])


@dataclass(frozen=True, slots=True)
class Keywords:
    """Keywords, best first. `fallback`: none could be told apart, so both lists are the question's own terms."""

    high: tuple[str, ...]
    low: tuple[str, ...]
    fallback: bool
    by: str


def keywords(question: str, lookup: Lookup | None = None) -> Keywords:
    """Keywords by rule, in well under a millisecond beside the lookup: names that the graph knows, quoted and
    capitalised words and numbered units are low-level; runs of the other content words are high-level."""
    question = unicodedata.normalize("NFC", question)
    low: list[str] = []
    covered: list[tuple[int, int]] = []
    for start, end, name in _named(question, lookup):
        if not any(start < b and a < end for a, b in covered):
            covered.append((start, end))
            low.append(name)
    phrases = _phrases(question, covered)
    if not low:
        # Nothing is named: the most specific runs of words stand for names too.
        low = sorted((p for p in phrases if " " in p), key=lambda p: -len(p)) or phrases
    high = phrases or low
    low, high = _distinct(low)[:_MOST_LOW], _distinct(high)[:_MOST_HIGH]
    if low and high:
        return Keywords(tuple(high), tuple(low), False, "nlp")
    return _own_terms(question, "nlp")


def _named(question: str, lookup: Lookup | None) -> list[tuple[int, int, str]]:
    found = [(m.start(), m.end(), clean(m[0])) for m in _QUOTED.finditer(question)]
    found += [(r.start, r.end, clean(question[r.start : r.end])) for r in references(question)]
    known = names_in_question(question, lookup) if lookup is not None else []
    found += [(n.start, n.end, clean(question[n.start : n.end])) for n in known]
    found += capitalised_names(question)
    # Longer spans first where they overlap, so that "Theodred II" is not cut to "Theodred".
    order = {(start, end): rank for rank, (start, end, _) in enumerate(found)}
    chosen = sorted(found, key=lambda f: (-(f[1] - f[0]), order[(f[0], f[1])]))
    taken: list[tuple[int, int, str]] = []
    for start, end, name in chosen:
        if name and not any(start < b and a < end for a, b, _ in taken):
            taken.append((start, end, name))
    return sorted(taken)


def _phrases(question: str, covered: list[tuple[int, int]]) -> list[str]:
    runs: list[str] = []
    begin = finish = -1
    for token in tokenize(question):
        inside = any(a <= token.start < b for a, b in covered)
        word = question[token.start : token.end].casefold()
        content = not inside and word not in FUNCTION_WORDS and word not in _ASKING and len(word) > 1
        adjacent = begin >= 0 and not re.search(r"[,;:.!?()«»“”\"]", question[finish : token.start])
        if content and adjacent:
            finish = token.end
        elif content:
            if begin >= 0:
                runs.append(question[begin:finish])
            begin, finish = token.start, token.end
        elif begin >= 0 and (inside or word not in _CONNECTORS or not adjacent):
            runs.append(question[begin:finish])
            begin = -1
    if begin >= 0:
        runs.append(question[begin:finish])
    return [clean(run) for run in runs if clean(run)]


def _distinct(names: list[str]) -> list[str]:
    return list({key_of(name): name for name in reversed(names) if key_of(name)}.values())[::-1]


def _own_terms(question: str, by: str) -> Keywords:
    terms = re.findall(r"\w+", question)
    content = [t for t in terms if t.casefold() not in FUNCTION_WORDS and t.casefold() not in LINKING]
    chosen = tuple(dict.fromkeys(content or terms)) or (question.strip(),)
    return Keywords(chosen, chosen, True, by)


def keyword_grammar() -> str:
    """GBNF of the generator's answer."""
    fields = f'{field_rule("high", "themes")} "," {field_rule("low", "names")}'
    return "\n".join(
        [
            f'root ::= "{{" {fields} "}}"',
            f"themes ::= {list_rule('word', 4)}",
            f"names ::= {list_rule('word', 6)}",
            f"word ::= {string_rule(60)}",
            "",
        ]
    )


def generated_keywords(question: str, generator: Generator, cache: Cache | None = None) -> Keywords:
    """Keywords as a generator reads the question. Raises ModelError.

    Names must stand in the question and themes share half their words with it: small models add what they know.
    When nothing is left, the question's own terms.
    """
    messages = [Message("system", prompt("keywords")), Message("user", question)]
    value = whole_object(ask(generator, messages, keyword_grammar(), cache or NoCache(), max_tokens=160))
    held = {singular(t.folded) for t in tokenize(question)}
    high = [v for v in _strings(value.get("high")) if _share(v, held) >= 0.5][:_MOST_HIGH]
    low = [v for v in _strings(value.get("low")) if _share(v, held) == 1][:_MOST_LOW]
    if not high and not low:
        return _own_terms(question, generator.name)
    return Keywords(tuple(high or low), tuple(low or high), False, generator.name)


def _strings(values: object) -> list[str]:
    return _distinct([clean(str(v)) for v in values]) if isinstance(values, list) else []


def _share(keyword: str, held: set[str]) -> float:
    """The share of the keyword's content words that are in `held`."""
    content = [singular(t.folded) for t in tokenize(keyword) if t.folded not in FUNCTION_WORDS]
    return sum(w in held for w in content) / len(content) if content else 0.0
