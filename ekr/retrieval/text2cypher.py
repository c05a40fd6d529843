"""From a question to the result of a query that a model wrote, with one repair."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ekr.errors import RetrievalError
from ekr.retrieval import text2cypher_prompt as prompt
from ekr.retrieval import text2cypher_strings as strings

if TYPE_CHECKING:
    from ekr.cypher import CypherError, GraphSchema, QueryResult
    from ekr.cypher.fit import Joined
    from ekr.cypher.schema import Connection
    from ekr.models.base import Message
    from ekr.retrieval.search import Search

MOST_ROWS = 200
SECONDS = 10.0
_MOST_TOKENS = 220
_FENCE = re.compile(r"```(?:cypher)?\s*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_UNBOUND = re.compile(r"unknown variable '([a-z]\w{0,20})'")
_NUMBER = re.compile(r"\d{2,}")
_NEGATION = re.compile(
    r"\b(not|never|no|none|neither|nobody|nothing|without|\w+n['’]t|aucune?|jamais|sans|ne|pas)\b|\bn['’]",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\bNOT\b|\bnone\b|<>|\bIS NULL\b|= 0\b|< 1\b|\bOPTIONAL\b", re.IGNORECASE)


@dataclass(frozen=True)
class Computed:
    """A query that ran: its text and its result."""

    query: str
    result: QueryResult


@dataclass(frozen=True)
class _Graph:
    connection: Connection
    schema: GraphSchema
    joined: Joined


def compute(search: Search) -> Computed:
    """Let the generator write a query for the question, run it, and repair it once.

    What was written, what was wrong with it and what repaired it ("rule": an arrow was turned or a label
    dropped that cannot match; "generator") is recorded on the trace. Raises RetrievalError when the repair fails too,
    ModelMissing and ModelError.
    """
    from ekr.cypher import CypherError, GraphSchema
    from ekr.cypher.fit import read_joined

    connection = search.snapshot.connection
    schema = GraphSchema.read(connection)
    graph = _Graph(connection, schema, read_joined(connection, schema))
    offered = strings.offered_strings(search)
    messages, grammar = _messages(search, graph, offered), _grammar(graph, offered)
    record: dict[str, Any] = {"question": search.question, "query": None, "repaired": None, "attempts": []}
    search.trace.extra.setdefault("text2cypher", []).append(record)
    for attempt in range(2):
        text = fitting = _written(search, messages, grammar)
        try:
            fitting = _fitted(graph, text)
            if fitting != text:
                record["attempts"].append(
                    {"query": text, "error": "a label or an arrow does not fit the graph: corrected by rule"}
                )
                record["repaired"] = record["repaired"] or "rule"
            result = _run(graph, search, fitting, last=attempt == 1)
        except CypherError as error:
            record["attempts"].append({"query": fitting, "error": str(error)})
            problem = error
        else:
            record["attempts"].append({"query": fitting, "error": None})
            record.update(query=fitting, columns=list(result.columns), rows=len(result.rows))
            return Computed(fitting, result)
        record["repaired"] = "generator"
        messages = prompt.repair_messages(messages, fitting, str(problem))
        grammar = _grammar(graph, offered, _unbound(problem))
    raise RetrievalError(f"the generator wrote no query that works, also after a repair: {problem} in: {fitting}")


def _fitted(graph: _Graph, text: str) -> str:
    """The query with what cannot match put right by rule. Raises CypherError when it cannot be parsed."""
    from ekr.cypher.fit import turned, without_impossible_labels
    from ekr.cypher.literals import without_wrong_labels

    named = without_wrong_labels(graph.connection, graph.schema, text)
    return without_impossible_labels(turned(named, graph.schema, graph.joined), graph.schema, graph.joined)


def _unbound(problem: CypherError) -> str:
    """The variable that a repair must bind first: one that is used and not bound, or what should be counted.

    A small model says again what it said, whatever the error; made to begin with the missing node, it goes on well.
    """
    found = _UNBOUND.match(problem.problem)
    if found is not None:
        return found[1]
    return "x" if problem.problem.startswith("count(") else ""


def _messages(search: Search, graph: _Graph, offered: strings.Offered) -> list[Message]:
    from ekr.cypher import read_connections

    joined = read_connections(graph.connection, graph.schema)
    kinds = prompt.few_values(graph.connection, graph.schema)
    return [
        prompt.system_message(graph.schema, joined, kinds),
        prompt.question_message(search.question, offered),
    ]


def _grammar(graph: _Graph, offered: strings.Offered, first: str = "") -> str:
    """What may be written: names of the schema, and the strings that are offered."""
    from ekr.cypher.gbnf import gbnf

    kinds = prompt.few_values(graph.connection, graph.schema)
    return gbnf(
        graph.schema,
        [*offered.strings(), *(value for values in kinds.values() for value in values)],
        free_strings=False,
        labels_with_properties=False,
        first=first,
        max_names=prompt.MOST_NAMES,
    )


def _written(search: Search, messages: Sequence[Message], grammar: str) -> str:
    from ekr.extraction.constrained import NoCache, ask

    answer = ask(search.generator(), messages, grammar, search.cache or NoCache(), max_tokens=_MOST_TOKENS)
    fenced = _FENCE.search(answer)
    return (fenced[1] if fenced else answer).strip()


def _run(graph: _Graph, search: Search, text: str, *, last: bool) -> QueryResult:
    """The result of a query that speaks of what the question speaks of. Raises CypherError.

    A result without rows, or of nothing but zeros and nulls, is worth another attempt; from the last one it is the
    answer.
    """
    from ekr.cypher import CypherError, Limits, compile_query, run
    from ekr.cypher.fit import counts_itself, misfits
    from ekr.cypher.literals import string_literals, unknown_names

    connection, schema = graph.connection, graph.schema
    compile_query(text, schema)
    wrong = [*unknown_names(connection, schema, text), *misfits(text, schema, graph.joined)]
    for error in (*wrong, counts_itself(text, graph.joined)):
        if error is not None:
            raise error
    literals = [str(literal.value) for literal in string_literals(text)]
    missing = left_out(search, literals, text, schema)
    if missing:
        condition = " or ".join(f"WHERE a.name = '{name}'" for name in missing if name in _named(search))
        hint = f"; put it in, as in {condition}" if condition else ""
        raise CypherError(f"the question asks about {', '.join(missing)}, which the query leaves out{hint}")
    if _NEGATION.search(search.question) and not _NEGATED.search(text):
        raise CypherError("the question asks for what is not so; use NOT, as in WHERE NOT (a)-[:TYPE]->(b)")
    result = run(connection, schema, text, limits=Limits(rows=MOST_ROWS, seconds=SECONDS))
    if last or any(value for row in result.rows for value in row):
        return result
    raise CypherError(f"the query finds nothing; {_loosened(connection, schema, text)}")


def _loosened(connection: Connection, schema: GraphSchema, text: str) -> str:
    """What would find something, or what to think of."""
    from ekr.cypher import CypherError, Limits, run
    from ekr.cypher.fit import without_directions

    loose = without_directions(text)
    with contextlib.suppress(CypherError):
        rows = run(connection, schema, loose, limits=Limits(rows=1, seconds=2.0)).rows if loose != text else []
        if any(value for row in rows for value in row):
            return f"without the direction of its arrows it finds something: {loose}"
    return "is there a type that fits better, another label, or CONTAINS instead of =?"


def left_out(search: Search, literals: Collection[str], text: str, schema: GraphSchema) -> list[str]:
    """Names and numbers of the question that a query has not: such a query answers another question.

    What is in the titles of most documents names them all, and need not stand in the query; nor need a label, or a
    language where its code does.
    """
    from ekr.answering.prompting import language_name
    from ekr.answering.refusal import missing_names

    everywhere = strings.title_words(search)
    languages = [language_name(literal) for literal in literals if len(literal) == 2]
    held = " ".join([*literals, *schema.labels, *languages, *everywhere])
    names = list(missing_names(search.question, held))
    names += [name for name in _known(search) if missing_names(f"X {name.title()}", held.title())]
    numbers = [n for n in _NUMBER.findall(search.question) if n not in f"{text} {' '.join(everywhere)}"]
    missing = list(dict.fromkeys([*names, *numbers]))
    return [name for name in missing if not any(name != other and name in other for other in missing)]


def _named(search: Search) -> set[str]:
    return {record.name for record in search.entities.of(id_ for n in search.names() for id_ in n.entity_ids).values()}


def _known(search: Search) -> list[str]:
    """Names of several words that the graph knows, also where they are written without capitals."""
    found = [search.question[name.start : name.end] for name in search.names()]
    return [name for name in found if " " in name.strip()]
