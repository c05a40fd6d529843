"""The errors a caller can meet. Each message is one line and says what to do next."""

from __future__ import annotations


class EkrError(Exception):
    """Base of every error that ekr raises on purpose; the command line exits with `exit_code`."""

    exit_code = 1


class UsageError(EkrError):
    """The request itself is wrong: an empty question, an unknown recipe, a filter that cannot apply."""

    exit_code = 2


class ReadError(EkrError):
    """A file, or one record of it, cannot be read. The message names neither file nor path: `where` does."""

    def __init__(self, reason: str, where: str = "") -> None:
        super().__init__(f"{where}: {reason}" if where else reason)
        self.reason = reason
        self.where = where


class OutputError(EkrError):
    """Standard output takes no more, as on a full disk."""


class StoreError(EkrError):
    """The store cannot be opened, read or written."""


class StoreEmpty(StoreError):
    """The store holds nothing yet."""


class StoreLocked(StoreError):
    """Another writer holds the store."""


class ModelError(EkrError):
    """A model cannot be loaded or used."""


class ModelMissing(ModelError):
    """A model is not on this machine; the message names the `ekr models pull` command."""


class RecipeError(UsageError):
    """A recipe is unknown or invalid; the message names the line and the nearest valid name."""


class RetrievalError(EkrError):
    """Every method of a recipe failed."""
