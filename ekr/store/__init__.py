"""The one directory that holds everything: rows in DuckDB, vectors in LanceDB, BM25 in Tantivy."""

from ekr.store.manifest import FORMAT_VERSION, Manifest
from ekr.store.snapshot import Snapshot
from ekr.store.store import Store
from ekr.store.writer import Writer

__all__ = ["FORMAT_VERSION", "Manifest", "Snapshot", "Store", "Writer"]
