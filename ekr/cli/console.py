"""Where output goes: data to stdout, talk to stderr; text from documents is shown, never obeyed."""

from __future__ import annotations

import json
import logging
import re
import sys
import unicodedata
from typing import Any

from rich.console import Console
from rich.text import Text

# In less room than this a table shows nothing of its cells.
LEAST_WIDTH = 40
# Some terminals obey them as they obey escape sequences.
_RAW_CONTROLS = re.compile("[\x7f-\x9f]")


class _Console(Console):
    def on_broken_pipe(self) -> None:
        # Rich would leave with exit code 1. Talk that nobody hears stops no work.
        if self.file is not sys.stderr:
            raise  # noqa: PLE0704 - called while the error is handled


def out() -> Console:
    """The console for data."""
    console = _Console(file=sys.stdout, highlight=False, soft_wrap=False)
    console.width = max(console.width, LEAST_WIDTH)
    return console


def err() -> Console:
    """The console for talk."""
    return _Console(file=sys.stderr, highlight=False)


def safe(text: str) -> str:
    """The text without control, escape and direction-override characters; tabs and line ends stay."""
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co"))


def plain(text: str, style: str = "") -> Text:
    """Text for the terminal with nothing in it interpreted as markup."""
    return Text(safe(text), style=style)


def one_line(text: str, width: int) -> str:
    """The text on one line, cut at `width` characters."""
    line = " ".join(safe(text).split())
    return line if len(line) <= width else line[: max(1, width - 1)].rstrip() + "…"


def counted(number: int, noun: str) -> str:
    """`1 chunk`, `2 chunks`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def print_json(value: Any) -> None:
    """One JSON value on one line of stdout; control characters are escaped, also those that JSON may hold raw."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    sys.stdout.write(_RAW_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")
    sys.stdout.flush()


def talk(message: str) -> None:
    """One line to stderr, also where the message holds a name with a line end in it."""
    err().print(plain(" ".join(message.splitlines())), soft_wrap=True)


def set_up_logging(verbosity: int) -> None:
    """-1: errors only; 0: warnings; 1: what is done; 2: everything that ekr logs. Libraries stay quiet."""
    level = {-1: logging.ERROR, 0: logging.WARNING, 1: logging.INFO}.get(verbosity, logging.DEBUG)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine("ekr: %(levelname)s: %(message)s"))
    logger = logging.getLogger("ekr")
    logger.handlers[:] = [handler]
    logger.setLevel(level)
    logger.propagate = False
    logging.getLogger().setLevel(logging.ERROR)


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        record.levelname = record.levelname.lower()
        return one_line(super().format(record), 2000)
