"""Random input to everything that parses: only typed one-line errors come out.

A few examples of each here; `make fuzz` (HYPOTHESIS_PROFILE=fuzz) makes thousands.
"""

from __future__ import annotations

import json
import os
import string
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ekr import recipes
from ekr.bench.errors import QuestionsError
from ekr.bench.questions import parse_questions
from ekr.cli.options import parse_pairs
from ekr.cypher import CypherError, GraphSchema, compile_query
from ekr.errors import ReadError, RecipeError, UsageError
from ekr.reading import read
from ekr.store import Snapshot, Store
from tests.cypher.conftest import fill
from tests.reliability import hostile_docx, hostile_pdf
from tests.store.builders import SIX, document, ingest

EXAMPLES = 2000 if os.environ.get("HYPOTHESIS_PROFILE") == "fuzz" else 30

fuzzed = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))

MARKS = {
    ".md": ["#", "[", "](", ")", "*", "_", "`", "~", ">", "- ", "1. ", "|", "|-", "<!--", "<script>", "---\n", "+++\n",
            "a: ", "&a ", "*a", "\\", "&#", ";", "\t", "    ", "http://"],
    ".html": ["<", ">", "</", "<p>", "<table>", "<tr>", "<td>", "<th>", "<li>", "<ol start=", "<pre>", "<h1>", "<br",
              "=", '"', "<!--", "-->", "<![CDATA[", "&#x", "&amp", ";", "<script>", "<title>", "<svg>",
              "<meta charset="],
    ".jsonl": ["{", "}", "[", "]", ":", ",", '"', '"id"', '"text"', '"title"', "null", "true", "NaN", "1e999", "-", "9",
               "\\u", "\\ud800", "\\", '{"id": 1, "text": "a"}\n'],
    ".txt": [".", "!", "?", "…", "«", "»", "’", "Art. ", "M. ", "(", ")", "\u2028", "\x0c", "\x85"],
}  # fmt: skip
EVERYWHERE = ["\n", "\r", "\0", "\x1b[31m", "\u202e", "\ufeff", "\ufffd", "é", "e\u0301", "句。", "word ", " "]

KEYWORDS = [
    "MATCH",
    "OPTIONAL",
    "WHERE",
    "WITH",
    "UNWIND",
    "RETURN",
    "DISTINCT",
    "ORDER",
    "BY",
    "SKIP",
    "LIMIT",
    "UNION",
    "ALL",
    "AS",
    "IN",
    "AND",
    "OR",
    "NOT",
    "XOR",
    "EXISTS",
    "COUNT",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "IS",
    "NULL",
    "STARTS",
    "CONTAINS",
    "shortestPath",
    "any",
    "none",
    "collect",
    "count",
    "toLower",
    "size",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "-",
    "->",
    "<-",
    ":",
    "|",
    "*",
    "..",
    ".",
    ",",
    "=",
    "<>",
    "<",
    ">=",
    "+",
    "/",
    "%",
    "^",
    "=~",
    "$p",
    "'a'",
    '"b"',
    "`c`",
    "1",
    "2.5",
    "1e400",
    "99999999999999999999",
    "n",
    "m",
    "r",
    "a.name",
    ":Person",
    ":KNOWS",
    "//",
    "/*",
    "*/",
    ";",
    "\\",
]


def assert_one_line(error: Exception) -> None:
    message = str(error)
    assert message.strip()
    assert "\n" not in message


def mixed(pieces: list[str]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces) | st.text(max_size=6), max_size=60).map("".join)


def read_bytes(data: bytes, suffix: str) -> None:
    """Read a file of these bytes; what comes out must hold what every later stage relies on."""
    problems: list[ReadError] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{suffix}"
        path.write_bytes(data)
        try:
            documents = list(read(path, problems.append))
        except ReadError as error:
            assert_one_line(error)
            return
    for error in problems:
        assert_one_line(error)
    for found in documents:
        found.text.encode("utf-8")
        found.title.encode("utf-8")
        assert "\0" not in found.text
        assert found.text.strip()
        json.dumps(dict(found.metadata), allow_nan=False).encode("utf-8")
        assert list(found.page_starts) == sorted(found.page_starts)
        assert all(0 <= h.start <= h.end <= len(found.text) for h in found.headings)
        assert all(0 <= t.start <= t.end <= len(found.text) for t in found.tables)


@pytest.mark.parametrize("suffix", [".pdf", ".docx", ".md", ".html", ".txt", ".jsonl"])
@fuzzed
@given(data=st.binary(max_size=400))
def test_readers_take_any_bytes(suffix: str, data: bytes) -> None:
    read_bytes(data, suffix)


@pytest.mark.parametrize("suffix", list(MARKS))
@fuzzed
@given(data=st.data())
def test_readers_take_any_text_of_their_format(suffix: str, data: st.DataObject) -> None:
    text = data.draw(mixed(MARKS[suffix] + EVERYWHERE))
    encoding = data.draw(st.sampled_from(["utf-8", "utf-16", "latin-1", "cp1252", "utf-8-sig"]))
    read_bytes(text.encode(encoding, "ignore"), suffix)


@cache
def sound(suffix: str) -> bytes:
    if suffix == ".docx":
        return hostile_docx.packed(hostile_docx.parts())
    return hostile_pdf.sound_pdf()


