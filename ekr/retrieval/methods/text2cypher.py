"""Values that a query over the graph computes, which a generator wrote for the question, and passages behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ekr.errors import RetrievalError
from ekr.retrieval.hits import Hit, RankedList, Value

if TYPE_CHECKING:
    from ekr.retrieval.search import Search
    from ekr.retrieval.text2cypher import Computed

NAME = "text2cypher"


def find(search: Search) -> list[RankedList]:
    """One list: the rows in the order of the result, then the passages behind them, those of the first row first.

    Raises RetrievalError when the query fails, also after its repair, and when a filter asks for some documents
    only: the graph is that of all. Raises ModelMissing and ModelError.
    """
    from ekr.retrieval.text2cypher import compute

    if search.filters.documents or search.filters.where:
        raise RetrievalError("text2cypher computes over all documents; drop --document and --where, or the method")
    computed = compute(search)
    values = _values(search, computed)
    search.values.update(values)
    total = len(computed.result.rows)
    if len(values) < total or computed.result.truncated:
        more = "more than " if computed.result.truncated else ""
        search.trace.note(f"the graph query gives {more}{total} rows; the first {len(values)} are kept (--limit)")
    chunks = dict.fromkeys(chunk for value in values.values() for chunk in value.chunks)
    hits = [Hit("value", id_, 1 / rank) for rank, id_ in enumerate(values, start=1)]
    hits += [Hit("chunk", id_, 1 / rank) for rank, id_ in enumerate(list(chunks)[: search.fetch], start=1)]
    return [RankedList(NAME, tuple(hits))]


def _values(search: Search, computed: Computed) -> dict[str, Value]:
    """The rows by id, without repetition. An id stands for what the row says, so the same row is the same item."""
    import json

    from ekr.cypher.serialise import plain, shown
    from ekr.extraction.records import stable_id
    from ekr.retrieval.text2cypher_evidence import passages_of_rows

    result = computed.result
    found: dict[str, Value] = {}
    for place, (row, chunks) in enumerate(zip(result.rows, passages_of_rows(search, computed), strict=True), start=1):
        cells = tuple(plain(row))
        id_ = stable_id("value", json.dumps([result.columns, cells], ensure_ascii=False))
        said = ", ".join(f"{name} = {shown(value)}" for name, value in zip(result.columns, row, strict=True))
        title = f"row {place} of {len(result.rows)}{'+' if result.truncated else ''}"
        found.setdefault(id_, Value(result.columns, cells, said, title, tuple(chunks)))
        if len(found) == search.top_k:
            break
    return found
