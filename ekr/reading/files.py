"""Which files an ingest takes: folders walked, globs expanded, the rest said by name and reason."""

from __future__ import annotations

import glob
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING

from ekr.errors import ReadError
from ekr.reading import SUPPORTED_SUFFIXES
from ekr.reading.jsonl import is_question_file
from ekr.text import REPLACEMENT

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILE = ".ekrignore"

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_A_STORE = "a store of ekr"
_JSONL = frozenset({".jsonl", ".ndjson"})
_MAX_IGNORE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to read. `path` is absolute and resolved; `display` relative to the argument it came from."""

    path: Path
    display: str
    explicit: bool


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder left out of a walk, which is no error."""

    display: str
    reason: str


@dataclass(slots=True)
class Discovery:
    """What the arguments of an ingest come to; files in the order of the arguments, then by name."""

    files: list[FoundFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    errors: list[ReadError] = field(default_factory=list)


def discover(arguments: Sequence[str | Path], exclude: Sequence[str] = ()) -> Discovery:
    """The files that `arguments` (files, folders, globs) name, each resolved path once.

    In folders and globs, hidden files, unsupported types, question files, and what `exclude` (gitignore
    patterns) or an `.ekrignore` in the folder names are skipped; a file named itself is an error then. So are
    stores and backups of ours. Links are followed, loops once.
    """
    return _Search(exclude).run(arguments)


class _Search:
    """One discovery: what it found, and the resolved paths it has been to."""

    def __init__(self, exclude: Sequence[str]) -> None:
        self._exclude = _spec(exclude)
        self._found = Discovery()
        self._files: set[Path] = set()
        self._folders: set[Path] = set()

    def run(self, arguments: Sequence[str | Path]) -> Discovery:
        """Takes the arguments one by one."""
        for argument in arguments:
            if not str(argument):
                self._error("''", "an empty path; name a file or folder")
                continue
            path = Path(argument).expanduser()
            try:
                self._argument(path)
            except (OSError, ValueError, RuntimeError) as error:
                self._error(printable(str(argument)), _reason(error))
        return self._found

    def _argument(self, path: Path) -> None:
        if path.is_dir() and _is_store(path):
            self._error(printable(str(path)), _A_STORE)
        elif path.is_dir():
            self._walk(path)
        elif os.path.lexists(path):
            self._explicit(path)
        elif glob.has_magic(str(path)):
            self._glob(path)
        else:
            self._error(printable(str(path)), "no such file or folder")

    def _explicit(self, path: Path) -> None:
        display = printable(path.name)
        reason = self._refusal(path, path.name)
        ignored = _ignored(path.name, [("", _ignore_file(path.parent))], is_folder=False)
        if reason is None and ignored:
            reason = f"named in {IGNORE_FILE}"
        if reason is not None:
            self._error(printable(str(path)), reason)
        else:
            self._take(path, display, explicit=True)

    def _glob(self, pattern: Path) -> None:
        fixed = list(_until_magic(pattern.parts))
        base = Path(*fixed) if fixed else Path()
        matches = sorted(glob.glob(str(pattern), recursive=True))  # noqa: PTH207 (an absolute pattern needs it)
        if not matches:
            self._error(printable(str(pattern)), "no file matches")
        for match in map(Path, matches):
            if match.is_dir():
                # "**" names every folder as well as what is in it; walking them once is enough.
                if "**" not in pattern.parts:
                    self._walk(match, base)
                continue
            self._candidate(match, match.relative_to(base).as_posix(), [("", _ignore_file(base))])

    def _walk(self, folder: Path, base: Path | None = None) -> None:
        base = base or folder
        inner = "" if folder == base else folder.relative_to(base).as_posix() + "/"
        pending: list[tuple[Path, str, list[tuple[str, GitIgnoreSpec | None]]]] = [(folder, inner, [])]
        while pending:
            current, prefix, specs = pending.pop()
            resolved = current.resolve()
            if resolved in self._folders:
                continue
            self._folders.add(resolved)
            specs = [*specs, (prefix, _ignore_file(current))]
            try:
                entries = sorted(os.scandir(current), key=lambda entry: entry.name)
            except OSError as error:
                self._error(printable(str(current)), _reason(error))
                continue
            folders = []
            for entry in entries:
                relative = prefix + entry.name
                path = Path(entry.path)
                if not _is_folder(entry):
                    if entry.name != IGNORE_FILE:
                        self._candidate(path, relative, specs)
                elif entry.name.startswith("."):
                    self._skip(relative + "/", "hidden")
                elif _matches(self._exclude, relative + "/"):
                    self._skip(relative + "/", "excluded")
                elif _ignored(relative, specs, is_folder=True):
                    self._skip(relative + "/", f"named in {IGNORE_FILE}")
                elif _is_store(path):
                    self._skip(relative + "/", _A_STORE)
                else:
                    folders.append((path, relative + "/", specs))
            pending.extend(reversed(folders))

    def _candidate(self, path: Path, relative: str, specs: Sequence[tuple[str, GitIgnoreSpec | None]]) -> None:
        """A file met in a folder or by a glob: taken, or skipped with its reason."""
        reason = self._refusal(path, relative)
        if reason is None and _ignored(relative, specs, is_folder=False):
            reason = f"named in {IGNORE_FILE}"
        if reason is not None:
            self._skip(relative, reason)
        else:
            self._take(path, printable(relative), explicit=False)

    def _refusal(self, path: Path, relative: str) -> str | None:
        if path.name.startswith("."):
            return "hidden"
        if _matches(self._exclude, relative):
            return "excluded"
        suffix = path.suffix.lower()
        if suffix not in SUPPORTED_SUFFIXES:
            return f"unsupported type {suffix or '(no suffix)'}"
        if suffix in _JSONL and _is_regular(path) and is_question_file(path):
            return "question file"
        return None

    def _take(self, path: Path, display: str, *, explicit: bool) -> None:
        shown = printable(str(path))
        if _SURROGATE.search(str(path.absolute())):
            self._error(shown, "its name is not valid UTF-8; rename it")
            return
        try:
            resolved = path.resolve(strict=True)
            mode = resolved.stat().st_mode
        except FileNotFoundError:
            self._error(shown, "broken symbolic link; remove it or restore its target")
            return
        except (OSError, RuntimeError) as error:
            self._error(shown, _reason(error))
            return
        if not S_ISREG(mode):
            self._error(shown, "not a regular file")
            return
        if resolved in self._files:
            return
        self._files.add(resolved)
        self._found.files.append(FoundFile(resolved, display, explicit))

    def _skip(self, relative: str, reason: str) -> None:
        self._found.skipped.append(Skipped(printable(relative), reason))

    def _error(self, where: str, reason: str) -> None:
        self._found.errors.append(ReadError(reason, where))


def _is_store(folder: Path) -> bool:
    return (folder / "generations").is_dir() and (folder / "CURRENT").is_file()


def printable(name: str) -> str:
    """A file name on one line that any output can carry: NFC, control characters escaped."""
    name = _SURROGATE.sub(REPLACEMENT, name)
    name = _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), name)
    return unicodedata.normalize("NFC", name)


