"""The context sent to a generator: passages as tagged quotations, then graph facts, within a token budget."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ekr.answering.citation_marks import CITATION
from ekr.answering.sentences import split_sentences

FactKind = Literal["entity", "relation", "community", "value"]

# When passages and graph facts compete, facts may take this share of the whole budget.
FACT_SHARE = 0.15
# Of computed values: they were made for the question.
VALUE_SHARE = 0.4

_ELLIPSIS = " […]"
# Characters that render like < or > and are read as such by a model.
_OPENING = "<＜﹤〈⟨⧼❬❮❰ᐸ˂≺⋖‹《"
_CLOSING = ">＞﹥〉⟩⧽❭❯❱ᐳ˃≻⋗›》"
_LOOKALIKES = str.maketrans(
    {c: "&lt;" for c in _OPENING if c not in "‹《"} | {c: "&gt;" for c in _CLOSING if c not in "›》"}
)
# Real quotation marks in print, so they are only replaced where they stand like a tag's brackets.
_QUOTE_TAG = re.compile(r"[‹《]((?:\s*/\s*)?)([A-Za-z][\w.:-]*)([^‹›《》]{0,200})[›》]")
# Markers of chat templates such as [INST].
_CHAT_MARKER = re.compile(r"[\[［]\s*(/?[A-Z][A-Z_ ]{2,})\s*[\]］]")
_KEPT_CONTROLS = frozenset("\n\t")


@dataclass(frozen=True, slots=True)
class Source:
    """A passage offered to the generator; `id` is the number an answer cites it by, from 1."""

    id: int
    chunk_id: str
    document: str
    document_id: str
    page_start: int | None
    page_end: int | None
    heading: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Fact:
    """Something the graph knows: an entity, a relation, a community report or a computed value."""

    kind: FactKind
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Context:
    """What is sent: `text`, the sources in it (ids from 1 in order), the facts in it, the tokens it takes.

    `truncated` is the id of the one source that was shortened at a sentence because nothing else fitted;
    its `text` is what was sent, and the tag says so. `left_out` counts sources that did not fit.
    """

    text: str
    sources: tuple[Source, ...]
    facts: tuple[Fact, ...]
    tokens: int
    truncated: int | None = None
    left_out: int = 0


def quote(text: str) -> str:
    """`text` with everything neutralised that could close or forge a tag, a citation or a chat marker.

    Angle brackets and their look-alikes become `&lt;` and `&gt;`, bracketed numbers become `(n)`; control,
    bidirectional, zero-width and tag characters go. `unquote` brings the brackets back for a reader.
    """
    kept = "".join(
        c if c in _KEPT_CONTROLS or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn") else ""
        for c in text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    )
    kept = _QUOTE_TAG.sub(r"&lt;\1\2\3&gt;", kept).translate(_LOOKALIKES)
    kept = CITATION.sub(_parenthesised, kept)
    return _CHAT_MARKER.sub(r"(\1)", kept)


def _parenthesised(citation: re.Match[str]) -> str:
    text = citation.group()
    lead = text[: len(text) - len(text.lstrip())]
    return f"{lead}({' '.join(text.strip()[1:-1].split())})"


def unquote(text: str) -> str:
    """The angle brackets that `quote` replaced, for text that goes back to a reader."""
    return text.replace("&lt;", "<").replace("&gt;", ">")


def build_context(
    sources: Sequence[Source],
    facts: Sequence[Fact],
    count: Callable[[str], int],
    *,
    max_context_tokens: int,
    max_entity_tokens: int = 2000,
    max_relation_tokens: int = 2000,
) -> Context:
    """Tagged passages in the order given, then facts, within `max_context_tokens` counted by `count`.

    Passages go in whole; one that does not fit is passed over for a later one that does. Only when not even
    the shortest fits is the first cut, at a sentence, and marked. Facts take what their own budgets and
    `FACT_SHARE` of the whole allow, computed values `VALUE_SHARE` (all of it without passages).
    """
    reserve = 0
    if facts and sources:
        computed = sum(count(_fact_tag(fact)) for fact in facts if fact.kind == "value")
        others = sum(count(_fact_tag(fact)) for fact in facts if fact.kind != "value")
        reserve = min(int(max_context_tokens * VALUE_SHARE), computed)
        reserve += min(int(max_context_tokens * FACT_SHARE), others)
    kept: list[Source] = []
    tags: list[str] = []
    used = 0
    for source in sources:
        numbered = replace(source, id=len(kept) + 1)
        tag = _passage_tag(numbered)
        size = count(tag)
        if used + size <= max_context_tokens - reserve:
            kept.append(numbered)
            tags.append(tag)
            used += size
    truncated = None
    if sources and not kept:
        shortened = _shorten(replace(sources[0], id=1), count, max_context_tokens - reserve)
        if shortened is not None:
            tag = _passage_tag(shortened, truncated=True)
            kept, tags, used, truncated = [shortened], [tag], count(tag), 1
    facts_kept, fact_tags, fact_tokens = _fit_facts(
        facts, count, max_context_tokens - used, max_entity_tokens, max_relation_tokens
    )
    return Context(
        text="\n".join([*tags, *fact_tags]),
        sources=tuple(kept),
        facts=tuple(facts_kept),
        tokens=used + fact_tokens,
        truncated=truncated,
        left_out=len(sources) - len(kept),
    )


def pages_label(source: Source) -> str:
    """`46`, `46-47`, or empty for a format without pages."""
    if source.page_start is None:
        return ""
    if source.page_end is None or source.page_end == source.page_start:
        return str(source.page_start)
    return f"{source.page_start}-{source.page_end}"


def _fit_facts(
    facts: Iterable[Fact],
    count: Callable[[str], int],
    budget: int,
    max_entity_tokens: int,
    max_relation_tokens: int,
) -> tuple[list[Fact], list[str], int]:
    order: dict[str, int] = {"value": 0, "community": 1, "entity": 2, "relation": 3}
    left = {"value": budget, "community": budget, "entity": max_entity_tokens, "relation": max_relation_tokens}
    kept: list[Fact] = []
    tags: list[str] = []
    used = 0
    for fact in sorted(facts, key=lambda f: order[f.kind]):
        tag = _fact_tag(fact)
        size = count(tag)
        if used + size > budget or size > left[fact.kind]:
            continue
        left[fact.kind] -= size
        used += size
        kept.append(fact)
        tags.append(tag)
    return kept, tags, used


def _attribute(value: str) -> str:
    return " ".join(quote(value).replace('"', "'").split())


def _passage_tag(source: Source, *, truncated: bool = False) -> str:
    attributes = [f'reference_id="{source.id}"']
    if pages := pages_label(source):
        attributes.append(f'page="{pages}"')
    if source.heading:
        # The separator of a breadcrumb would be escaped like any other bracket.
        attributes.append(f'heading="{_attribute(source.heading.replace(" > ", " / "))}"')
    if truncated:
        attributes.append('truncated="true"')
    return f"<chunk {' '.join(attributes)}>\n{quote(source.text).strip()}\n</chunk>"


def _fact_tag(fact: Fact) -> str:
    return f'<{fact.kind} name="{_attribute(fact.name)}">{" ".join(quote(fact.text).split())}</{fact.kind}>'


def _shorten(source: Source, count: Callable[[str], int], budget: int) -> Source | None:
    """The source cut after as many whole sentences (at worst, words) as fit; None if not one word does."""
    pieces = [source.text[start:end] for start, end in split_sentences(source.text)]
    for units in (pieces, source.text.split()):
        low, high = 0, len(units)
        while low < high:
            middle = (low + high + 1) // 2
            tried = replace(source, text=" ".join(units[:middle]).strip() + _ELLIPSIS)
            if count(_passage_tag(tried, truncated=True)) <= budget:
                low = middle
            else:
                high = middle - 1
        if low:
            return replace(source, text=" ".join(units[:low]).strip() + _ELLIPSIS)
    return None
