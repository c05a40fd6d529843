"""What can go wrong in a benchmark, beyond the errors of the engine."""

from __future__ import annotations

from collections.abc import Sequence

from ekr.errors import EkrError, UsageError


class BenchError(EkrError):
    """A run cannot be made, read or drawn."""


class BenchUsageError(UsageError):
    """The request cannot be met as it stands: an unknown filter, a run of other questions, an unfit judge."""


class QuestionsError(UsageError):
    """A questions file is unusable; `problems` has one line each, with the line number, and so has the text."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)
