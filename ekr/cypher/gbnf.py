"""A llama.cpp grammar (GBNF) of the queries that a model may write, made from the live schema.

It is narrower than grammar.lark: one space between words, lower-case variables, no parameters, only names that
exist. Whether a variable is bound is not context-free; the semantic check remains.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping, Sequence

from ekr.cypher.schema import GraphSchema

# Words that the parser would not take for a variable at the beginning of an expression.
_RESERVED = ("case", "distinct", "false", "not", "null", "true")
_LETTERS = string.ascii_lowercase
_REST = string.ascii_lowercase + string.digits + "_"

_FUNCTIONS = (
    *("size", "toLower", "toUpper", "toString", "toInteger", "toFloat", "trim", "labels", "type", "id", "nodes"),
    *("relationships", "length", "head", "last", "abs", "round", "floor", "ceil", "startNode", "endNode", "keys"),
)
_AGGREGATES = ("count", "collect", "sum", "avg", "min", "max")

_ROOT = 'root ::= single (" UNION " ("ALL ")? single)?'
_RULES = r"""
root ::= single (" UNION " ("ALL ")? single)?
single ::= (clause " "){0,3} "RETURN " ("DISTINCT ")? item ("," sp item){0,4} tail
clause ::= ("OPTIONAL ")? "MATCH " pattern ("," sp pattern)? where? | "UNWIND " list " AS " name | with
with ::= "WITH " ("DISTINCT ")? withitem ("," sp withitem){0,3} tail where?
withitem ::= name | value " AS " name
item ::= value (" AS " name)?
tail ::= (" ORDER BY " key ("," sp key){0,2})? (" SKIP " int)? (" LIMIT " int)?
key ::= operand (" DESC" | " ASC")?
where ::= " WHERE " condition

pattern ::= (name " = ")? node (link node){0,3} | (name " = ")? "shortestPath(" node walk node ")"
chain ::= node link node (link node)?
node ::= "(" name? NODE ")"
labels ::= ":" label ("|" label){0,2}
having ::= sp "{" nodekey ":" sp (constant | name) "}"
link ::= "-[" inside "]->" | "<-[" inside "]-" | "-[" inside "]-" | "-->" | "<--" | "--"
walk ::= "-[" steps "]->" | "<-[" steps "]-" | "-[" steps "]-"
inside ::= name? (":" type ("|" type){0,3})? hops? (sp "{" edgekey ":" sp constant "}")?
steps ::= (":" type ("|" type){0,3})? hops
hops ::= "*" ("0.." [0-9]? | "1.." [1-9]? | "2.." [2-9]? | "3.." [3-9]? | ".." [1-9] | [1-9])?

condition ::= test ((" AND " | " OR ") test){0,2}
test ::= ("NOT ")? (chain | comparison | subquery | "(" comparison ((" AND " | " OR ") comparison){0,2} ")")
comparison ::= operand (relation | " IS NULL" | " IS NOT NULL" | " IN " list)
relation ::= sp operator sp operand | (" CONTAINS " | " STARTS WITH " | " ENDS WITH ") operand | sp "=~" sp text
operator ::= "=" | "<>" | "<=" | ">=" | "<" | ">"
subquery ::= "EXISTS" inner | "COUNT" inner sp operator sp int
inner ::= " { " ("MATCH ")? chain (" WHERE " comparison (" AND " comparison)?)? " }"

