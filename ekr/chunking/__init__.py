"""Parents that follow a document's structure, and sentence-aligned children inside them."""

from __future__ import annotations

from ekr.chunking.chunker import ChunkSettings, chunk

__all__ = ["ChunkSettings", "chunk"]
