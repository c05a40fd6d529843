from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ekr.cypher import CypherError, ast
from ekr.cypher.parser import MAX_CHARACTERS, parse


def where(text: str) -> ast.Expression:
    clause = parse(f"MATCH (a)-[r]->(b) WHERE {text} RETURN a").parts[0].clauses[0]
    assert isinstance(clause, ast.Match)
    assert clause.where is not None
    return clause.where


def returned(text: str) -> ast.Expression:
    clause = parse(f"RETURN {text}").parts[0].clauses[-1]
    assert isinstance(clause, ast.Projection)
    return clause.items[0].expression


def test_keywords_are_taken_in_any_case() -> None:
    assert parse("match (n) where n.x IS null Return n LIMIT 3") == parse(
        "MATCH (n) WHERE n.x is NULL RETURN n limit 3"
    )


def test_comments_and_line_breaks_count_as_space() -> None:
    assert parse("MATCH (n) // all\n/* every\nnode */ RETURN n;") == parse("MATCH (n) RETURN n")


def test_comment_marks_inside_a_string_are_text() -> None:
    literal = returned("'http://x/*y*/ -- CREATE (n)'")
    assert isinstance(literal, ast.Literal)
    assert literal.value == "http://x/*y*/ -- CREATE (n)"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"'it\'s'", "it's"),
        (r'"say \"x\""', 'say "x"'),
        (r"'a\\b'", "a\\b"),
        (r"'\u00e9\n'", "é\n"),
        (r"'\U0001F600'", "😀"),
    ],
)
def test_string_escapes(written: str, meant: str) -> None:
    literal = returned(written)
    assert isinstance(literal, ast.Literal)
    assert literal.value == meant


def test_a_back_ticked_name_may_hold_anything() -> None:
    found = parse("MATCH (`a b`:`L``x`) RETURN `a b`").parts[0].clauses[0]
    assert isinstance(found, ast.Match)
    node = found.paths[0].nodes[0]
    assert (node.variable, node.groups[0][0].text) == ("a b", "L`x")


def test_a_name_in_parentheses_is_an_expression_until_a_relationship_follows() -> None:
    assert isinstance(where("(a)"), ast.Variable)
    assert isinstance(where("(a)-[:X]->(b)"), ast.PatternPredicate)
    assert isinstance(where("(a:Person OR b:Person)"), ast.Logical)
    assert isinstance(where("(a.x) - (b.x) > 1"), ast.Comparison)


def test_a_minus_after_an_index_is_a_minus() -> None:
    found = returned("[1, 2][0]-1")
    assert isinstance(found, ast.Binary)
    assert found.operator == "-"
    assert isinstance(returned("[x IN xs]- 1"), ast.Binary)
    assert isinstance(returned("xs[i]- 1"), ast.Binary)


def test_a_bar_ends_the_condition_of_a_comprehension() -> None:
    found = returned("[n IN ns WHERE n:Person | n.name]")
    assert isinstance(found, ast.ListComprehension)
    assert isinstance(found.where, ast.HasLabels)
    assert isinstance(found.projection, ast.Property)
    assert isinstance(returned("[x IN xs | x * 2]"), ast.ListComprehension)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("*", ast.Range(1, None)),
        ("*2", ast.Range(2, 2)),
        ("*1..3", ast.Range(1, 3)),
        ("*..4", ast.Range(1, 4)),
        ("*2..", ast.Range(2, None)),
        ("*0..1", ast.Range(0, 1)),
    ],
)
def test_lengths(text: str, length: ast.Range) -> None:
    clause = parse(f"MATCH (a)-[:T{text}]->(b) RETURN a").parts[0].clauses[0]
    assert isinstance(clause, ast.Match)
    assert clause.paths[0].relationships[0].length == length


