"""How a bench shows its outcome: a table on stdout, files in the run's directory, a picture if asked for."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from ekr.bench.directory import RunDirectory
from ekr.bench.errors import BenchUsageError
from ekr.bench.metrics import OF_ANSWERS
from ekr.cli import console

if TYPE_CHECKING:
    from ekr.bench.report import Part


class Format(StrEnum):
    """How the table is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


@dataclass(frozen=True)
class Output:
    """What the command was asked to show."""

    format: Format
    plot: Path | None
    metric: str | None
    quiet: bool

    def check(self, *, retrieval_only: bool = False) -> None:
        """Raises BenchUsageError and BenchError for a picture that could not be drawn, before hours are spent."""
        if self.plot is not None:
            from ekr.bench.plot import check_plot

            check_plot(self.plot, self.metric)
        if retrieval_only and self.metric in OF_ANSWERS:
            raise BenchUsageError(f"--plot-metric {self.metric} is of answers, and --retrieval-only makes none")

    def show(self, directory: RunDirectory, part: Part | None = None) -> int:
        """Prints, saves and draws the report of a run as it stands; that of a part is not saved.

        Returns how many queries failed.
        """
        from ekr.bench import tables
        from ekr.bench.report import report, save

        made, scored = report(directory, part)
        if part is None:
            save(directory, made, scored, tables.markdown(made))
        match self.format:
            case Format.JSON:
                sys.stdout.write(tables.json_text(made) + "\n")
            case Format.CSV:
                sys.stdout.write(tables.csv_text(made))
            case Format.MARKDOWN:
                sys.stdout.write(tables.markdown(made))
            case Format.TABLE:
                screen = console.out()
                for shown in tables.rich_table(made, screen.width):
                    screen.print(shown)
        if self.plot is not None:
            from ekr.bench.plot import plot

            plot(made, self.plot, self.metric)
        if not self.quiet:
            of_part = "; its report and rows are not replaced by these of other questions" if part else ""
            console.talk(f"the run is in {directory.path}{of_part}")
        return sum(recipe.failed for recipe in made.recipes)
