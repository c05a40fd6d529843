"""Hostile names, links and things that are no files."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

Entry = tuple[Any, ...]

NAMES = (
    "name with spaces .txt",
    " name-leading-space.txt",
    "-rf --store x.txt",
    "--help.txt",
    "name\nline end.txt",
    "name\ttab.txt",
    "name\x1b[31mred\x1b[0m.txt",
    "name\x07bell\x7f.txt",
    "name\u202etxt.exe.txt",
    "name\u200b\ufeffinvisible.txt",
    "[red]name[bold].txt",
    "name*[a-z]?{b}.txt",
    "name#fragment#r1.txt",
    "name%2e%2e%2f.txt",
    "name\\..\\back.txt",
    "name'quote\"and`tick.txt",
    "name;drop table documents;--.txt",
    "name$(touch x) | rm & .txt",
    "~name.txt",
    "name..txt",
    "NAME.TXT",
    "con.txt",
    "näme-composed.txt",
    "na\u0308me-decomposed.txt",
    "名前.txt",
    "👩‍👩‍👧.txt",
    "n" * 251 + ".txt",
    "é" * 125 + ".txt",
)


def entries() -> Iterator[Entry]:
    """(name, how it is made, fate, heavy) of each."""
    for number, name in enumerate(NAMES):
        yield name, partial(_words, number), "in"
    yield os.fsdecode(b"name-\xff\xfe-undecodable.txt"), partial(_words, 90), "refused"
    yield ".hidden.txt", partial(_words, 91), "skipped"
    yield "no-suffix", partial(_words, 92), "skipped"
    yield "other.exe", partial(_words, 93), "skipped"
    yield "folder.pdf", Path.mkdir, "either"
    yield "link-to-itself.txt", partial(_link, "link-to-itself.txt")
    yield "link-loop-a.txt", partial(_link, "link-loop-b.txt")
    yield "link-loop-b.txt", partial(_link, "link-loop-a.txt")
    yield "link-to-nowhere.txt", partial(_link, "no-such-file.txt")
    yield "link-to-zero.txt", partial(_link, "/dev/zero")
    yield "link-to-null.txt", partial(_link, "/dev/null")
    yield "link-to-random.pdf", partial(_link, "/dev/urandom")
    yield "link-to-memory.txt", partial(_link, "/proc/self/mem"), "either"
    yield "link-to-folder.txt", partial(_link, "."), "either"
    yield "link-to-parent", partial(_link, ".."), "either"
    yield "link-through-a-file.txt", partial(_link, "good00.txt/x")
    yield "pipe.txt", _pipe
    yield "pipe.jsonl", _pipe
    yield "socket.txt", _socket
    yield "device.txt", partial(_device, 5)
    yield "device-full.md", partial(_device, 7)
    yield "unreadable.txt", _unreadable, "either"


def _words(number: int, path: Path) -> None:
    path.write_text(f"The mill of house {number} stands by the river.\n", encoding="utf-8")


def _link(target: str, path: Path) -> None:
    path.symlink_to(target)


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    # The path of a socket may have a hundred characters; from its folder it is short.
    before = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(before)


def _device(minor: int, path: Path) -> None:
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, minor))


def _unreadable(path: Path) -> None:
    path.write_text("Nobody may read this.\n", encoding="utf-8")
    path.chmod(0)
