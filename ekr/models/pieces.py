"""Tokenise one short text exactly as a big Unigram tokenizer does, without loading its whole vocabulary.

Loading 250,000 pieces costs the `tokenizers` library half a second, most of a cold query. The best segmentation of a
text depends only on the pieces that occur in it (and, for unknown characters, on the lowest score), so it is enough
to give the library those. They are found by hash in a table made when the model is pulled.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

TABLE = "pieces.npy"
SHELL = "pieces.json"
_ROW = np.dtype([("hash", "<u8"), ("id", "<i4"), ("score", "<f8")])
_LONGEST_TEXT = 10_000


def _hash(piece: str) -> int:
    return int.from_bytes(hashlib.blake2b(piece.encode(), digest_size=8).digest(), "little")


def build(folder: Path) -> bool:
    """Write the piece table beside `folder/tokenizer.json`; False when that is not a Unigram tokenizer."""
    parsed: dict[str, Any] = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    model = parsed["model"]
    if model.get("type", "Unigram") != "Unigram" or not isinstance(model.get("vocab"), list):
        return False
    vocabulary: list[tuple[str, float]] = [(piece, score) for piece, score in model["vocab"]]
    rows = np.array([(_hash(piece), i, score) for i, (piece, score) in enumerate(vocabulary)], dtype=_ROW)
    rows.sort(order="hash")
    np.save(folder / TABLE, rows)
    ids = {piece: i for i, (piece, _) in enumerate(vocabulary)}
    always = {model["unk_id"], int(np.argmin([score for _, score in vocabulary]))}
    added = [token["content"] for token in parsed["added_tokens"]]
    always |= {ids[content] for content in added if content in ids}
    parsed["model"] = {**model, "vocab": []}
    shell = {
        "tokenizer": parsed,
        "always": [[i, *vocabulary[i]] for i in sorted(always)],
        "longest": max(len(piece) for piece in ids),
        "size": len(vocabulary),
    }
    (folder / SHELL).write_text(json.dumps(shell, ensure_ascii=False), encoding="utf-8")
    return True


class PieceTokenizer:
    """Gives the token ids of short texts; the full tokenizer is loaded only for those it cannot be sure of."""

    def __init__(self, folder: Path, max_tokens: int) -> None:
        self._folder = folder
        self._max_tokens = max_tokens
        shell: dict[str, Any] = json.loads((folder / SHELL).read_text(encoding="utf-8"))
        self._parsed: dict[str, Any] = shell["tokenizer"]
        self._always: list[tuple[int, str, float]] = [tuple(row) for row in shell["always"]]
        self._longest: int = shell["longest"]
        self._rows = np.load(folder / TABLE, mmap_mode="r")
        self._hashes: npt.NDArray[np.uint64] = np.ascontiguousarray(self._rows["hash"])
        self._shell = self._tokenizer(self._always)
        self._added = [token["content"] for token in self._parsed["added_tokens"]]
        self._full: Any = None

    def encode(self, text: str) -> list[int]:
        """Token ids with the special ones, cut to the model's length: what the full tokenizer gives."""
        if len(text) > _LONGEST_TEXT or any(content in text for content in self._added):
            return self._encode_full(text)
        pieces = self._always + self._occurring(text)
        tokenizer = self._tokenizer(pieces)
        tokenizer.enable_truncation(self._max_tokens)
        return [pieces[i][0] for i in tokenizer.encode(text).ids]

    def _encode_full(self, text: str) -> list[int]:
        if self._full is None:
            from tokenizers import Tokenizer

            self._full = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
            self._full.enable_truncation(self._max_tokens)
            self._full.no_padding()
        ids: list[int] = self._full.encode(text).ids
        return ids

    def _occurring(self, text: str) -> list[tuple[int, str, float]]:
        """Every piece of the vocabulary that is a substring of the text as the model segments it."""
        normalised = self._shell.normalizer.normalize_str(text) if self._shell.normalizer else text
        words = {word for word, _ in self._shell.pre_tokenizer.pre_tokenize_str(normalised)}
        found = {
            word[start:end]
            for word in words
            for start in range(len(word))
            for end in range(start + 1, min(start + self._longest, len(word)) + 1)
        }
        candidates = sorted(found - {piece for _, piece, _ in self._always})
        if not candidates:
            return []
        hashes = np.array([_hash(piece) for piece in candidates], np.uint64)
        places = np.searchsorted(self._hashes, hashes).clip(max=len(self._hashes) - 1)
        hits = np.flatnonzero(self._hashes[places] == hashes)
        rows = self._rows[places[hits]]
        return [(int(row["id"]), candidates[hit], float(row["score"])) for hit, row in zip(hits, rows, strict=True)]

    def _tokenizer(self, pieces: list[tuple[int, str, float]]) -> Any:
        """A tokenizer that knows only these pieces; its id of a piece is the place in the list."""
        from tokenizers import Tokenizer

        place = {piece: i for i, (_, piece, _) in enumerate(pieces)}
        real = {i: n for n, (i, _, _) in enumerate(pieces)}
        model = self._parsed["model"]
        vocabulary = [[piece, score] for _, piece, score in pieces]
        small = {**self._parsed, "truncation": None, "padding": None}
        small["model"] = {**model, "unk_id": real[model["unk_id"]], "vocab": vocabulary}
        small["added_tokens"] = [
            {**token, "id": place[token["content"]]}
            for token in self._parsed["added_tokens"]
            if token["content"] in place
        ]
        post = self._parsed.get("post_processor")
        if post and "special_tokens" in post:
            special = {
                name: {**token, "ids": [place[content] for content in token["tokens"]]}
                for name, token in post["special_tokens"].items()
            }
            small["post_processor"] = {**post, "special_tokens": special}
        return Tokenizer.from_str(json.dumps(small))
