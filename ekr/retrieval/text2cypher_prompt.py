"""What a model is told to write a Cypher query: the live schema, examples that fit it, the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from ekr.models.base import Message
from ekr.retrieval.text2cypher_strings import VAGUE_TYPES

if TYPE_CHECKING:
    from ekr.cypher import GraphSchema
    from ekr.cypher.schema import Connection
    from ekr.retrieval.text2cypher_strings import Offered

# Names offered to the model: of labels, and of relationship types.
MOST_NAMES = 60
_VAGUE_LABELS = ("Entity", "Other")
_FEW_VALUES = 12
_LONGEST_VALUE = 30
# Properties that a small model takes for something else.
_UNTOLD = ("aliases", "mentions", "relations", "defined", "pagerank")


def system_message(
    schema: GraphSchema, joined: Sequence[tuple[str, str, str, int]], kinds: Mapping[str, Sequence[str]]
) -> Message:
    """The part that is the same for every question of a store, so that its state in the generator is used again."""
    text = Template(_read("text2cypher.txt")).substitute(schema=schema_text(schema, joined, kinds))
    examples = [*_examples(schema), *_own_examples(joined)]
    return Message("system", "\n\n".join([text, "Examples:", *examples]))


def question_message(question: str, offered: Offered) -> Message:
    """The question with the strings that may stand in the query."""
    said = ["Names in the graph:", *(f"'{name}' {about}".rstrip() for name, about in offered.names.items())]
    if not offered.names:
        said.append("none")
    said += [f"Names that begin with '{word}': {about}" for word, about in offered.openings.items()]
    if offered.words:
        said.append("Other strings: " + ", ".join(f"'{word}'" for word in offered.words))
    return Message("user", "\n".join([*said, f"Question: {question}"]))


def repair_messages(messages: Sequence[Message], query: str, problem: str) -> list[Message]:
    """The same chat after a query that failed. It stands in the question: a turn of its own, a small model repeats."""
    *before, asked = messages
    said = f"{asked.content}\nNot this, it fails: {query}\nReason: {problem}\nThe corrected query:"
    return [*before, Message("user", said)]


def schema_text(
    schema: GraphSchema, joined: Sequence[tuple[str, str, str, int]], kinds: Mapping[str, Sequence[str]]
) -> str:
    """Labels with the same properties on one line each, then each type with what it joins most; capped.

    `kinds` are the values of properties that have few.
    """
    alike: dict[tuple[str, ...], list[str]] = {}
    for label, count in list(schema.labels.items())[:MOST_NAMES]:
        alike.setdefault(schema.label_properties[label], []).append(f"{label} ({count})")
    lines = ["Labels (how many nodes) and their properties:"]
    for names, labels in alike.items():
        told = ", ".join(_with_values(name, kinds) for name in names if name not in _UNTOLD)
        lines.append(f"- {', '.join(labels)}: {told}")
    lines.append("Relationship types and what they join:")
    ends: dict[str, list[str]] = {}
    for source, type_, target, _ in joined:
        if len(ends.setdefault(type_, [])) < 2:
            ends[type_].append(f"{source}->{target}")
    lines += [f"- {type_} {', '.join(ends.get(type_, ()))}" for type_ in list(schema.types)[:MOST_NAMES]]
    return "\n".join(lines)


def few_values(connection: Connection, schema: GraphSchema) -> dict[str, list[str]]:
    """The values of each text property of nodes that has at most twelve different short ones, such as a language."""
    from ekr.cypher.types import STRING, quote

    texts = [name for name, kind in schema.nodes.properties.items() if kind == STRING]
    counted = ", ".join(f"approx_count_distinct({quote(n)})" for n in texts)
    if not texts:
        return {}
    cursor = connection.cursor()
    try:
        counts = cursor.execute(f"SELECT {counted} FROM {schema.nodes.relation}").fetchone()  # noqa: S608
        few = [name for name, count in zip(texts, counts, strict=True) if 1 < count <= _FEW_VALUES]
        return {
            name: sorted(
                row[0]
                for row in cursor.execute(
                    f"SELECT DISTINCT {quote(name)} FROM {schema.nodes.relation} "  # noqa: S608
                    f"WHERE length({quote(name)}) <= {_LONGEST_VALUE}"
                ).fetchall()
            )
            for name in few
        }
    finally:
        cursor.close()


def _with_values(name: str, kinds: Mapping[str, Sequence[str]]) -> str:
    values = kinds.get(name)
    return f"{name} ({', '.join(repr(v) for v in values)})" if values else name


def _examples(schema: GraphSchema) -> list[str]:
    """The examples that hold names of this graph only."""
    from ekr.cypher import CypherError, compile_query

    fitting = []
    for example in _read("text2cypher_examples.txt").split("\n\n"):
        try:
            compile_query(example.partition("\n")[2], schema)
        except CypherError:
            continue
        fitting.append(example)
    return fitting


def _own_examples(joined: Sequence[tuple[str, str, str, int]]) -> list[str]:
    """Examples of the types that this graph states most: from either end, without, counted, in two steps."""
    from ekr.store.graph_schema import STRUCTURAL_TYPES

    stated = [row for row in joined if row[1] not in (*STRUCTURAL_TYPES, *VAGUE_TYPES)]
    first: dict[str, tuple[str, str]] = {}
    for source, type_, target, _ in stated:
        if source not in _VAGUE_LABELS:
            first.setdefault(type_, (source, target))
    made = (_from_end, _from_start, _without, _counted, _two_steps)
    pairs = list(first.items())[: len(made)]
    return [make(type_, *ends) for make, (type_, ends) in zip(made, pairs, strict=False)]


def _said(type_: str) -> str:
    return f"“{type_.lower().replace('_', ' ')}”"


def _from_end(type_: str, source: str, target: str) -> str:
    query = f"MATCH (a:{source})-[:{type_}]->(b {{name: 'Paris'}}) RETURN DISTINCT a.name"
    return f"Question: Which {source.lower()} {_said(type_)} Paris?\n{query}"


def _from_start(type_: str, source: str, target: str) -> str:
    query = f"MATCH (a {{name: 'Marie Curie'}})-[:{type_}]->(b) RETURN DISTINCT b.name"
    return f"Question: Marie Curie {_said(type_)} what?\n{query}"


def _without(type_: str, source: str, target: str) -> str:
    query = f"MATCH (a:{source}) WHERE NOT (a)-[:{type_}]->() RETURN a.name"
    return f"Question: Which {source.lower()} has no {_said(type_)}?\n{query}"


def _counted(type_: str, source: str, target: str) -> str:
    query = f"MATCH (a:{source})-[:{type_}]->(b) RETURN a.name, count(DISTINCT b) AS n ORDER BY n DESC LIMIT 1"
    return f"Question: Which {source.lower()} has the most {_said(type_)}?\n{query}"


def _two_steps(type_: str, source: str, target: str) -> str:
    pattern = f"(b {{name: 'Paris'}})<-[:{type_}]-(a:{source})<-[:MENTIONS]-(c:Chunk)"
    query = f"MATCH {pattern} RETURN count(DISTINCT c) AS passages"
    return f"Question: How many passages speak of a {source.lower()} that {_said(type_)} Paris?\n{query}"


def _read(name: str) -> str:
    return files("ekr.retrieval").joinpath("prompts", name).read_text(encoding="utf-8").strip()
