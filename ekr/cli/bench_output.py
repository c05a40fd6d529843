"""How a bench shows its outcome: a table on stdout, files in the run's directory, a picture if asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ekr.bench.directory import RunDirectory
from ekr.bench.questions import Question
from ekr.cli import console


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

    def check(self) -> None:
        """Raises BenchUsageError and BenchError for a picture that could not be drawn, before hours are spent."""
        if self.plot is not None:
            from ekr.bench.plot import check_plot

            check_plot(self.plot, self.metric)

    def show(self, directory: RunDirectory, questions: Sequence[Question] | None) -> None:
        """Prints, saves and draws the report of a run as it stands."""
        from ekr.bench import tables
        from ekr.bench.report import report, save

        made, scored = report(directory, questions)
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
                for part in tables.rich_table(made, screen.width):
                    screen.print(part)
        if self.plot is not None:
            from ekr.bench.plot import plot

            plot(made, self.plot, self.metric)
        if not self.quiet:
            console.talk(f"the run is in {directory.path}")