@pytest.mark.parametrize("suffix", [".pdf", ".docx"])
@fuzzed
@given(changes=st.lists(st.tuples(st.floats(0, 0.999), st.binary(max_size=3), st.integers(0, 4)), max_size=8))
def test_readers_take_damaged_files(suffix: str, changes: list[tuple[float, bytes, int]]) -> None:
    damaged = bytearray(sound(suffix))
    for place, new, removed in changes:
        at = int(place * len(damaged))
        damaged[at : at + removed] = new
    read_bytes(bytes(damaged), suffix)


@fuzzed
@given(body=mixed(["<w:p>", "</w:p>", "<w:r>", "</w:r>", "<w:t>", "</w:t>", "<w:tbl>", "</w:tbl>", "<w:tr>", "</w:tr>",
                   "<w:tc>", "</w:tc>", "<w:pPr>", "</w:pPr>", '<w:pStyle w:val="', '"/>', '<w:outlineLvl w:val="9"/>',
                   "<w:br/>", "<w:tab/>", "a"]))  # fmt: skip
def test_the_docx_reader_takes_any_body(body: str) -> None:
    parts = hostile_docx.parts(document=hostile_docx.document(body.encode("utf-8", "ignore")))
    read_bytes(hostile_docx.packed(parts), ".docx")


KEYS = st.sampled_from([*recipes.keys(), "values", "bogus"]) | st.text(max_size=8)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=10)
    | st.sampled_from(["bm25", "chunk", "none"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


def expect_recipe(make: Callable[[], object]) -> None:
    try:
        make()
    except RecipeError as error:
        for line in str(error).splitlines() or [""]:
            assert line.strip()


@fuzzed
@given(
    text=mixed(
        [*recipes.keys(), "=", '"', "'", "[", "]", "[values]\n", "{", "}", ",", "\n", "#", "1", "true", "nan", "'''"]
    )
)
def test_recipe_files_take_any_text(text: str) -> None:
    expect_recipe(lambda: recipes.parse(text, "file.toml"))


@fuzzed
@given(data=st.dictionaries(KEYS, VALUES, max_size=5))
def test_recipes_take_any_values(data: dict[str, object]) -> None:
    expect_recipe(lambda: recipes.validate(data, "here"))
    expect_recipe(lambda: recipes.builtin()["multihop"].varied(data))


@fuzzed
@given(text=mixed([*string.punctuation, "nan", "[", "{a=1}", "1_0", "\n", "0x", "'''", "2026-01-01"]))
def test_a_value_given_with_set_takes_any_text(text: str) -> None:
    recipes.parse_value(text)


@fuzzed
@given(text=mixed(["{", "}", "[", "]", '"', ":", ",", '"id"', '"question"', '"facts"', '["("]', "(?", "\\", "{9}", "*",
                   "+", "1", "null", "NaN", '{"id": 1, "question": "a"}', "\n", "\u2028"]))  # fmt: skip
def test_question_files_take_any_text(text: str) -> None:
    try:
        parse_questions(text, "questions.jsonl")
    except QuestionsError as error:
        assert error.problems
        assert all(problem.strip() and "\n" not in problem for problem in error.problems)


@fuzzed
@given(pattern=st.text(alphabet="()[]{}?*+|\\^$.:=!<>-,0129aiLmsuxPbBZdw\u00e9 ", max_size=30))
def test_question_files_take_any_pattern(pattern: str) -> None:
    try:
        parse_questions(json.dumps({"id": "q", "question": "a", "facts": [pattern]}), "questions.jsonl")
    except QuestionsError as error:
        assert all("\n" not in problem for problem in error.problems)


@fuzzed
@given(text=st.lists(st.sampled_from(KEYWORDS) | st.text(max_size=3), max_size=25).map(" ".join))
def test_cypher_takes_any_text(text: str) -> None:
    compile_any(text)


@fuzzed
@given(text=mixed(KEYWORDS))
def test_cypher_takes_any_text_without_spaces(text: str) -> None:
    compile_any("MATCH (n) " + text)


@cache
def schema() -> GraphSchema:
    connection = duckdb.connect()
    fill(connection)
    return GraphSchema.read(connection)


def compile_any(text: str) -> None:
    try:
        compile_query(text, schema())
    except CypherError as error:
        assert_one_line(error)


@fuzzed
@given(pair=st.text(max_size=20) | mixed(["=", "'", '"', ";", "--", "%", "_", "\\", "year", "1843", "\0", " OR 1=1"]))
def test_a_where_filter_takes_any_text_and_is_never_a_query(filterable: Snapshot, pair: str) -> None:
    try:
        wanted = parse_pairs([pair], "--where")
    except UsageError as error:
        assert_one_line(error) if "\n" not in pair else None
        return
    found = filterable.match_documents([], wanted)
    exact = wanted == {"year": "1843"} or {k: v.casefold() for k, v in wanted.items()} == {"by": "ada"}
    assert bool(found) == exact


@fuzzed
@given(glob=st.text(max_size=12) | mixed(["*", "?", "[", "]", "!", "-", "\\", "/", "report", ".txt"]))
def test_a_document_filter_takes_any_glob(filterable: Snapshot, glob: str) -> None:
    filterable.match_documents([glob], {})


@fuzzed
@given(query=mixed([":", '"', "(", ")", "-", "+", "*", "~", "^", "AND", "l'article 6(1):", "engine", "tested"]))
def test_bm25_takes_any_text(filterable: Snapshot, query: str) -> None:
    filterable.search_bm25(query, 5)


@pytest.fixture(scope="module")
def filterable(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    store = Store(tmp_path_factory.mktemp("filterable") / "store")
    ingest(store, *SIX, document("/notes/ada.txt", "The engine was tested.", metadata={"year": 1843, "by": "Ada"}))
    with store.snapshot() as snapshot:
        yield snapshot
