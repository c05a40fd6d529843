"""Ingest of the two 144-page PDFs: seconds and peak memory, headings on their pages, text on the pages claimed.

usage: python benchmarks/ingest.py
"""

from __future__ import annotations

import json
import re
import resource
import shutil
import subprocess
import sys
import time
import unicodedata

import pypdfium2
from data import CORPORA, SHARED, STORES, require_data

from ekr import Engine


def ingest(name: str) -> str:
    """Ingests one corpus as its own process; returns the line to print."""
    target = STORES / name
    shutil.rmtree(target, ignore_errors=True)
    started = time.perf_counter()
    command = [sys.executable, "-m", "ekr", "ingest", str(CORPORA[name]), "--store", str(target), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    summary = json.loads(done.stdout)
    return f"{name}: {seconds:.1f} s, {summary['chunks']} chunks, peak {peak:.0f} MB, stages {summary['timings']}"


def headings_found(name: str) -> tuple[int, int, list[str]]:
    """(found, expected, missing): headings whose first chunk begins on the page of article_pages.json."""
    expected = json.loads((SHARED / "ai-act" / "article_pages.json").read_text(encoding="utf-8"))[name[-2:]]
    first_page: dict[str, int] = {}
    with Engine.open(STORES / name) as engine:
        rows = (
            engine.snapshot()
            .connection.cursor()
            .execute("SELECT heading, page_start FROM parents WHERE heading IS NOT NULL ORDER BY ordinal")
            .fetchall()
        )
    for heading, page in rows:
        last = heading.split(" > ")[-1]
        found = re.match(r"(article|annex)e?\s+(\w+)", last, re.IGNORECASE)
        if found:
            number = "1" if found[2].lower() == "premier" else found[2]
            first_page.setdefault(f"{found[1]} {number}".lower(), page)
    missing = [title for title, page in expected.items() if first_page.get(title.lower()) != page]
    return len(expected) - len(missing), len(expected), missing


def misplaced_chunks(name: str) -> tuple[int, int]:
    """(misplaced, all): chunks whose letters and digits are not on the pages they claim, read anew by pdfium."""
    pdf = pypdfium2.PdfDocument(CORPORA[name])
    pages = [_letters(page.get_textpage().get_text_bounded()) for page in pdf]
    with Engine.open(STORES / name) as engine:
        rows = engine.snapshot().connection.cursor().execute("SELECT text, page_start, page_end FROM chunks").fetchall()
    return sum(not _stands(_letters(text), pages[first - 1 : last]) for text, first, last in rows), len(rows)


def _stands(letters: str, pages: list[str]) -> bool:
    # Running heads stand between the pages, so each page takes the longest beginning that it holds.
    for page in pages:
        low, high = 0, len(letters)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if letters[:middle] in page else (low, middle - 1)
        letters = letters[low:]
    return not letters


def _letters(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFC", text) if c.isalnum())


def main() -> None:
    require_data()
    for name in ("ai_act_fr", "ai_act_en"):
        print(ingest(name))
        found, expected, missing = headings_found(name)
        print(f"  headings on their first page: {found} of {expected}; missing: {', '.join(missing) or 'none'}")
        wrong, total = misplaced_chunks(name)
        print(f"  chunks with words that are not on their pages: {wrong} of {total}")


if __name__ == "__main__":
    main()
