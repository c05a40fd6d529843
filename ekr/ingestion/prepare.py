"""From one file to prepared documents: read, chunk, and give everything its id. Runs in a worker process, too."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import threading
import time
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ekr.errors import ModelError, ReadError
from ekr.store.records import DocumentRecord, PreparedDocument

if TYPE_CHECKING:
    from ekr.chunking import ChunkSettings
    from ekr.models.base import Tokenizer
    from ekr.reading.document import Document, MetadataValue
    from ekr.reading.files import Discovery


@dataclass(frozen=True, slots=True)
class Known:
    """What the store holds of a document, to tell whether it changed, and the properties once given for it."""

    content_hash: str
    given: Mapping[str, MetadataValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileTask:
    """A file to prepare, with the properties given for it and what the store knows of its documents."""

    path: Path
    display: str
    metadata: Mapping[str, MetadataValue]
    known: Mapping[str, Known]


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A document that the store holds already with this content."""

    key: str


_NAMESAKE = "has the name of another file in another Unicode form; rename one"

RECORD_SUFFIXES = frozenset({".jsonl", ".ndjson"})

Prepared = PreparedDocument | Unchanged | ReadError


def document_key(path: Path, record_id: str | None = None) -> str:
    """The identity of a document: its absolute resolved path in NFC, for a JSONL record followed by `#id`."""
    key = unicodedata.normalize("NFC", os.fsdecode(path).encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
    return key if record_id is None else f"{key}#{record_id}"


def refuse_namesakes(found: Discovery) -> None:
    """Of files with the same key keep the one whose path is the key, else the first; the others become errors.

    A file system may tell apart names that differ in the Unicode form alone; the store does not, so one document
    would replace the other.
    """
    chosen: dict[str, Path] = {}
    for file in sorted(found.files, key=lambda file: str(file.path) != document_key(file.path)):
        chosen.setdefault(document_key(file.path), file.path)
    kept = []
    for file in found.files:
        key = document_key(file.path)
        if chosen[key] == file.path and not _is_another(key, file.path):
            kept.append(file)
        else:
            found.errors.append(ReadError(_NAMESAKE, file.display))
    found.files[:] = kept


def _is_another(key: str, path: Path) -> bool:
    """Whether a file lies at `key` that is not the one at `path`, be it part of this ingest or not."""
    if str(path) == key:
        return False
    try:
        return not Path(key).samefile(path)
    except OSError:
        return False


def holds_records(path: Path) -> bool:
    """True for a file of which each line is a document."""
    return path.suffix.lower() in RECORD_SUFFIXES


def tasks_of(found: Discovery, metadata: Mapping[str, MetadataValue], known: Mapping[str, Known]) -> Iterator[FileTask]:
    """A task for each file, with what is known of its own documents."""
    for file in found.files:
        # Of a file that is one document one entry and not all, because each task travels to a worker.
        key = document_key(file.path)
        of_file = known if holds_records(file.path) else {key: known[key]} if key in known else {}
        yield FileTask(file.path, file.display, metadata, of_file)


def document_id(key: str) -> str:
    """The internal id of a document: a hash of its key."""
    return hashlib.sha256(key.encode("utf-8")).hexdigest()[:24]


def file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes. Raises ReadError, before it reads one that is empty or too large."""
    from ekr.reading.limits import check_size

    check_size(path)
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror}") from None


def prepare(task: FileTask, tokenizer: Tokenizer, settings: ChunkSettings) -> Iterator[Prepared]:
    """What the file holds, document by document; its problems come as ReadError values, never raised."""
    from ekr.reading import read

    problems: list[ReadError] = []
    try:
        digest = "" if holds_records(task.path) else file_hash(task.path)
        if digest and _is_known(document_key(task.path), digest, task):
            yield Unchanged(document_key(task.path))
            return
        for document in read(task.path, problems.append):
            yield from _drain(problems, task)
            yield _prepared_or_problem(document, digest, task, tokenizer, settings)
    except ReadError as error:
        problems.append(error)
    yield from _drain(problems, task)


def _prepared_or_problem(
    document: Document, digest: str, task: FileTask, tokenizer: Tokenizer, settings: ChunkSettings
) -> Prepared:
    """One document; what fails in it costs neither the file's other records nor other files."""
    try:
        return _one(document, digest, task, tokenizer, settings)
    except ModelError:
        raise
    except Exception as error:
        where = task.display if document.record_id is None else f"{task.display}#{document.record_id}"
        detail = " ".join(str(error).split())[:200]
        return ReadError(f"cannot be cut into chunks: {type(error).__name__} {detail}".rstrip(), where)


def _drain(problems: list[ReadError], task: FileTask) -> Iterator[ReadError]:
    for problem in problems:
        yield ReadError(problem.reason, problem.where.replace(str(task.path), task.display) or task.display)
    problems.clear()


def _one(
    document: Document, digest: str, task: FileTask, tokenizer: Tokenizer, settings: ChunkSettings
) -> PreparedDocument | Unchanged:
    from ekr.chunking import chunk

    key = document_key(task.path, document.record_id)
    content = digest or _record_hash(document)
    if _is_known(key, content, task):
        return Unchanged(key)
    id_ = document_id(key)
    parents, chunks = chunk(document, id_, tokenizer, settings)
    given = _given(key, task)
    record = DocumentRecord(
        id=id_,
        key=key,
        display=task.display if document.record_id is None else f"{task.display}#{document.record_id}",
        path=document_key(task.path),
        record_id=document.record_id,
        title=document.title,
        format=document.format,
        language=document.language,
        content_hash=content,
        pages=len(document.page_starts) or None,
        characters=len(document.text),
        metadata={**document.metadata, **given},
        warnings=document.warnings,
    )
    return PreparedDocument(record, _pages(document), tuple(parents), tuple(chunks), given)


def _given(key: str, task: FileTask) -> dict[str, MetadataValue]:
    """The properties given for a document, now or before; one given as empty is forgotten."""
    before = task.known[key].given if key in task.known else {}
    return {name: value for name, value in {**before, **task.metadata}.items() if value != ""}


def _pages(document: Document) -> tuple[str, ...]:
    if not document.page_starts:
        return (document.text,)
    ends = (*document.page_starts[1:], len(document.text))
    return tuple(document.text[a:b] for a, b in zip(document.page_starts, ends, strict=True))


def _record_hash(document: Document) -> str:
    content = json.dumps([document.title, document.text, dict(document.metadata)], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(content.encode("utf-8")).hexdigest()


def _is_known(key: str, content: str, task: FileTask) -> bool:
    known = task.known.get(key)
    return known is not None and known.content_hash == content and _given(key, task) == known.given


def exit_with_parent(poll_seconds: float = 1.0) -> None:
    """Makes this worker end when its parent dies, however it dies."""
    # Not os.getppid(): a parent that died while this process started would never be missed.
    known = multiprocessing.parent_process()
    parent = known.pid if known else os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(poll_seconds)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="parent-watch").start()