operand ::= factor (sp sign sp factor)?
factor ::= primary | function "(" (primary | inlist) ")" | "coalesce(" primary ", " primary ")"
primary ::= name | property | constant
property ::= name "." anykey
value ::= part (sp sign sp factor)? | case | listing | "COUNT" inner
part ::= aggregate | operand | function "(" aggregate (sp sign sp factor)? ")"
aggregate ::= "count(*)" | aggregator "(" ("DISTINCT ")? operand ")"
sign ::= "+" | "-" | "*" | "/"
case ::= "CASE " ("WHEN " comparison " THEN " primary " "){1,3} ("ELSE " primary " ")? "END"
inlist ::= ("nodes" | "relationships") "(" name ")"
listing ::= "[" name " IN " (inlist | name) (" WHERE " comparison)? (" | " operand)? "]"
list ::= "[" constant ("," sp constant){0,7} "]" | name | "range(" int ", " int ")"
constant ::= text | number | "true" | "false"
number ::= "-"? int ("." [0-9]{1,4})?
int ::= [0-9] | [1-9] [0-9]{1,6}
sp ::= " "?
"""


def gbnf(
    schema: GraphSchema,
    strings: Sequence[str] = (),
    *,
    free_strings: bool = True,
    labels_with_properties: bool = True,
    first: str = "",
    max_names: int = 40,
) -> str:
    """The grammar as GBNF text. Every string of it parses with `ekr.cypher.parser.parse`.

    Of labels, types and properties the `max_names` most frequent of each kind are offered. `strings` are offered
    as literals (names of entities found for the question); without `free_strings` no others can be written.
    Without `labels_with_properties` a node has a label or a property, not both: a small model takes a wrong label
    for a thing that its name alone tells. With `first`, the name of a variable, every query begins by binding it in
    a MATCH with at least one relationship.
    """
    node = "labels? having?" if labels_with_properties else "(labels | having)?"
    rules = [_RULES.strip().replace("NODE", node)]
    if first:
        opened = f'"MATCH (" {_terminal(first)} labels? ")" link node (link node){{0,2}} where? " " single'
        rules = [rules[0].replace(_ROOT, f"root ::= {opened}")]
    rules.append(_choice("label", list(schema.labels)[:max_names] or ["Node"]))
    rules.append(_choice("type", list(schema.types)[:max_names] or ["RELATED_TO"]))
    node_keys = _frequent(schema.label_properties, schema.labels, max_names)
    edge_keys = _frequent(schema.type_properties, schema.types, max_names)
    rules.append(_choice("nodekey", node_keys or ["id"]))
    rules.append(_choice("edgekey", edge_keys or ["id"]))
    rules.append(_choice("anykey", dict.fromkeys((*node_keys, *edge_keys, "id"))))
    rules.append(_choice("function", _FUNCTIONS))
    rules.append(_choice("aggregator", _AGGREGATES))
    literals = [_terminal(_literal(s)) for s in dict.fromkeys(strings) if s.strip() and s.isprintable()]
    if free_strings or not literals:
        literals.append(r'"\x27" [^\x00-\x1F\x27\x5C\x7F]{0,60} "\x27"')
    rules.append(f"text ::= {' | '.join(literals)}")
    rules += _names()
    return "\n".join(rules) + "\n"


def _frequent(members: Mapping[str, tuple[str, ...]], counts: Mapping[str, int], most: int) -> list[str]:
    """Properties by how many nodes (relationships) have a label (type) with them."""
    totals: dict[str, int] = {}
    for name, properties in members.items():
        for key in properties:
            totals[key] = totals.get(key, 0) + counts[name]
    return sorted(totals, key=lambda key: -totals[key])[:most]


def _choice(rule: str, names: Iterable[str]) -> str:
    return f"{rule} ::= {' | '.join(_terminal(_identifier(name)) for name in names)}"


def _identifier(name: str) -> str:
    """A name as Cypher writes it: in back-ticks unless it is plain."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        return name
    return "`" + name.replace("`", "``") + "`"


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _terminal(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _names() -> list[str]:
    """Rules for a variable: any lower-case word but the reserved ones, spelled out letter by letter."""
    prefixes = sorted({word[:size] for word in _RESERVED for size in range(1, len(word) + 1)})
    rules = [f"more ::= [{_classed(_REST)}]{{0,20}}"]
    for prefix in ("", *prefixes):
        following = sorted({p[len(prefix)] for p in prefixes if len(p) == len(prefix) + 1 and p.startswith(prefix)})
        others = "".join(c for c in (_REST if prefix else _LETTERS) if c not in following)
        options = [f'"{letter}" name-{prefix}{letter}' for letter in following]
        options.append(f"[{_classed(others)}] more")
        if prefix and prefix not in _RESERVED:
            options.append('""')
        rules.append(f"{f'name-{prefix}' if prefix else 'name'} ::= {' | '.join(options)}")
    return rules


def _classed(characters: str) -> str:
    """Characters as the inside of a bracket expression, with runs as ranges."""
    runs: list[list[str]] = []
    for character in sorted(characters):
        if runs and ord(character) == ord(runs[-1][-1]) + 1:
            runs[-1].append(character)
        else:
            runs.append([character])
    return "".join(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
