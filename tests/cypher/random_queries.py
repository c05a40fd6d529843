"""Random small graphs, and random queries of the subset that are valid on them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import duckdb

from .naive import Graph, N, R

LABELS = ("Person", "City", "Thing")
TYPES = ("KNOWS", "LIVES_IN", "HAS")
BASIC = ("int", "str", "float", "bool", "list_int")
WORDS = ("Ada", "Bob", "ada b", "Éva", "x'y", "", "a-b-c")


def random_graph(rng: random.Random, several_labels: bool) -> Graph:
    """Up to seven nodes and ten relationships; self-loops and parallel relationships on purpose.

    The first node of each label and relationship of each type has every property, so that each name is known.
    """
    nodes = {}
    for i in range(rng.randint(3, 7)):
        label = LABELS[i] if i < 3 else rng.choice(LABELS)
        more = tuple(x for x in LABELS if several_labels and x != label and rng.random() < 0.3)
        full = i < 3

        def maybe(value: Any, full: bool = full) -> Any:
            return value if full or rng.random() < 0.75 else None

        properties = {
            "name": maybe(rng.choice(WORDS)),
            "rank": maybe(rng.randint(-2, 3)),
            "score": maybe(rng.choice((-1.5, 0.0, 0.5, 2.0, 2.5))),
            "ok": maybe(rng.random() < 0.5),
        }
        nodes[f"n{i}"] = N(f"n{i}", (label, *more), properties)
    relationships = []
    for i in range(rng.randint(4, 11)):
        start = rng.choice(list(nodes))
        end = start if rng.random() < 0.15 else rng.choice(list(nodes))
        if i >= 3 and rng.random() < 0.2:
            start, end = relationships[-1].start, relationships[-1].end
        kind = TYPES[i] if i < 3 else rng.choice(TYPES)
        properties = {
            "weight": rng.randint(0, 3) if i < 3 or rng.random() < 0.8 else None,
            "note": rng.choice(WORDS) if i < 3 or rng.random() < 0.5 else None,
        }
        relationships.append(R(f"r{i}", kind, start, end, properties))
    return Graph(nodes, relationships)


def load(graph: Graph, several_labels: bool) -> duckdb.DuckDBPyConnection:
    """The graph as the two relations that the compiler reads."""
    connection = duckdb.connect()
    column = "labels VARCHAR[]" if several_labels else "label VARCHAR"
    connection.execute(
        f"CREATE TABLE kg_nodes (id VARCHAR, {column}, name VARCHAR, rank INTEGER, score DOUBLE, ok BOOLEAN)"
    )
    connection.execute(
        "CREATE TABLE kg_edges (id VARCHAR, src VARCHAR, dst VARCHAR, type VARCHAR, weight BIGINT, note VARCHAR)"
    )
    for node in graph.nodes.values():
        labels = list(node.labels) if several_labels else node.labels[0]
        connection.execute(
            "INSERT INTO kg_nodes VALUES (?, ?, ?, ?, ?, ?)", [node.id, labels, *node.properties.values()]
        )
    for rel in graph.relationships:
        row = [rel.id, rel.start, rel.end, rel.type, *rel.properties.values()]
        connection.execute("INSERT INTO kg_edges VALUES (?, ?, ?, ?, ?, ?)", row)
    return connection


@dataclass
class Generator:
    """Writes one query. `scope` maps variables to their types."""

    rng: random.Random
    parameters: dict[str, Any]
    scope: dict[str, str] = field(default_factory=dict)
    count: int = 0

    def pick(self, *options: Any) -> Any:
        return self.rng.choice(options)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def of_type(self, *types: str) -> list[str]:
        return [name for name, kind in self.scope.items() if kind in types]

    # queries

    def query(self) -> str:
        first = self.single()
        if not self.chance(0.12) or not all(kind in BASIC for _, kind in self.columns):
            return first
        columns = self.columns
        self.scope = {}
        second = self.single(columns)
        return f"{first} {self.pick('UNION', 'UNION ALL')} {second}"

    def single(self, columns: list[tuple[str, str]] | None = None) -> str:
        parts = []
        if self.chance(0.15):
            parts.append(self.unwind())
        parts.append(self.match())
        for _ in range(self.pick(0, 0, 1, 1, 2)):
            parts.append(self.pick(self.match, self.optional, self.with_, self.with_, self.unwind)())
        if len(parts) < 4 and self.chance(0.25):
            parts.append(self.optional())
        parts.append(self.returned(columns))
        return " ".join(parts)

    def unwind(self) -> str:
        kind = self.pick("int", "str")
        source = self.expression(f"list_{kind}", 1)
        name = self.fresh("u")
        self.scope[name] = kind
        return f"UNWIND {source} AS {name}"

    def match(self) -> str:
        return "MATCH " + self.patterns()

    def optional(self) -> str:
        return "OPTIONAL MATCH " + self.patterns()

    def patterns(self) -> str:
        before = dict(self.scope)
        found = {}
        if self.chance(0.12):
            text = self.shortest()
            found = {name: kind for name, kind in self.scope.items() if kind == "short" and name not in before}
            for name in found:
                del self.scope[name]
        else:
            text = self.path(before)
            if self.chance(0.3):
                text += ", " + self.path(before)
        text += f" WHERE {self.expression('bool', 2)}" if self.chance(0.35) else ""
        self.scope.update(found)
        return text

    def path(self, before: dict[str, str], new: bool = True, hops: int | None = None) -> str:
        name = self.fresh("p") if new and self.chance(0.15) else None
        size = self.pick(0, 1, 1, 1, 2, 2) if hops is None else hops
        text = self.node(new)
        for _ in range(size):
            text += self.relationship(before, new) + self.node(new)
        if name is None:
            return text
        self.scope[name] = "path"
        return f"{name} = {text}"

    def shortest(self) -> str:
        before = list(self.of_type("node"))
        ends = []
        for _ in range(2):
            ends.append(f"({self.pick(*before)})" if before and self.chance(0.5) else self.node(True))
        name = self.fresh("p")
        left, right = self.arrows()
        kinds = self.pick("", "", ":KNOWS", ":KNOWS|HAS")
        length = self.pick("*", "*..2", "*0..3", "*1..4")
        # Only length() of it is used: which of several shortest paths is taken is free.
        self.scope[name] = "short"
        return f"{name} = {self.pick('shortestPath', 'allShortestPaths')}({ends[0]}{left}[{kinds}{length}]{right}{ends[1]})"  # noqa: E501

    def node(self, new: bool) -> str:
        known = self.of_type("node")
        text = ""
        if known and self.chance(0.35):
            text = self.pick(*known)
        elif new and self.chance(0.75):
            text = self.fresh("a")
            self.scope[text] = "node"
        if self.chance(0.22):
            text += ":" + self.labels()
        if self.chance(0.07):
            text += (
                " {" + self.pick("rank: 1", "name: 'Ada'", "ok: true", "score: 0.5", "rank: $two", "name: $word") + "}"
            )
        return f"({text})"

    def labels(self) -> str:
        return self.pick(*LABELS, *LABELS, "person", "Person|City", "Thing:City", "City|Thing")

    def arrows(self) -> tuple[str, str]:
        return self.pick(("-", "->"), ("<-", "-"), ("-", "-"))

    def relationship(self, before: dict[str, str], new: bool) -> str:
        left, right = self.arrows()
        if self.chance(0.2):
            return f"{left}{right}".replace("-->", "-->")
        inside = ""
        walk = self.chance(0.25)
        bound = [n for n, k in before.items() if k == "rel" and n not in self.used_rels]
        if bound and not walk and self.chance(0.3):
            inside = self.pick(*bound)
            self.used_rels.add(inside)
        elif new and self.chance(0.5):
            inside = self.fresh("r")
            self.scope[inside] = "rels" if walk else "rel"
            self.used_rels.add(inside)
        if self.chance(0.5):
            inside += ":" + self.pick(*TYPES, "knows", "KNOWS|HAS", "HAS|LIVES_IN")
        if walk:
            inside += self.pick("*", "*1..2", "*..3", "*2", "*0..1", "*0..2", "*2..3", "*1..3")
        if self.chance(0.05):
            inside += " {weight: 1}"
        return f"{left}[{inside}]{right}"

    used_rels: set[str] = field(default_factory=set)

    def with_(self) -> str:
        text, columns = self.projection("WITH")
        self.scope = dict(columns)
        self.used_rels = set()
        if self.chance(0.4):
            text += f" WHERE {self.expression('bool', 2)}"
        return text

    columns: list[tuple[str, str]] = field(default_factory=list)

    def returned(self, columns: list[tuple[str, str]] | None) -> str:
        text, self.columns = self.projection("RETURN", columns)
        return text

    def projection(self, word: str, wanted: list[tuple[str, str]] | None = None) -> tuple[str, list[tuple[str, str]]]:
        items: list[str] = []
        columns: list[tuple[str, str]] = []
        kinds = [k for _, k in wanted] if wanted else [None] * self.pick(1, 2, 2, 3)
        grouped = wanted is None and self.chance(0.35)
        for place, kind in enumerate(kinds):
            if grouped and (place == len(kinds) - 1 or self.chance(0.3)):
                text, found = self.aggregate()
            elif kind is None and self.chance(0.4) and self.of_type("node", "rel", "int", "str"):
                text = self.pick(*self.of_type("node", "rel", "int", "str"))
                found = self.scope[text]
                if text not in [c for c, _ in columns] and word == "WITH":
                    items.append(text)
                    columns.append((text, found))
                    continue
            else:
                found = kind or self.pick("int", "str", "float", "bool", "int", "str", "list_int")
                found = found if found in {*BASIC, "node", "rel"} else "int"
                if found in {"node", "rel"} and not self.of_type(found):
                    found = "int"
                text = self.pick(*self.of_type(found)) if found in {"node", "rel"} else self.expression(found, 2)
            name = wanted[place][0] if wanted else self.fresh("c")
            items.append(f"{text} AS {name}")
            columns.append((name, found))
        distinct = "DISTINCT " if not grouped and self.chance(0.25) else ""
        tail = ""
        plain = all(kind != "bag" for _, kind in columns)
        if plain and self.chance(0.3):
            keys = [name + self.pick("", " DESC", " ASC") for name, _ in columns]
            self.rng.shuffle(keys)
            tail = " ORDER BY " + ", ".join(keys)
            if self.chance(0.5):
                tail += self.pick("", " SKIP 1") + f" LIMIT {self.pick(1, 2, 3, '$two')}"
        return f"{word} {distinct}{', '.join(items)}{tail}", columns

    def aggregate(self) -> tuple[str, str]:  # noqa: PLR0911
        distinct = self.pick("", "", "DISTINCT ")
        choice = self.pick("star", "count", "entity", "sum", "avg", "min", "collect", "mixed")
        if choice == "star":
            return "count(*)", "int"
        if choice == "entity" and self.of_type("node", "rel"):
            return f"count({distinct}{self.pick(*self.of_type('node', 'rel'))})", "int"
        if choice == "sum":
            return f"sum({distinct}{self.expression('int', 1)})", "int"
        if choice == "avg":
            return f"avg({self.expression('float', 1)})", "float"
        if choice == "min":
            return f"{self.pick('min', 'max')}({self.expression('int', 1)})", "int"
        if choice == "collect":
            return f"collect({distinct}{self.expression('int', 1)})", "bag"
        if choice == "mixed":
            return f"count({distinct}{self.expression('str', 1)}) + {self.pick('1', '$two')} * size(collect(1))", "int"
        return f"count({distinct}{self.expression('str', 1)})", "int"

    # expressions

    def expression(self, kind: str, depth: int) -> str:
        if depth <= 0 or self.chance(0.2):
            return self.leaf(kind)
        return str(getattr(self, f"make_{kind}")(depth - 1))

    def leaf(self, kind: str) -> str:
        options = list(self.of_type(kind))
        nodes, rels = self.of_type("node"), self.of_type("rel")
        if kind == "int":
            options += ["0", "1", "2", "-1", "$two", "null"] + [f"{n}.rank" for n in nodes] * 3
            options += [f"{r}.weight" for r in rels] * 2
            options += [f"size({b})" for b in self.of_type("rels", "bag")] * 2
            options += [f"length({p})" for p in self.of_type("path", "short")] * 3
        elif kind == "str":
            options += ["'Ada'", "''", "'b'", "$word", '"x\'y"'] + [f"{n}.name" for n in nodes] * 3
            options += [f"type({r})" for r in rels] + [f"{r}.note" for r in rels] + [f"id({n})" for n in nodes]
        elif kind == "float":
            options += ["0.5", "-1.5", "2.0"] + [f"{n}.score" for n in nodes] * 3
        elif kind == "bool":
            options += ["true", "false", "null"] + [f"{n}.ok" for n in nodes]
            options += [f"{n}:{self.labels()}" for n in nodes] * 2
            options += [f"{n}.name IS NULL" for n in nodes] + [f"{n} IS NOT NULL" for n in nodes]
        elif kind == "list_int":
            options += ["[1, 2, 3]", "[]", "[1, null]", "$list", "range(0, 2)", "range(3, 1, -1)"]
            options += [f"[x IN nodes({p}) | x.rank]" for p in self.of_type("path")] * 3
            options += [f"[x IN {r} | x.weight]" for r in self.of_type("rels")] * 3
        elif kind == "list_str":
            options += ["['Ada', 'b']", "['']", "split('a-b-c', '-')"] + [f"labels({n})" for n in nodes]
            options += [f"[x IN nodes({p}) WHERE x.name IS NOT NULL | x.name]" for p in self.of_type("path")] * 2
            options += [f"[x IN relationships({p}) | type(x)]" for p in self.of_type("path")] * 2
        return str(self.pick(*options))

    def make_int(self, depth: int) -> str:
        a, b = self.expression("int", depth), self.expression("int", depth)
        choices = [
            f"({a} {self.pick('+', '-', '*')} {b})",
            f"({a} {self.pick('/', '%')} {self.pick('2', '3', '-2')})",
            f"abs({a})",
            f"sign({a})",
            f"coalesce({a}, {b})",
            f"size({self.expression('str', depth)})",
            f"size({self.expression('list_int', depth)})",
            f"{self.expression('list_int', depth)}[{self.pick('0', '1', '-1', '-2', a)}]",
            f"CASE WHEN {self.expression('bool', depth)} THEN {a} ELSE {b} END",
            f"CASE {a} WHEN 1 THEN {b} WHEN {b} THEN 2 END",
            f"toInteger({self.expression('float', depth)})",
            f"head({self.expression('list_int', depth)})",
            f"last({self.expression('list_int', depth)})",
        ]
        if self.of_type("node"):
            choices += [f"COUNT {{ {self.sub_pattern()} }}", f"size([{self.sub_path()} | 1])"]
            node = self.pick(*self.of_type("node"))
            inner = self.fresh("z")
            choices.append(f"size([({node})-->({inner}) WHERE {inner}.rank > 0 | {inner}.name])")
        if self.of_type("rel"):
            choices.append(f"{self.pick('startNode', 'endNode')}({self.pick(*self.of_type('rel'))}).rank")
        return self.pick(*choices)

    def make_float(self, depth: int) -> str:
        a, b = self.expression("float", depth), self.expression("float", depth)
        return self.pick(
            f"({a} {self.pick('+', '-', '*')} {b})",
            f"({a} / 2)",
            f"({self.expression('int', depth)} * 0.5)",
            f"{self.pick('round', 'floor', 'ceil', 'abs')}({a})",
            f"coalesce({a}, {b})",
            f"toFloat({self.pick(self.expression('int', depth), chr(39) + '1.5' + chr(39), self.expression('str', depth))})",  # noqa: E501
        )

    def make_str(self, depth: int) -> str:
        a, b = self.expression("str", depth), self.expression("str", depth)
        return self.pick(
            f"({a} + {b})",
            f"({a} + {self.expression('int', depth)})",
            f"{self.pick('toLower', 'toUpper', 'trim', 'reverse')}({a})",
            f"{self.pick('left', 'right')}({a}, {self.pick('0', '2')})",
            f"substring({a}, 1{self.pick('', ', 2')})",
            f"replace({a}, 'a', {b})",
            f"coalesce({a}, {b})",
            f"toString({self.expression('int', depth)})",
            f"{self.expression('list_str', depth)}[{self.pick('0', '-1')}]",
            f"CASE WHEN {self.expression('bool', depth)} THEN {a} END",
        )

    def make_bool(self, depth: int) -> str:
        kind = self.pick("int", "str", "float", "int")
        a, b = self.expression(kind, depth), self.expression(kind, depth)
        name = self.fresh("x")
        choices = [
            f"{a} {self.pick('=', '<>', '<', '<=', '>', '>=')} {b}",
            f"{a} {self.pick('=', '<>', '<', '>')} {b}",
            f"{self.expression('int', depth)} < {self.expression('int', depth)} <= {self.expression('int', depth)}",
            f"({self.expression('bool', depth)} {self.pick('AND', 'OR', 'XOR', 'AND')} {self.expression('bool', depth)})",  # noqa: E501
            f"NOT ({self.expression('bool', depth)})",
            f"({a}) IS {self.pick('', 'NOT ')}NULL",
            f"{self.expression('str', depth)} {self.pick('CONTAINS', 'STARTS WITH', 'ENDS WITH')} {self.expression('str', depth)}",  # noqa: E501
            f"{self.expression('str', depth)} =~ {self.pick(chr(39) + '(?i).*a.*' + chr(39), chr(39) + 'A..' + chr(39))}",  # noqa: E501
            f"{self.expression('int', depth)} IN {self.expression('list_int', depth)}",
            f"{self.expression('str', depth)} IN {self.expression('list_str', depth)}",
            f"{self.pick('any', 'all', 'none', 'single')}({name} IN {self.expression('list_int', depth)} WHERE {name} {self.pick('>', '=')} {self.expression('int', depth)})",  # noqa: E501
        ]
        nodes = self.of_type("node")
        if nodes:
            choices += [
                f"EXISTS {{ {self.sub_pattern()} }}",
                f"{self.pick('', 'NOT ')}{self.sub_path()}",
                f"{self.pick(*nodes)} {self.pick('=', '<>')} {self.pick(*nodes)}",
            ]
        if self.of_type("path"):
            path = self.pick(*self.of_type("path"))
            choices.append(
                f"{self.pick('any', 'all', 'none', 'single')}({name} IN nodes({path}) WHERE {name}.rank > 0)"
            )
            choices.append(f"any({name} IN nodes({path}) WHERE ({name})-[:KNOWS]->())")
        if self.of_type("rels"):
            choices.append(f"all({name} IN {self.pick(*self.of_type('rels'))} WHERE {name}.weight > 0)")
        return self.pick(*choices)

    def make_list_int(self, depth: int) -> str:
        a = self.expression("list_int", depth)
        name = self.fresh("x")
        return self.pick(
            f"({a} + {self.expression('list_int', depth)})",
            f"({a} + {self.pick('1', '2')})",
            f"[{self.expression('int', depth)}, {self.expression('int', depth)}]",
            f"{a}[{self.pick('0', '1', '-2', '')}..{self.pick('2', '-1', '')}]",
            f"{self.pick('tail', 'reverse')}({a})",
            f"[{name} IN {a} WHERE {name} > {self.expression('int', depth)}]",
            f"[{name} IN {a} | {name} * {self.expression('int', depth)}]",
        )

    def make_list_str(self, depth: int) -> str:
        name = self.fresh("x")
        return self.pick(
            f"[{self.expression('str', depth)}, {self.expression('str', depth)}]",
            f"[{name} IN {self.expression('list_str', depth)} | {name} + {self.expression('str', depth)}]",
            f"split({self.expression('str', depth)}, '-')",
        )

    def sub_path(self) -> str:
        """A pattern that begins at a known node and binds nothing."""
        kept, self.scope = self.scope, {n: k for n, k in self.scope.items() if k == "node"}
        node = self.pick(*self.of_type("node"))
        text = f"({node})" + self.relationship({}, False) + self.node(False)
        if self.chance(0.3):
            text += self.relationship({}, False) + self.node(False)
        self.scope = kept
        return text

    def sub_pattern(self) -> str:
        """The inside of EXISTS or COUNT, which may bind variables of its own."""
        kept, used = dict(self.scope), set(self.used_rels)
        node = self.pick(*self.of_type("node"))
        before = dict(self.scope)
        text = f"({node})" + self.relationship(before, True) + self.node(True)
        if self.chance(0.3):
            text += ", " + self.path(before, hops=1)
        if self.chance(0.5):
            text += f" WHERE {self.expression('bool', 1)}"
        if self.chance(0.4):
            text = f"MATCH {text}"
            if self.chance(0.3):
                self.used_rels = set()
                text += f" MATCH ({node}){self.relationship({}, False)}({self.fresh('y')})"
        self.scope, self.used_rels = kept, used
        return text
