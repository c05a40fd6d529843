"""Keeps what a generator said about a question: files in the user's cache, since a reader never writes to a store."""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from pathlib import Path

log = logging.getLogger(__name__)


class CallCache:
    """Answers by key, one small file each. A folder that can't be written only makes later questions slower."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> str | None:
        """The answer kept under the key, or None."""
        try:
            return (self._folder / key).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def put(self, key: str, value: str, owner: str) -> None:
        """Keeps an answer; `owner` does not matter here: no document stands behind a question."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._folder, prefix=".new-")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(value)
                Path(name).replace(self._folder / key)
            except BaseException:
                with contextlib.suppress(OSError):
                    Path(name).unlink()
                raise
        except OSError as error:
            log.info("what the generator said about the question can't be kept: %s", error.strerror)
