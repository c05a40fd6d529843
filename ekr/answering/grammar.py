"""GBNF of an answer: a bounded number of sentences and lists, each statement ending in `[n]` with n in range."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

from ekr.chunking.sentences import sentence_spans

MAX_BLOCKS = 6
MAX_ITEMS = 10
_TOKEN = re.compile(r"""[^\s()\[\]{}<>|"«»“”]+""")
_MAY_END = frozenset({"Inc.", "Ltd.", "Co.", "Corp.", "Jr.", "Sr.", "etc."})
_MAX_DOTTED, _LONGEST_DOTTED = 120, 40
# Ranges of a GBNF character class: kana, ideographs, Hangul, full-width forms.
_IDEOGRAPHS = r"\u3000-\u30FF\u3400-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\uFF00-\uFFEF"


def answer_grammar(
    sources: int,
    *,
    start: str = "",
    dotted: Collection[str] = (),
    ideographs: bool = True,
    max_blocks: int = MAX_BLOCKS,
    max_items: int = MAX_ITEMS,
) -> str:
    """The grammar for an answer over `sources` passages (at least 1); `start` is what it must begin with.

    The answer is at most `max_blocks` sentences or lists; a list is an introduction ending in a colon and up to
    `max_items` items. A sentence has no bound: at one, a model that may not begin another word writes on without
    spaces, and a definition of law is longer than any bound that would help. No square bracket can stand in them: a
    citation is only at their end, and only in range. Full stops inside are those of `dotted` words, of list numbers
    and of usual abbreviations: a model that may put one anywhere, and is kept from ending its answer there, goes on
    to "1941.0.2.4". Words such as U.S. and Inc. may also end the sentence. Without `ideographs` no Chinese,
    Japanese or Korean character can appear: some models slip into them. Raises ValueError when there is no source.
    """
    if sources < 1:
        raise ValueError("a citing answer needs at least one source")
    ids = " | ".join(f'"{n}"' for n in range(1, sources + 1))
    ended = [word for word in dotted if word.endswith(".") and ("." in word[:-1] or word in _MAY_END)]
    ending = ' | (word " ")* ended' if ended else ""
    opening, closing = r'[(«“]? "\""?', r'"\""? [)»”]? [,;:%]?'
    first = f"{_literal(start + ' ')} (sentence | list)" if start else "(sentence | list)"
    return "\n".join(
        [
            f"root ::= {first} (separator (sentence | list)){{0,{max_blocks - 1}}}",
            'separator ::= " " | "\\n" "\\n"?',
            f'sentence ::= (words [.!?;]{ending}) " [" id "]"',
            f'list ::= words " "? ":" "\\n" "\\n"? item ("\\n" item){{0,{max_items - 1}}}',
            'item ::= ("- " | [1-9] [0-9]? (". " | ") ") | [a-z] ") ") words [.;,]? " [" id "]"',
            'words ::= word (" " word)*',
            'word ::= plain{1,40} | number | abbreviation | ":" | "–" | "-"' + (" | dotted" if dotted else ""),
            'number ::= [1-9] [0-9]? "."',
            *([f"dotted ::= {opening} ({' | '.join(map(_literal, dotted))}) {closing}"] if dotted else []),
            *([f"ended ::= {' | '.join(map(_literal, ended))}"] if ended else []),
            'abbreviation ::= "art." | "Art." | "p." | "n." | "M." | "Mr." | "Mrs." | "Dr." | "St." | "vs."',
            rf"plain ::= [^ \n\t.!?\[\]<>|{'' if ideographs else _IDEOGRAPHS}]",
            f"id ::= {ids}",
            "",
        ]
    )


def dotted_words(text: str) -> list[str]:
    """Words of `text` with a full stop that ends no sentence: 6.1, $3.5, U.S., Lt., J.-P.; the most frequent first."""
    ends = {end for _, end in sentence_spans(text, 0, len(text))}
    found: Counter[str] = Counter()
    for match in _TOKEN.finditer(text):
        word = match.group().rstrip(",;:!?…'’")
        after = match.start() + len(word)
        # A closing mark may stand between the full stop and the sentence's end.
        if word.endswith(".") and not ends.isdisjoint(range(after, after + 3)) and "." not in word[:-1]:
            continue
        if "." in word.strip(".") or (word.endswith(".") and word.strip(".")):
            found[word] += 1
            if not ends.isdisjoint(range(after, after + 3)):
                found[word.rstrip(".")] += 1
    usable = [word for word in found if len(word) <= _LONGEST_DOTTED and ".." not in word and "." in word]
    return sorted(usable, key=lambda word: (-found[word], word))[:_MAX_DOTTED]


def _literal(text: str) -> str:
    """A GBNF string; control characters and lone surrogates, which it cannot hold, become spaces."""
    plain = "".join(c if c.isprintable() else " " for c in text)
    return '"{}"'.format(plain.replace("\\", "\\\\").replace('"', '\\"'))
