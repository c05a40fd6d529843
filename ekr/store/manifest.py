"""What a store records of how it was made, and the checks on opening it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from ekr.errors import StoreError
from ekr.models.base import EmbedderInfo

if TYPE_CHECKING:
    import duckdb

FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """Format version, embedder, chunker settings, analyser settings and extractor of a store."""

    embedder: EmbedderInfo
    chunking: Mapping[str, Any] = field(default_factory=dict)
    analysers: Mapping[str, Any] = field(default_factory=dict)
    extractor: str = ""
    format_version: int = FORMAT_VERSION

    def require_embedder(self, wanted: EmbedderInfo) -> None:
        """Raise StoreError, naming the command that re-embeds, unless the store was made with `wanted`."""
        if self.embedder == wanted:
            return
        differing = [f.name for f in fields(wanted) if getattr(wanted, f.name) != getattr(self.embedder, f.name)]
        raise StoreError(
            f"the store was embedded with {self.embedder.name}, not with {wanted.name} "
            f"(other {', '.join(differing)}); run: ekr reindex --embedder {wanted.name}"
        )


def read_manifest(cursor: duckdb.DuckDBPyConnection, where: object) -> Manifest:
    """The manifest row. Raises StoreError for a newer format or a damaged manifest; `where` names the store."""
    rows: dict[str, str] = dict(cursor.execute("SELECT key, value FROM manifest").fetchall())
    try:
        version = int(rows["format_version"])
        if version > FORMAT_VERSION:
            raise StoreError(
                f"the store {where} was made by a newer ekr (format {version}, this one reads up to "
                f"{FORMAT_VERSION}); upgrade ekr"
            )
        return Manifest(
            embedder=EmbedderInfo(**json.loads(rows["embedder"])),
            chunking=json.loads(rows["chunking"]),
            analysers=json.loads(rows["analysers"]),
            extractor=json.loads(rows["extractor"]),
            format_version=version,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"the manifest of the store {where} is damaged; run: ekr doctor --repair") from error


def write_manifest(connection: duckdb.DuckDBPyConnection, manifest: Manifest) -> None:
    """Replace the manifest's rows."""
    values = {
        "format_version": manifest.format_version,
        "embedder": asdict(manifest.embedder),
        "chunking": dict(manifest.chunking),
        "analysers": dict(manifest.analysers),
        "extractor": manifest.extractor,
    }
    connection.execute("DELETE FROM manifest WHERE key IN (SELECT unnest(?))", [list(values)])
    connection.executemany(
        "INSERT INTO manifest VALUES (?, ?)", [[key, json.dumps(value)] for key, value in values.items()]
    )


def read_number(cursor: duckdb.DuckDBPyConnection, key: str) -> int:
    """A counter kept beside the manifest; 0 when it was never set."""
    row = cursor.execute("SELECT value FROM manifest WHERE key = ?", [key]).fetchone()
    return int(row[0]) if row else 0


def write_number(connection: duckdb.DuckDBPyConnection, key: str, value: int) -> None:
    """Set a counter kept beside the manifest."""
    connection.execute("DELETE FROM manifest WHERE key = ?", [key])
    connection.execute("INSERT INTO manifest VALUES (?, ?)", [key, str(value)])
