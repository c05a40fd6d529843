"""The evaluation data and the stores that benchmarks share; stores lie in .bench/ and are made once."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from ekr import Engine

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data"
STORES = ROOT / ".bench"
MULTIHOP = ("musique", "hotpotqa", "2wiki")
CORPORA = {
    "ai_act_fr": SHARED / "ai-act" / "ai_act_fr.pdf",
    "ai_act_en": SHARED / "ai-act" / "ai_act_en.pdf",
    **{name: SHARED / "multihop" / f"{name}_corpus.jsonl" for name in MULTIHOP},
    "sample": ROOT / "sample_corpus",
}


def require_data() -> None:
    """Ends the script with a reason when the evaluation data is absent."""
    if not SHARED.is_dir():
        sys.exit("benchmarks need the evaluation data in ../shared/data")


def store(name: str, fresh: bool = False) -> Path:
    """The store of that corpus, made when it is not there."""
    path = STORES / name
    if fresh:
        shutil.rmtree(path, ignore_errors=True)
    if not (path / "CURRENT").exists():
        with Engine.open(path) as engine:
            report = engine.ingest(CORPORA[name])
        print(f"# {name}: {len(report.added)} documents in {report.timings['total']:.1f} s", file=sys.stderr)
    return path


def questions(name: str) -> list[dict[str, Any]]:
    """The questions that go with a corpus."""
    if name == "ai_act_fr":
        file = SHARED / "ai-act" / "questions_fr.jsonl"
    elif name == "sample":
        file = ROOT / "sample_corpus" / "questions.jsonl"
    else:
        file = SHARED / "multihop" / f"{name}_questions.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