def _reason(error: Exception) -> str:
    if isinstance(error, RuntimeError) or getattr(error, "errno", None) == 40:
        return "a loop of symbolic links"
    return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """False for what cannot be told, a loop of links for one: taken as a file, it is named with its reason."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_regular(path: Path) -> bool:
    """Whether it can be opened without waiting for someone at the other end."""
    try:
        return S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def _until_magic(parts: Iterable[str]) -> Iterator[str]:
    for part in parts:
        if glob.has_magic(part):
            return
        yield part


def _spec(patterns: Iterable[str]) -> GitIgnoreSpec | None:
    lines = [pattern for pattern in patterns if pattern.strip()]
    if not lines:
        return None
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(lines)


def _matches(spec: GitIgnoreSpec | None, relative: str) -> bool:
    return spec is not None and spec.match_file(relative)


def _ignore_file(folder: Path) -> GitIgnoreSpec | None:
    """The patterns of the folder's own `.ekrignore`; none where it cannot be read or is no text."""
    path = folder / IGNORE_FILE
    if not _is_regular(path):
        return None
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_IGNORE_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    return _spec(text.removeprefix("\ufeff").splitlines())


def _ignored(relative: str, specs: Sequence[tuple[str, GitIgnoreSpec | None]], *, is_folder: bool) -> bool:
    """Whether the nearest ignore file that says anything of the path leaves it out."""
    for prefix, spec in reversed(specs):
        if spec is None:
            continue
        said: bool | None = spec.check_file(relative.removeprefix(prefix) + ("/" if is_folder else "")).include
        if said is not None:
            return said
    return False
