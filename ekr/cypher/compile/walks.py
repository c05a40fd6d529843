"""Variable-length relationships: recursive common table expressions over (start, node, …).

Three algorithms. `trail` enumerates every walk that uses no relationship twice. `reach` finds only which nodes
are ends of such a walk; a shortest walk repeats nothing, so breadth-first search is enough, and only a walk back
to its own start needs care when direction does not count. `shortest` keeps one walk of least length per pair of
ends, `all_shortest` each of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from ekr.cypher import ast
from ekr.cypher.compile import expressions, operators
from ekr.cypher.compile.context import FROM_END, TO_END, Block, Context, Select, Sql, names_sql
from ekr.cypher.types import quote


@dataclass(frozen=True)
class Walk:
    """`table` has columns start and node; `edges` and `nodes` (start included) are lists in pattern order."""

    table: str
    edges: str
    nodes: str


def both_ways(relation: str) -> str:
    """Relationships that can be followed both ways; a self-loop only once."""
    return (
        f"SELECT *, src AS {FROM_END}, dst AS {TO_END} FROM {relation} UNION ALL "  # noqa: S608
        f"SELECT *, dst AS {FROM_END}, src AS {TO_END} FROM {relation} WHERE src <> dst"
    )


def compile_walk(
    select: Select,
    seeds: str,
    pattern: ast.RelationshipPattern,
    types: frozenset[str] | None,
    kind: str,
    backwards: bool,
    with_nodes: bool,
) -> Walk:
    """Add the tables of one variable-length relationship to the SELECT's block.

    `seeds` is SQL that gives start ids in a column `id`; `backwards` says that they are the right end.
    """
    context, block = select.context, select.block
    length = pattern.length or ast.Range(1, 1)
    steps = _steps(select, pattern, types, backwards)
    start = block.add(context.fresh("s"), seeds)
    if kind == "reach":
        table = _reach(context, block, start, steps, length, pattern.direction == "both")
        return Walk(table, "", "")
    if kind == "plain":
        table = _trails(context, block, start, steps, length, with_nodes)
    else:
        if length.least > 1:
            context.fail("shortestPath takes a length that starts at 0 or 1", pattern.at)
        table = _shortest(context, block, start, steps, length, kind == "all_shortest")
    order = "list_reverse({})" if backwards else "{}"
    nodes = order.format(f"{table}.nodes") if with_nodes or kind != "plain" else ""
    return Walk(table, order.format(f"{table}.edges"), nodes)


def _steps(select: Select, pattern: ast.RelationshipPattern, types: frozenset[str] | None, backwards: bool) -> str:
    """A table (id, x, y) of the steps that a walk can take from x to y."""
    context = select.context
    relation = context.schema.edges.relation
    conditions = []
    if types is not None:
        conditions.append(f"type IN {names_sql(context, sorted(types))}")
    for key, value in pattern.properties.entries if pattern.properties else ():
        if not isinstance(value, ast.Literal | ast.Parameter):
            context.fail("properties of a variable-length relationship must be constants", value.at)
        name = context.schema.edge_property(key) or key
        stored = Sql(quote(name), context.schema.edges.properties[name])
        constant = expressions.compile_expression(value, select)
        conditions.append(operators.compare(stored, "=", constant, value.at, select))
    where = " AND ".join(conditions)
    name = context.fresh("steps")
    if pattern.direction != "both":
        x, y = ("src", "dst")[:: 1 if (pattern.direction == "out") != backwards else -1]
        sql = f"SELECT id, {x} AS x, {y} AS y FROM {relation}" + (f" WHERE {where}" if where else "")  # noqa: S608
    else:
        sql = (
            f"SELECT id, src AS x, dst AS y FROM {relation}{' WHERE ' + where if where else ''} UNION ALL "  # noqa: S608
            f"SELECT id, dst, src FROM {relation} WHERE src <> dst{' AND ' + where if where else ''}"
        )
    return select.block.add(name, sql, materialized=pattern.direction == "both")


def _within(context: Context, length: ast.Range, depth: str) -> str:
    return "TRUE" if length.most is None else f"{depth} < {length.most}"


def _trails(context: Context, block: Block, start: str, steps: str, length: ast.Range, with_nodes: bool) -> str:
    id_type = context.schema.id_type
    walk, table = context.fresh("walk"), context.fresh("w")
    first = ", [id]" if with_nodes else ""
    further = f", list_append({walk}.nodes, e.y)" if with_nodes else ""
    block.add(
        walk,
        f"SELECT id, id, 0, CAST([] AS {id_type}[]){first} FROM {start} UNION ALL "  # noqa: S608
        f"SELECT {walk}.start, e.y, {walk}.depth + 1, list_append({walk}.edges, e.id){further} "
        f"FROM {walk} JOIN {steps} e ON e.x = {walk}.node "
        f"WHERE {_within(context, length, walk + '.depth')} AND NOT list_contains({walk}.edges, e.id)",
        f"(start, node, depth, edges{', nodes' if with_nodes else ''})",
    )
    return block.add(table, f"SELECT * FROM {walk} WHERE depth >= {length.least}")  # noqa: S608


def _reach(context: Context, block: Block, start: str, steps: str, length: ast.Range, undirected: bool) -> str:
    """Pairs (start, node), each once."""
    walk, table = context.fresh("walk"), context.fresh("w")
    most = length.most
    own = f"SELECT id AS start, id AS node FROM {start}"  # noqa: S608
    if most == 0:
        return block.add(table, own)
    if undirected:
        return _reach_both_ways(context, block, start, steps, length, own)
    if most is None:
        block.add(
            walk,
            f"SELECT s.id, e.y FROM {start} s JOIN {steps} e ON e.x = s.id UNION "  # noqa: S608
            f"SELECT {walk}.start, e.y FROM {walk} JOIN {steps} e ON e.x = {walk}.node",
            "(start, node)",
        )
    else:
        block.add(
            walk,
            f"SELECT s.id, e.y, 1 FROM {start} s JOIN {steps} e ON e.x = s.id UNION "  # noqa: S608
            f"SELECT {walk}.start, e.y, {walk}.depth + 1 FROM {walk} JOIN {steps} e ON e.x = {walk}.node "
            f"WHERE {walk}.depth < {most}",
            "(start, node, depth)",
        )
    sql = f"SELECT DISTINCT start, node FROM {walk}"  # noqa: S608
    return block.add(table, f"{sql} UNION {own}" if length.least == 0 else sql)


def _reach_both_ways(context: Context, block: Block, start: str, steps: str, length: ast.Range, own: str) -> str:
    """Breadth-first search that remembers each node's depth and the first relationship on the way to it.

    A walk leads back to its start exactly when a relationship joins two nodes that were reached through
    different first relationships (or the start to a node reached through another one).
    """
    walk, table = context.fresh("walk"), context.fresh("w")
    within = _within(context, length, f"{walk}.depth")
    block.add(
        walk,
        f"SELECT s.id, e.y, 1, min(e.id) FROM {start} s JOIN {steps} e ON e.x = s.id WHERE e.y <> s.id "  # noqa: S608
        "GROUP BY ALL UNION "
        f"SELECT {walk}.start, e.y, {walk}.depth + 1, min({walk}.first) FROM {walk} "
        f"JOIN {steps} e ON e.x = {walk}.node "
        f"LEFT JOIN recurring.{walk} seen ON seen.start = {walk}.start AND seen.node = e.y "
        f"WHERE {within} AND seen.node IS NULL AND e.y <> {walk}.start "
        f"GROUP BY {walk}.start, e.y, {walk}.depth + 1",
        "(start, node, depth, first) USING KEY (start, node)",
    )
    reached = f"SELECT start, node FROM {walk}"  # noqa: S608
    if length.least == 0:
        return block.add(table, f"{reached} UNION ALL {own}")
    loop = f"SELECT s.id AS node FROM {start} s JOIN {steps} e ON e.x = s.id AND e.y = s.id"  # noqa: S608
    near = (
        f"SELECT a.start FROM {walk} a JOIN {steps} e ON e.x = a.start AND e.y = a.node "  # noqa: S608
        f"WHERE e.id <> a.first AND {_within(context, length, 'a.depth')}"
    )
    # Stored first: from its estimates DuckDB would join the two sides on their start alone.
    across = block.add(
        context.fresh("across"),
        f"SELECT a.start, a.depth, a.first, e.y AS node FROM {walk} a JOIN {steps} e ON e.x = a.node",  # noqa: S608
        materialized=True,
    )
    far = (
        f"SELECT a.start FROM {across} a JOIN {walk} b ON b.start = a.start AND b.node = a.node "  # noqa: S608
        f"WHERE a.first <> b.first AND {_within(context, length, 'a.depth + b.depth')}"
    )
    back = f"SELECT node, node FROM ({loop} UNION {near} UNION {far})"  # noqa: S608
    return block.add(table, f"{reached} UNION ALL {back}", "(start, node)")


def _shortest(context: Context, block: Block, start: str, steps: str, length: ast.Range, every: bool) -> str:
    id_type = context.schema.id_type
    walk, table = context.fresh("walk"), context.fresh("w")
    kept = "(start, node, depth, edges, nodes)"
    further = f"list_append({walk}.edges, e.id)"
    step = (
        f"FROM {walk} JOIN {steps} e ON e.x = {walk}.node "
        f"LEFT JOIN recurring.{walk} seen ON seen.start = {walk}.start AND seen.node = e.y "
        f"WHERE {_within(context, length, walk + '.depth')} AND seen.node IS NULL"
    )
    block.add(
        walk,
        f"SELECT id, id, 0, CAST([] AS {id_type}[]), [id] FROM {start} UNION "  # noqa: S608
        f"SELECT {walk}.start, e.y, {walk}.depth + 1, min({further}), "
        f"arg_min(list_append({walk}.nodes, e.y), {further}) {step} "
        f"GROUP BY {walk}.start, e.y, {walk}.depth + 1",
        f"{kept} USING KEY (start, node)",
    )
    if not every:
        return block.add(table, f"SELECT * FROM {walk} WHERE depth >= {length.least}")  # noqa: S608
    trail = context.fresh("walk")
    block.add(
        trail,
        f"SELECT id, id, 0, CAST([] AS {id_type}[]), [id] FROM {start} UNION ALL "  # noqa: S608
        f"SELECT {trail}.start, e.y, {trail}.depth + 1, list_append({trail}.edges, e.id), "
        f"list_append({trail}.nodes, e.y) FROM {trail} JOIN {steps} e ON e.x = {trail}.node "
        f"JOIN {walk} best ON best.start = {trail}.start AND best.node = e.y AND best.depth = {trail}.depth + 1",
        kept,
    )
    return block.add(table, f"SELECT * FROM {trail} WHERE depth >= {length.least}")  # noqa: S608
