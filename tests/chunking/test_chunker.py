"""Parents and children: structure, sizes, nothing lost."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ekr.chunking import ChunkSettings, chunk
from ekr.reading import Document
from ekr.reading.document import Heading, Table
from tests.chunking.helpers import PieceTokenizer, document

TOKENIZER = PieceTokenizer()
SMALL = ChunkSettings(child_min_tokens=12, child_max_tokens=24, parent_max_tokens=80)
SENTENCE = "The mill of the engine adds two numbers. "


def covered(text: str, spans: list[tuple[int, int]]) -> str:
    return "".join("".join(text[start:end].split()) for start, end in spans)


def check_invariants(source: Document, limits: ChunkSettings) -> None:
    parents, chunks = chunk(source, "doc", TOKENIZER, limits)
    headings = [(heading.start, heading.end) for heading in source.headings]
    by_id = {parent.id: parent for parent in parents}
    assert len(by_id) == len(parents)
    assert len({item.id for item in chunks}) == len(chunks)
    assert [item.ordinal for item in chunks] == list(range(len(chunks)))
    end = 0
    for item in chunks:
        assert item.text == source.text[item.start : item.end] == item.text.strip()
        assert item.text
        assert item.start >= end
        end = item.end
        assert item.tokens == TOKENIZER.count([item.text])[0] <= limits.child_max_tokens
        parent = by_id[item.parent_id]
        assert parent.start <= item.start
        assert item.end <= parent.end
        assert parent.heading == item.heading
        inside = [span for span in headings if span[0] < item.end and item.start < span[1]]
        assert not inside or inside[0][0] <= item.start < item.end <= inside[0][1]
        assert not any(item.start <= start and stop <= item.end for start, stop in headings[1:]) or inside
    for parent in parents:
        assert parent.text == source.text[parent.start : parent.end]
        assert TOKENIZER.count([parent.text])[0] <= limits.parent_max_tokens
    bodies = []
    position = 0
    for start, stop in headings:
        bodies.append((position, start))
        position = stop
    bodies.append((position, len(source.text)))
    outside = [
        (item.start, item.end)
        for item in chunks
        if not any(start <= item.start and item.end <= stop for start, stop in headings)
    ]
    assert covered(source.text, outside) == covered(source.text, bodies)


WORD = st.one_of(
    st.sampled_from(
        ["engine", "mill.", "Store", "1.", "a)", "(12)", "M.", "x;", "deux:", "«Oui.»", "階差機関は", "。"]
    ),
    st.text(alphabet="abcé階-", min_size=1, max_size=150),
)
PARAGRAPH = st.lists(WORD, min_size=1, max_size=40).map(" ".join)
BLOCK = st.one_of(
    st.tuples(st.just("text"), PARAGRAPH),
    st.tuples(st.just("heading"), st.tuples(st.integers(1, 4), st.text(alphabet="ABC", min_size=1, max_size=8))),
    st.tuples(
        st.just("table"),
        st.lists(st.lists(st.sampled_from(["Z3", "1941", "relay computer"]), min_size=1, max_size=3), min_size=1),
    ),
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    pieces: list[str] = []
    headings: list[Heading] = []
    tables: list[Table] = []
    length = 0
    for kind, value in draw(st.lists(BLOCK, min_size=1, max_size=8)):
        separator = draw(st.sampled_from(["\n\n", "\n\n\n", "\n"])) if length else ""
        start = length + len(separator)
        if kind == "heading":
            body = value[1]
            headings.append(Heading(value[0], body, start, start + len(body)))
        elif kind == "table":
            rows = [" | ".join(row) for row in value]
            body = "\n".join(rows)
            tables.append(Table(start, start + len(body), rows[0] if len(rows) > 1 else ""))
        else:
            body = value
        pieces += [separator, body]
        length = start + len(body)
    return Document("T", "".join(pieces), "text", "en", headings=tuple(headings), tables=tuple(tables))


@settings(max_examples=150, deadline=None)
@given(documents())
def test_every_character_is_in_one_child_that_keeps_its_limits(source: Document) -> None:
    check_invariants(source, SMALL)


@settings(max_examples=30, deadline=None)
@given(documents())
def test_the_usual_sizes_keep_the_same_rules(source: Document) -> None:
    check_invariants(source, ChunkSettings())


def test_breadcrumbs_follow_the_levels() -> None:
    source = document(
        "Before.\n\nPart A\n\nBody A.\n\nArticle 1\n\nBody 1.\n\nPart B\n\nBody B.",
        [(1, "Part A"), (3, "Article 1"), (1, "Part B")],
    )
    _, chunks = chunk(source, "doc", TOKENIZER, SMALL)
    assert [(item.heading, item.text) for item in chunks] == [
        (None, "Before."),
        ("Part A", "Body A."),
        ("Part A > Article 1", "Body 1."),
        ("Part B", "Body B."),
    ]


def test_a_heading_without_a_body_stays_findable_and_one_with_subsections_makes_no_child() -> None:
    source = document(
        "Chapter\n\nRepealed article\n\nLast\n\nBody.", [(1, "Chapter"), (2, "Repealed article"), (2, "Last")]
    )
    _, chunks = chunk(source, "doc", TOKENIZER, SMALL)
    assert [(item.heading, item.text) for item in chunks] == [
        ("Chapter > Repealed article", "Repealed article"),
        ("Chapter > Last", "Body."),
    ]


def test_numbered_paragraphs_of_some_size_stand_alone_and_short_ones_share() -> None:
    long = "".join(f"{number}. " + SENTENCE * 2 + "\n\n" for number in (1, 2, 3))
    short = "".join(f"{number}. Adds.\n\n" for number in (4, 5, 6))
    _, chunks = chunk(document(long + short), "doc", TOKENIZER, SMALL)
    assert [item.text[:2] for item in chunks] == ["1.", "2.", "3.", "4."]
    assert "6. Adds." in chunks[-1].text


def test_children_end_with_sentences_where_sentences_fit() -> None:
    _, chunks = chunk(document(SENTENCE * 20), "doc", TOKENIZER, SMALL)
    assert len(chunks) > 5
    assert all(item.text.endswith(".") for item in chunks)


def test_a_run_without_spaces_is_cut_to_the_limit() -> None:
    check_invariants(document("階差機関" * 300), SMALL)
    check_invariants(document("x" * 5_000), SMALL)


def test_a_long_section_makes_parents_cut_at_paragraphs() -> None:
    text = "\n\n".join(f"{number}. {SENTENCE * 2}".strip() for number in range(1, 13))
    parents, chunks = chunk(document("Rules\n\n" + text, [(1, "Rules")]), "doc", TOKENIZER, SMALL)
    assert len(parents) > 2
    assert all(parent.heading == "Rules" for parent in parents)
    assert all(parent.text[0].isdigit() for parent in parents)
    assert {item.parent_id for item in chunks} == {parent.id for parent in parents}


def test_a_table_is_cut_between_rows_and_its_header_repeats_once_as_context() -> None:
    rows = ["Name | Year", *(f"Machine number {number} | {1900 + number}" for number in range(20))]
    text = "Intro.\n\n" + "\n".join(rows) + "\n\nAfter."
    table = Table(text.index("Name"), text.index("\n\nAfter"), rows[0])
    _, chunks = chunk(document(text, tables=[table]), "doc", TOKENIZER, SMALL)
    assert sum(item.text.count("Name | Year") for item in chunks) == 1
    inside = [item for item in chunks if item.text.startswith("Machine")]
    assert len(inside) > 3
    assert all(item.context == "Name | Year" for item in inside)
    assert all(item.context == "" for item in chunks if item not in inside)
    lines = {line for item in chunks for line in item.text.split("\n")}
    assert set(rows) <= lines


def test_what_two_blank_lines_set_apart_is_a_child_of_its_own() -> None:
    text = "The sum that was paid.\n\n\n(1) See volume two.\n\n\nIt was much."
    _, chunks = chunk(document(text), "doc", TOKENIZER, SMALL)
    assert [item.text for item in chunks] == ["The sum that was paid.", "(1) See volume two.", "It was much."]


def test_pages_come_from_offsets_and_a_child_over_two_pages_names_both() -> None:
    text = "One sentence here. Another there.\n\nThird thing."
    source = document(text, page_starts=[0, text.index("there"), text.index("there"), text.index("Third")])
    _, chunks = chunk(source, "doc", TOKENIZER, ChunkSettings(0, 10, 80))
    assert [(item.text, item.page_start, item.page_end) for item in chunks] == [
        ("One sentence here. Another there.", 1, 3),
        ("Third thing.", 4, 4),
    ]


def test_ids_depend_on_the_document_and_the_passage_only() -> None:
    source = document(SENTENCE * 10)
    first = [item.id for item in chunk(source, "a", TOKENIZER, SMALL)[1]]
    assert first == [item.id for item in chunk(source, "a", TOKENIZER, SMALL)[1]]
    assert not set(first) & {item.id for item in chunk(source, "b", TOKENIZER, SMALL)[1]}
    assert all(len(value) == 24 and int(value, 16) >= 0 for value in first)


def test_a_separator_inside_a_heading_does_not_add_a_step() -> None:
    source = document("A > B\n\nBody.", [(1, "A > B")])
    _, chunks = chunk(source, "doc", TOKENIZER, SMALL)
    assert chunks[0].heading == "A › B"


@pytest.mark.parametrize("values", [(0, 4, 100), (30, 20, 100), (0, 200, 100), (-1, 20, 100)])
def test_sizes_that_cannot_hold_are_refused(values: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="child_"):
        ChunkSettings(*values)
