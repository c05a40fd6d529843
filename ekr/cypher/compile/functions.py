"""The functions of the subset: what each takes, gives and is in SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ekr.cypher import ast, types
from ekr.cypher.compile import entities, expressions, operators, values
from ekr.cypher.compile.context import Scope, Sql
from ekr.cypher.rewrite import AGGREGATES
from ekr.cypher.types import BOOLEAN, FLOAT, INTEGER, NODE, NULL, RELATIONSHIP, STRING, CypherType, list_of

_SIMPLE = re.compile(r"\w+(\.\w+)*|CAST\(\$\w+ AS [\w\[\]]+\)|-?\d+")
_NUMBER = types.NUMBERS
_TEXT = frozenset({"String"})
_ENTITY = types.ENTITIES


def bind(parts: Sequence[str], body: Callable[[list[str]], str], scope: Scope) -> str:
    """`body` over `parts`, each evaluated once however often `body` mentions it."""
    if all(_SIMPLE.fullmatch(part) for part in parts):
        return body(list(parts))
    name = scope.context.fresh("v")
    packed = ", ".join(f"f{i} := {part}" for i, part in enumerate(parts))
    inner = body([f"{name}.f{i}" for i in range(len(parts))])
    return f"list_extract(list_transform([struct_pack({packed})], lambda {name}: {inner}), 1)"


def to_text(value: Sql) -> str:
    """A scalar as a string."""
    return value.text if value.type == STRING else f"CAST({value.text} AS VARCHAR)"


@dataclass(frozen=True)
class Function:
    """`accepts` gives the kinds allowed for each argument (the last repeats); `build` makes the SQL."""

    name: str
    least: int
    most: int | None
    accepts: tuple[frozenset[str] | None, ...]
    build: Callable[[list[Sql], ast.FunctionCall, Scope], Sql]
    usage: str


FUNCTIONS: dict[str, Function] = {}


def _register(
    usage: str,
    accepts: tuple[frozenset[str] | None, ...],
    build: Callable[[list[Sql], ast.FunctionCall, Scope], Sql],
    *aliases: str,
    least: int | None = None,
    most: int | None = -1,
) -> None:
    name = usage.split("(", maxsplit=1)[0]
    low = len(accepts) if least is None else least
    high = len(accepts) if most == -1 else most
    function = Function(name, low, high, accepts, build, usage)
    for known in (name, *aliases):
        FUNCTIONS[known.lower()] = function


def _plain(template: str, kind: CypherType) -> Callable[[list[Sql], ast.FunctionCall, Scope], Sql]:
    return lambda args, _call, _scope: Sql(template.format(*(a.text for a in args)), kind)


def _same(template: str) -> Callable[[list[Sql], ast.FunctionCall, Scope], Sql]:
    return lambda args, _call, _scope: Sql(template.format(*(a.text for a in args)), args[0].type)


def call(expression: ast.FunctionCall, scope: Scope) -> Sql:
    """A function call as SQL; the semantic check has made sure that it exists. Raises CypherError on types."""
    name = expression.name.lower()
    if name in AGGREGATES:
        scope.context.fail(f"{expression.name}() is an aggregate; it belongs in WITH or RETURN", expression.at)
    function = FUNCTIONS[name]
    arguments = [expressions.compile_expression(a, scope) for a in expression.arguments]
    for number, (argument, place) in enumerate(zip(arguments, expression.arguments, strict=True)):
        kinds = function.accepts[min(number, len(function.accepts) - 1)]
        if kinds is not None:
            values.require(argument, kinds, f"argument {number + 1} of {function.usage}", place.at, scope)
    nothing = arguments and arguments[0].type.kind == "Null" and name not in {"coalesce", "exists", "nullif", "keys"}
    if nothing:
        return Sql("NULL", NULL)
    return function.build(arguments, expression, scope)


def _entity(args: list[Sql], call: ast.FunctionCall, scope: Scope, column: str) -> str:
    """A column of the row behind the first argument."""
    first = call.arguments[0]
    owner = values.variable(first.name, first.at, scope)[1] if isinstance(first, ast.Variable) else None
    return entities.entity_column(args[0], owner, column, scope)


def _labels(args: list[Sql], call: ast.FunctionCall, scope: Scope) -> Sql:
    schema = scope.context.schema
    column = _entity(args, call, scope, schema.label_column)
    if schema.labels_are_lists:
        return Sql(column, list_of(STRING))
    return Sql(f"CASE WHEN {args[0].text} IS NOT NULL THEN [CAST({column} AS VARCHAR)] END", list_of(STRING))


def _type(args: list[Sql], call: ast.FunctionCall, scope: Scope) -> Sql:
    return Sql(f"CAST({_entity(args, call, scope, 'type')} AS VARCHAR)", STRING)


def _ends(column: str) -> Callable[[list[Sql], ast.FunctionCall, Scope], Sql]:
    return lambda args, call, scope: Sql(_entity(args, call, scope, column), NODE)


def _keys(args: list[Sql], call: ast.FunctionCall, scope: Scope) -> Sql:
    subject = args[0]
    if subject.type.kind == "Null":
        return Sql("NULL", NULL)
    if subject.type.kind == "Map":
        return scope.context.bind([k for k, _ in subject.type.fields], list_of(STRING))
    schema = scope.context.schema
    names = list((schema.nodes if subject.type.kind == "Node" else schema.edges).properties)
    present = [
        f"CASE WHEN {_entity(args, call, scope, n)} IS NOT NULL THEN {scope.context.bind_text(n)} END" for n in names
    ]
    text = f"list_filter([{', '.join(present)}], lambda k: k IS NOT NULL)"
    return Sql(f"CASE WHEN {subject.text} IS NOT NULL THEN {text} END", list_of(STRING))


def _properties(args: list[Sql], call: ast.FunctionCall, scope: Scope) -> Sql:
    subject = args[0]
    schema = scope.context.schema
    view = schema.nodes if subject.type.kind == "Node" else schema.edges
    fields = tuple(view.properties.items())
    packed = ", ".join(
        f"f{place} := {entities.stored(_entity(args, call, scope, n), n, view).text}"
        for place, (n, _) in enumerate(fields)
    )
    kind = CypherType("Map", fields=fields, sql="present")
    return Sql(f"CASE WHEN {subject.text} IS NOT NULL THEN struct_pack({packed}) END", kind)


def _size(args: list[Sql], _call: ast.FunctionCall, _scope: Scope) -> Sql:
    if args[0].type.kind == "Path":
        return Sql(f"CAST(len(struct_extract({args[0].text}, 'relationships')) AS BIGINT)", INTEGER)
    return Sql(f"CAST(len({args[0].text}) AS BIGINT)", INTEGER)


def _coalesce(args: list[Sql], call: ast.FunctionCall, scope: Scope) -> Sql:
    both, cast = values.unify_all(args, "the arguments of coalesce()", call.at, scope)
    return Sql(f"coalesce({', '.join(cast)})", both)


def _null_if(args: list[Sql], call: ast.FunctionCall, scope: Scope) -> Sql:
    equal = operators.compare(args[0], "=", args[1], call.at, scope)
    return Sql(f"CASE WHEN {equal} THEN NULL ELSE {args[0].text} END", args[0].type)


def _element(position: str) -> Callable[[list[Sql], ast.FunctionCall, Scope], Sql]:
    def build(args: list[Sql], _call: ast.FunctionCall, _scope: Scope) -> Sql:
        item = args[0].type.item or NULL
        return Sql(f"list_extract({args[0].text}, {position})", item) if item != NULL else Sql("NULL", NULL)

    return build


def _range(args: list[Sql], call: ast.FunctionCall, scope: Scope) -> Sql:
    step = args[2].text if len(args) > 2 else "1"
    if step == "1":
        text = f"range({args[0].text}, {args[1].text} + 1)"
    else:
        text = bind(
            [args[0].text, args[1].text, step],
            lambda v: (
                f"CASE WHEN {v[2]} = 0 THEN error('the step of range() must not be 0') "
                f"ELSE range({v[0]}, {v[1]} + sign({v[2]}), {v[2]}) END"
            ),
            scope,
        )
    return Sql(text, list_of(INTEGER))


def _round(args: list[Sql], _call: ast.FunctionCall, _scope: Scope) -> Sql:
    if len(args) == 1:
        return Sql(f"floor(CAST({args[0].text} AS DOUBLE) + 0.5)", FLOAT)
    return Sql(f"round(CAST({args[0].text} AS DOUBLE), CAST({args[1].text} AS INTEGER))", FLOAT)


def _reverse(args: list[Sql], _call: ast.FunctionCall, _scope: Scope) -> Sql:
    name = "list_reverse" if args[0].type.kind == "List" else "reverse"
    return Sql(f"{name}({args[0].text})", args[0].type)


def _substring(args: list[Sql], _call: ast.FunctionCall, _scope: Scope) -> Sql:
    length = f", {args[2].text}" if len(args) > 2 else ""
    return Sql(f"substring({args[0].text}, {args[1].text} + 1{length})", STRING)


def _to_string(args: list[Sql], _call: ast.FunctionCall, _scope: Scope) -> Sql:
    return Sql(to_text(args[0]), STRING)


def _to_integer(args: list[Sql], _call: ast.FunctionCall, _scope: Scope) -> Sql:
    if args[0].type == INTEGER:
        return args[0]
    if args[0].type == STRING:
        return Sql(f"CAST(trunc(TRY_CAST({args[0].text} AS DOUBLE)) AS BIGINT)", INTEGER)
    if args[0].type == BOOLEAN:
        return Sql(f"CAST({args[0].text} AS BIGINT)", INTEGER)
    return Sql(f"CAST(trunc({args[0].text}) AS BIGINT)", INTEGER)


def _to_boolean(args: list[Sql], _call: ast.FunctionCall, _scope: Scope) -> Sql:
    if args[0].type == STRING:
        text = f"CASE lower(trim({args[0].text})) WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END"
        return Sql(text, BOOLEAN)
    return Sql(f"CAST({args[0].text} AS BOOLEAN)", BOOLEAN)


def _part(name: str, kind: CypherType) -> Callable[[list[Sql], ast.FunctionCall, Scope], Sql]:
    return lambda args, _call, _scope: Sql(f"struct_extract({args[0].text}, '{name}')", list_of(kind))


def _exists(args: list[Sql], _call: ast.FunctionCall, _scope: Scope) -> Sql:
    if args[0].type == BOOLEAN:
        return args[0]
    return Sql(f"({args[0].text} IS NOT NULL)", BOOLEAN)


def _is_empty(args: list[Sql], _call: ast.FunctionCall, _scope: Scope) -> Sql:
    return Sql(f"(len({args[0].text}) = 0)", BOOLEAN)


_ANY_SCALAR = frozenset({"String", "Boolean", "Temporal", *_NUMBER})
_LIST = frozenset({"List"})
_INT = frozenset({"Integer"})

_register("id(entity)", (_ENTITY,), lambda a, _c, s: entities.id_of(a[0], s), "elementId")
_register("labels(node)", (frozenset({"Node"}),), _labels)
_register("type(relationship)", (frozenset({"Relationship"}),), _type)
_register("startNode(relationship)", (frozenset({"Relationship"}),), _ends("src"))
_register("endNode(relationship)", (frozenset({"Relationship"}),), _ends("dst"))
_register("properties(entity)", (_ENTITY,), _properties)
_register("keys(entity)", (_ENTITY | {"Map"},), _keys)
_register("nodes(path)", (frozenset({"Path"}),), _part("nodes", NODE))
_register("relationships(path)", (frozenset({"Path"}),), _part("relationships", RELATIONSHIP), "rels")
_register("length(path)", (frozenset({"Path", "String", "List"}),), _size)
_register("size(value)", (_TEXT | _LIST,), _size, "char_length", "character_length")
_register("isEmpty(value)", (_TEXT | _LIST,), _is_empty)
_register("exists(value)", (None,), _exists)
_register("coalesce(value, …)", (None,), _coalesce, least=1, most=None)
_register("nullIf(value, other)", (None, None), _null_if)
_register("head(list)", (_LIST,), _element("1"))
_register("last(list)", (_LIST,), _element("-1"))
_register("tail(list)", (_LIST,), _same("({0})[2:]"))
_register("range(first, last, step)", (_INT,), _range, least=2, most=3)
_register("reverse(value)", (_TEXT | _LIST,), _reverse)
_register("toLower(text)", (_TEXT,), _plain("lower({0})", STRING), "lower")
_register("toUpper(text)", (_TEXT,), _plain("upper({0})", STRING), "upper")
_register("trim(text)", (_TEXT,), _plain("trim({0})", STRING))
_register("lTrim(text)", (_TEXT,), _plain("ltrim({0})", STRING))
_register("rTrim(text)", (_TEXT,), _plain("rtrim({0})", STRING))
_register("replace(text, old, new)", (_TEXT, _TEXT, _TEXT), _plain("replace({0}, {1}, {2})", STRING))
_register("split(text, separator)", (_TEXT, _TEXT), _plain("string_split({0}, {1})", list_of(STRING)))
_register("substring(text, start, length)", (_TEXT, _INT, _INT), _substring, least=2)
_register("left(text, length)", (_TEXT, _INT), _plain("left({0}, {1})", STRING))
_register("right(text, length)", (_TEXT, _INT), _plain("right({0}, {1})", STRING))
_register("toString(value)", (_ANY_SCALAR,), _to_string)
_register("toInteger(value)", (_TEXT | _NUMBER | {"Boolean"},), _to_integer)
_register("toFloat(value)", (_TEXT | _NUMBER,), _plain("TRY_CAST({0} AS DOUBLE)", FLOAT))
_register("toBoolean(value)", (_TEXT | _INT | {"Boolean"},), _to_boolean)
_register("abs(number)", (_NUMBER,), _same("abs({0})"))
_register("ceil(number)", (_NUMBER,), _plain("ceil(CAST({0} AS DOUBLE))", FLOAT))
_register("floor(number)", (_NUMBER,), _plain("floor(CAST({0} AS DOUBLE))", FLOAT))
_register("round(number, digits)", (_NUMBER, _INT), _round, least=1)
_register("sign(number)", (_NUMBER,), _plain("CAST(sign({0}) AS BIGINT)", INTEGER))
_register("sqrt(number)", (_NUMBER,), _plain("sqrt(CAST({0} AS DOUBLE))", FLOAT))
_register("exp(number)", (_NUMBER,), _plain("exp(CAST({0} AS DOUBLE))", FLOAT))
_register("log(number)", (_NUMBER,), _plain("ln(CAST({0} AS DOUBLE))", FLOAT))
_register("log10(number)", (_NUMBER,), _plain("log10(CAST({0} AS DOUBLE))", FLOAT))
