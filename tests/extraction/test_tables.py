from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ekr.extraction import RawExtraction, build_graph
from ekr.extraction.tables import Numbering, RowView, Table, groups, ordered
from tests.extraction.builders import passages, raw

_ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-5, 5)), max_size=30)


def filled(rows: list[tuple[int, int, int]]) -> Table:
    table = Table(3)
    for row in rows:
        table.add(*row)
    return table


@given(_ROWS)
def test_groups_are_the_runs_of_equal_rows(rows: list[tuple[int, int, int]]) -> None:
    found = ordered(filled(rows).take(), 0, 1, 2)
    assert found.tolist() == [list(row) for row in sorted(rows)]
    starts, ends = groups(found, 0, 1)
    runs = [{(a, b) for a, b, _ in found[start:end].tolist()} for start, end in zip(starts, ends, strict=True)]
    assert all(len(run) == 1 for run in runs)
    assert sum((ends - starts).tolist()) == len(rows)
    assert len(runs) == len({(a, b) for a, b, _ in rows})


def test_a_view_is_a_sequence_of_its_records() -> None:
    view = RowView(np.array([[1, 2], [3, 4]], dtype=np.int32), lambda a, b: (a, b))
    assert view == ((1, 2), (3, 4))
    assert view != ((1, 2),)
    assert view[-1] == (3, 4)
    assert list(view[:1]) == [(1, 2)]


def test_strings_are_numbered_as_they_are_met() -> None:
    numbers = Numbering()
    assert [numbers[text] for text in ("b", "a", "b")] == [0, 1, 0]


def test_a_graph_of_an_iterator_is_that_of_a_list_and_lost_chunks_are_left_out() -> None:
    definitions, chunks = passages([("One", "Ada met Charles."), ("Two", "Charles met Ada.")])
    raws = [raw(c, ("Ada", "Person"), ("Charles", "Person"), relations=[("Ada", "MEET", "Charles")]) for c in chunks]
    graph = build_graph(raws, definitions, chunks)
    assert graph.mentions
    assert build_graph(iter(raws), definitions, chunks) == graph
    lost = RawExtraction("gone", "doc", "en", raws[0].entities, raws[0].relations)
    assert build_graph([*raws, lost], definitions, chunks) == graph