def test_precedence() -> None:
    assert where("a.x = 1 OR a.y = 2 AND NOT a.z = 3") == where("a.x = 1 OR (a.y = 2 AND (NOT (a.z = 3)))")
    assert returned("1 + 2 * 3") == returned("1 + (2 * 3)")
    assert returned("a.x + 1 IN [2] = true") == returned("((a.x + 1) IN [2]) = true")


def test_a_column_without_alias_is_named_by_its_text() -> None:
    clause = parse("MATCH (n) RETURN count( DISTINCT   n.name )").parts[0].clauses[-1]
    assert isinstance(clause, ast.Projection)
    assert clause.items[0].name == "count( DISTINCT n.name )"


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("", None, None, "is empty"),
        ("MATCH (n)", 1, 10, "ends with RETURN"),
        ("MATCH (n:Person RETURN n", 1, 17, "is a ) missing"),
        ("MATCH (n)\nRETRUN n", 2, 1, "did you mean RETURN"),
        ("MATCH (n) WHERE n.name = 'x RETURN n", 1, 26, "never closed"),
        ("MATCH (n) /* RETURN n", 1, 11, "never closed"),
        ("MATCH (n) RETURN n.name GROUP BY n", 1, 25, "no GROUP BY"),
        ("MATCH (n) WHERE n.name LIKE 'x' RETURN n", 1, 24, "use CONTAINS"),
        ("SELECT 1", 1, 1, "SQL"),
        ("MATCH (n)-[:A*3..1]->() RETURN n", 1, 14, "range"),
        ("MATCH (n) RETURN sum(*)", 1, 18, "only count(*)"),
        ("RETURN 99999999999999999999", 1, 8, "64 bits"),
        (r"RETURN 'C:\data'", 1, 8, "escape"),
        ("MATCH (a)-[r]->(b) WHERE (a {x: 1}) RETURN a", 1, 26, "needs a relationship"),
        ("RETURN 1 UNION RETURN 2 UNION ALL RETURN 3", 1, 25, "cannot be mixed"),
    ],
)
def test_an_error_tells_the_place_and_what_to_do(text: str, line: int | None, column: int | None, says: str) -> None:
    with pytest.raises(CypherError) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    if column is not None:
        assert caught.value.caret is not None
        assert caught.value.caret.splitlines()[-1].strip() == "^"


def test_the_caret_stands_under_the_place_also_in_a_long_line() -> None:
    text = f"MATCH (n) WHERE n.name = '{'x' * 300}' CREATE (m) RETURN n"
    with pytest.raises(CypherError) as caught:
        parse(text)
    shown, caret = str(caught.value.caret).splitlines()
    assert shown[len(caret) - 1 :].startswith("CREATE")


def test_too_long_and_too_deep_queries_are_refused() -> None:
    for text in (
        "RETURN " + "1+" * MAX_CHARACTERS + "1",
        "RETURN " + "[" * 500 + "]" * 500,
        "RETURN " + "NOT " * 500 + "true",
        "MATCH (a)" + "-->()" * 200 + " RETURN a",
    ):
        with pytest.raises(CypherError):
            parse(text)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80))
def test_any_text_parses_or_is_an_error_of_ours(text: str) -> None:
    try:
        parse(text)
    except CypherError as error:
        assert str(error)


TOKENS = (
    *("MATCH", "(", ")", "n", ":", "Person", "-[", "]->", "RETURN", "n.x", "WHERE", "=", "'a'", "{", "}", "|", "*"),
    *("..", "1", "[", "]", "IN", "AND", ",", "WITH", "AS", "CASE", "WHEN", "THEN", "END", "$p", "count(", "any("),
    *("exists{", "<-", "-", "shortestPath(", "//", "/*", "UNION", "ALL", "ORDER", "BY", "LIMIT"),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(TOKENS), max_size=25))
def test_any_sequence_of_tokens_parses_or_is_an_error_of_ours(tokens: list[str]) -> None:
    try:
        parse(" ".join(tokens))
    except CypherError as error:
        assert str(error)
