from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from ekr.bench.directory import RunDirectory
from ekr.bench.errors import BenchUsageError
from ekr.bench.plot import check_plot, plot, quality_metric
from ekr.bench.report import Report, report
from ekr.bench.runs import RunOptions, run
from tests.bench.library import Library, engine, questions

pytest.importorskip("matplotlib", reason="plots need the extra `plot`")

from matplotlib.figure import Figure as Picture


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Report:
    directory = RunDirectory(tmp_path_factory.mktemp("run"))
    options = RunOptions(("bm25", "bm25:limit=1", "bypass"), 2, generator="q", questions_file="some/library.jsonl")
    run(directory, questions(), Library(), options, engine=engine())
    return report(directory)[0]


def test_a_png_is_a_picture(made: Report, tmp_path: Path) -> None:
    plot(made, tmp_path / "bench.png")
    data = (tmp_path / "bench.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) > 20_000


def test_an_svg_has_a_point_for_every_recipe_and_category(
    made: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import matplotlib as mpl

    monkeypatch.setitem(mpl.rcParams, "svg.fonttype", "none")  # texts stay texts
    plot(made, tmp_path / "bench.svg", "facts_in_context")
    texts = "".join(ElementTree.parse(tmp_path / "bench.svg").getroot().itertext())
    for wanted in ("bm25:limit=1", "bypass", "person (2)", "Reference facts in context (%)", "library.jsonl"):
        assert wanted in texts
    assert "place (" not in texts, "a category in which nothing was measured has no row"


def drawn(made: Report, key: str | None, monkeypatch: pytest.MonkeyPatch, folder: Path) -> Picture:
    """The picture itself, as it is saved."""
    kept: list[Picture] = []
    save = Picture.savefig

    def keep(picture: Picture, *arguments: Any, **options: Any) -> None:
        kept.append(picture)
        save(picture, *arguments, **options)

    monkeypatch.setattr(Picture, "savefig", keep)
    plot(made, folder / "bench.png", key)
    return kept[0]


def with_figures(made: Report, key: str, *figures: tuple[float, float, float]) -> Report:
    """The report with other figures of one metric, as (low, value, high) by recipe."""
    recipes = []
    for recipe, (low, value, high) in zip(made.recipes, figures, strict=True):
        figure = recipe.metrics[key].model_copy(update={"low": low, "value": value, "high": high})
        recipes.append(recipe.model_copy(update={"metrics": {**recipe.metrics, key: figure}}))
    return made.model_copy(update={"recipes": recipes})


def test_range_bars_end_inside_the_axis(made: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = with_figures(made, "latency_p50", (23.9, 32.0, 45.9), (21.2, 28.0, 41.4), (7.4, 10.5, 16.2))
    axes = drawn(slow, None, monkeypatch, tmp_path).axes[0]
    assert axes.get_xscale() == "linear"
    assert axes.get_xlim()[1] > 45.9
    slow = with_figures(made, "latency_p50", (2.0, 4.0, 45.9), (1.0, 3.0, 41.4), (2.0, 8.0, 16.2))
    axes = drawn(slow, None, monkeypatch, tmp_path).axes[0]
    assert axes.get_xlim()[0] < 1.0
    assert axes.get_xlim()[1] > 45.9


def test_ticks_of_several_decades_do_not_collide(made: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = with_figures(made, "latency_p50", (0.00005,) * 3, (0.03,) * 3, (0.07,) * 3)
    picture = drawn(wide, None, monkeypatch, tmp_path)
    boxes = [label.get_window_extent() for label in picture.axes[0].get_xticklabels() if label.get_text()]
    seen = [box for box in boxes if 0 < box.x0 < picture.bbox.width]
    assert len(seen) >= 3
    assert all(left.x1 + 10 < right.x0 for left, right in itertools.pairwise(seen))


def test_a_number_is_drawn_to_its_own_scale(made: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    panels = drawn(made, "passages_sent", monkeypatch, tmp_path).axes
    most = max(recipe.metrics["passages_sent"].value or 0.0 for recipe in made.recipes)
    assert most > 2
    assert panels[0].get_ylim()[0] <= 0 < most < panels[0].get_ylim()[1]
    assert panels[1].get_xlim()[0] <= 0 < most < panels[1].get_xlim()[1]
    assert panels[0].get_ylabel() == panels[1].get_xlabel() == "Passages sent, lower is better"


def test_equal_points_are_all_seen(made: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = drawn(with_figures(made, "latency_p50", *[(1.0, 1.0, 1.0)] * 3), "mrr", monkeypatch, tmp_path)
    points = [line for line in picture.axes[0].get_lines() if np.size(line.get_xdata()) == 1]
    assert {line.get_markerfacecolor() for line in points} == {"none"}
    sizes = [line.get_markersize() for line in points]
    assert sizes == sorted(set(sizes), reverse=True)
    assert not list(picture.axes[0].collections), "no bar where there is no range"


def test_keys_of_the_legend_are_markers_without_bars(
    made: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (legend,) = drawn(made, None, monkeypatch, tmp_path).legends
    assert [text.get_text() for text in legend.get_texts()] == [recipe.recipe for recipe in made.recipes]
    assert all(type(handle).__name__ == "Line2D" for handle in legend.legend_handles)


def test_categories_show_a_span_where_recipes_count_over_unlike_many(
    made: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = made.recipes[0]
    person = first.categories["person"]
    fewer = person["facts_in_answer"].model_copy(update={"over": 1, "overs": [1, 1]})
    changed = first.model_copy(
        update={"categories": {**first.categories, "person": {**person, "facts_in_answer": fewer}}}
    )
    shown = drawn(
        made.model_copy(update={"recipes": [changed, *made.recipes[1:]]}), "facts_in_answer", monkeypatch, tmp_path
    )
    assert "person (1 – 2)" in [label.get_text() for label in shown.axes[1].get_yticklabels()]


def test_the_metric_drawn_is_the_one_asked_for_or_the_best_measured(made: Report) -> None:
    assert quality_metric(made).key == "facts_in_answer"
    assert quality_metric(made, "mrr").key == "mrr"
    with pytest.raises(BenchUsageError, match="was not measured"):
        quality_metric(made, "correctness")


@pytest.mark.parametrize(
    ("name", "key", "reason"),
    [
        ("bench.pdf", None, "ends in .png or .svg"),
        ("nowhere/bench.png", None, "no directory"),
        ("bench.png", "beauty", "unknown metric"),
        ("bench.png", "latency_p50", "unknown metric"),
    ],
)
def test_what_cannot_be_drawn_is_said_before_the_run(tmp_path: Path, name: str, key: str | None, reason: str) -> None:
    with pytest.raises(BenchUsageError, match=reason):
        check_plot(tmp_path / name, key)


def test_without_matplotlib_the_error_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from pathlib import Path; from ekr.bench.plot import check_plot\n"
        "check_plot(Path('bench.png'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "BenchError: a plot needs matplotlib; run: pip install 'ekr[plot]'" in done.stderr
