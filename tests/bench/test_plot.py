from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ekr.bench.directory import RunDirectory
from ekr.bench.errors import BenchUsageError
from ekr.bench.plot import check_plot, plot, quality_metric
from ekr.bench.report import Report, report
from ekr.bench.runs import RunOptions, run
from tests.bench.library import Library, engine, questions

pytest.importorskip("matplotlib", reason="plots need the extra `plot`")


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
