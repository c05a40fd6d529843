"""Hostile JSONL."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

Entry = tuple[Any, ...]

_GOOD = '{"id": "sound", "title": "Mill", "text": "The mill stands by the river."}'


def entries() -> Iterator[Entry]:
    """(name, how it is made, fate, heavy) of each; `named` where a sound record stands beside a broken one."""
    for name, line in (
        ("no-text", '{"id": 1}'),
        ("text-is-a-number", '{"id": 1, "text": 5}'),
        ("text-is-a-list", '{"id": 1, "text": ["a"]}'),
        ("text-is-null", '{"id": 1, "text": null}'),
        ("text-is-empty", '{"id": 1, "text": ""}'),
        ("text-is-spaces", '{"id": 1, "text": " \\u00a0 "}'),
        ("id-is-a-list", '{"id": [1], "text": "The mill."}'),
        ("id-is-an-object", '{"id": {"a": 1}, "text": "The mill."}'),
        ("id-is-true", '{"id": true, "text": "The mill."}'),
        ("id-is-empty", '{"id": "", "text": "The mill."}'),
        ("id-is-spaces", '{"id": " \\t ", "text": "The mill."}'),
        ("deep-list", '{"id": 1, "text": "The mill.", "a": ' + "[" * 100_000 + "]" * 100_000 + "}"),
        ("deep-object", '{"a": ' * 100_000 + "1" + "}" * 100_000),
        ("open-deep", "[" * 200_000),
        ("long-number", '{"id": 1, "text": "The mill.", "a": ' + "9" * 100_000 + "}"),
        ("id-long-number", '{"id": ' + "9" * 10_000 + ', "text": "The mill."}'),
        ("cut", '{"id": 1, "text": "The mi'),
        ("not-json", "The mill stands by the river."),
        ("list", "[1, 2, 3]"),
        ("string", '"The mill"'),
        ("number", "42"),
        ("null", "null"),
        ("two-objects", '{"id": 1, "text": "a"}{"id": 2, "text": "b"}'),
        ("single-quotes", "{'id': 1, 'text': 'The mill.'}"),
        ("trailing-comma", '{"id": 1, "text": "The mill.",}'),
        ("raw-control", '{"id": 1, "text": "The \x01 mill."}'),
        ("raw-nul", '{"id": 1, "text": "The \x00 mill."}'),
        ("question", '{"id": 1, "question": "Where is the mill?"}'),
        ("comment", "// a comment"),
    ):
        yield f"jsonl-{name}.jsonl", partial(_lines, [line]), "named"
        if name != "deep-object":
            yield f"jsonl-{name}-and-a-sound-one.jsonl", partial(_lines, [line, _GOOD]), "either"
    for name, record in (
        ("surrogate", {"id": 1, "text": "half \ud800 a character"}),
        ("surrogate-id", {"id": "\udfff1", "text": "The mill."}),
        ("nul-in-text", {"id": 1, "text": "The \0 mill."}),
        ("escapes", {"id": "\x1b[31mid\x07", "title": "\x1b]0;owned\x07[red]", "text": "The mill.\x1b[2J"}),
        ("id-is-controls", {"id": "\0\0", "text": "The mill."}),
        ("line-end-in-id", {"id": "a\nb\r\nc", "text": "The mill."}),
        ("hash-in-id", {"id": "#a#b#", "text": "The mill."}),
        ("path-in-id", {"id": "../../etc/passwd", "text": "The mill."}),
        ("long-id", {"id": "mill" * 20_000, "text": "The mill."}),
        ("long-title", {"id": 1, "title": "mill " * 10_000, "text": "The mill."}),
        ("float-id", {"id": 1.5, "text": "The mill."}),
        ("nan-id", {"id": float("nan"), "text": "The mill."}),
        ("infinite", {"id": 1, "text": "The mill.", "a": float("inf"), "b": float("nan")}),
        ("title-is-a-list", {"id": 1, "title": ["a"], "text": "The mill."}),
        ("odd-field-names", {"id": 1, "text": "The mill.", "": "a", "\0": "b", " ": "c", "\ud800": "d", "a\nb": "e"}),
        ("many-fields", {"id": 1, "text": "The mill.", **{f"f{n}": n for n in range(3000)}}),
        ("fields-of-documents", {"id": 1, "text": "The mill.", "language": 5, "content_hash": "x", "path": "/etc"}),
        ("same-name-after-cleaning", {"id": 1, "text": "The mill.", "a": 1, "a ": 2, " a": 3}),
        ("big-numbers", {"id": 10**30, "text": "The mill.", "a": 10**300, "b": -(2**63) - 1}),
    ):
        yield f"jsonl-{name}.jsonl", partial(_lines, [json.dumps(record)]), "in"
    yield "jsonl-empty.jsonl", partial(_write, b"")
    yield "jsonl-blank-lines.jsonl", partial(_write, b"\n \n\t\n")
    yield "jsonl-binary.jsonl", partial(_write, bytes(range(256)) * 20)
    yield "jsonl-nul.jsonl", partial(_write, bytes(5000))
    yield "jsonl-repeated-keys.jsonl", partial(_lines, ['{"id": 1, "id": 2, "text": "a", "text": "The mill."}']), "in"
    yield "jsonl-repeated-ids.jsonl", partial(_lines, [_GOOD, _GOOD]), "either"
    yield "jsonl-ids-alike.jsonl", partial(_lines, ['{"id": "1", "text": "a"}', '{"id": 1, "text": "b"}']), "either"
    twins = [json.dumps({"id": name, "text": "The mill."}) for name in ("caf\u00e9", "cafe\u0301")]
    yield "jsonl-ids-composed.jsonl", partial(_lines, twins), "either"
    yield "jsonl-bom.jsonl", partial(_write, b"\xef\xbb\xbf" + _GOOD.encode()), "in"
    yield "jsonl-utf-16.jsonl", partial(_write, (_GOOD + "\n").encode("utf-16")), "in"
    yield "jsonl-latin-1.jsonl", partial(_write, '{"id": 1, "text": "Le moulin de l\'été."}'.encode("latin-1")), "in"
    yield "jsonl-carriage-returns.jsonl", partial(_write, (_GOOD + "\r\n\r\n").encode()), "in"
    yield "jsonl-cr-only.jsonl", partial(_write, (_GOOD + "\r" + _GOOD).encode()), "either"
    yield "jsonl-line-separator.jsonl", partial(_lines, ['{"id": 1, "text": "The\u2028mill\u0085stands."}']), "in"
    yield (
        "jsonl-mixed.jsonl",
        partial(_lines, ["{", _GOOD, "}", "[]", '{"id": 2, "text": "More of the mill."}']),
        "either",
    )
    yield "jsonl-500-broken.jsonl", partial(_lines, ["{"] * 500)
    yield "jsonl-70-mb-line.jsonl", partial(_write, b'{"id": 1, "text": "' + b"a" * 70_000_000 + b'"}'), "refused", True
    yield "jsonl-400-mb-line.jsonl", partial(_sparse, 400_000_000), "refused", True


def _write(data: bytes, path: Path) -> None:
    path.write_bytes(data)


def _lines(lines: list[str], path: Path) -> None:
    path.write_bytes("".join(line + "\n" for line in lines).encode("utf-8", "surrogatepass"))


def _sparse(size: int, path: Path) -> None:
    with path.open("wb") as file:
        file.write(b'{"id": 1, "text": "')
        file.truncate(size)
