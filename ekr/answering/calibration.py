"""Measures, once per generator and embedder, what their signals look like for answerable questions and others."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from statistics import mean
from typing import Any

from ekr.answering.context import Context, Source, build_context
from ekr.answering.premise import premise_of
from ekr.answering.prompting import premise_messages
from ekr.answering.refusal import Calibration, Scale, Signals, measure
from ekr.models.base import Embedder, Generator

_log = logging.getLogger(__name__)
_QUESTIONS = (files("ekr.answering") / "calibration.json").read_bytes()
# A model whose two classes are closer than this tells nothing: its signal is then flattened, not amplified.
_LEAST_LOGIT, _LEAST_CLOSENESS = 0.4, 0.01


def load_or_run(generator: Generator, embedder: Embedder | None, cache_dir: Path) -> Calibration:
    """The calibration of this pair of models, from `cache_dir/<generator>/calibration.json` or measured now.

    Measuring asks the generator 48 short yes/no questions. Where it has no logits, or nothing can be written,
    that is no error: the defaults, or the fresh result, are returned. Raises ModelError.
    """
    path = cache_dir / _folder(generator.name) / "calibration.json"
    key = _key(generator, embedder)
    known = _read(path, key)
    if known is not None:
        return known
    _log.warning("getting to know the generator %s on 48 short questions; this happens once", generator.name)
    result = run(generator, embedder)
    if result is None:
        return Calibration()
    try:
        _write(path, key, result)
    except OSError as error:
        _log.warning("the calibration of %s cannot be kept in %s: %s", generator.name, path.parent, error.strerror)
    return result


def run(generator: Generator, embedder: Embedder | None) -> Calibration | None:
    """Measures the built-in questions; None when the generator gives no logits. Raises ModelError."""
    logit: dict[str, Scale] = {}
    premise: dict[str, Scale] = {}
    close: list[Signals] = []
    far: list[Signals] = []
    for group in json.loads(_QUESTIONS):
        language = group["language"]
        sources = [
            Source(number, str(number), "", "", None, None, heading, text)
            for number, (heading, text) in enumerate(group["passages"], start=1)
        ]
        context = build_context(sources, (), generator.count, max_context_tokens=generator.context_tokens)
        yes, no = (
            [measure(question, context, generator, embedder, language) for question in group[kind]]
            for kind in ("answerable", "unanswerable")
        )
        true, false = (
            [_premise_logit(question, context, generator, language) for question in group[kind]]
            for kind in ("true_premises", "false_premises")
        )
        answerable = _scale([s.logit for s in yes], [s.logit for s in no], _LEAST_LOGIT)
        borne_out = _scale(true, false, _LEAST_LOGIT)
        if answerable is None or borne_out is None:
            return None
        logit[language], premise[language] = answerable, borne_out
        close += yes
        far += no
    closeness = _scale([s.closeness for s in close], [s.closeness for s in far], _LEAST_CLOSENESS)
    return Calibration(logit, premise, closeness or Calibration().closeness)


def _premise_logit(question: str, context: Context, generator: Generator, language: str) -> float | None:
    premise = premise_of(question)
    if premise is None:
        raise ValueError(f"a built-in question takes nothing for granted: {question}")
    return generator.yes_minus_no(premise_messages(premise.question, question, context.text, language))


def _scale(positive: Sequence[float | None], negative: Sequence[float | None], least: float) -> Scale | None:
    """The scale that puts the two classes' means at +1 and -1; None when a value is not known."""
    high = [value for value in positive if value is not None]
    low = [value for value in negative if value is not None]
    if len(high) + len(low) < len(positive) + len(negative):
        return None
    return Scale((mean(high) + mean(low)) / 2, max((mean(high) - mean(low)) / 2, least))


def _folder(name: str) -> str:
    """A directory name for a model that may be a path or an address."""
    plain = re.sub(r"[^\w.-]+", "_", Path(name).name or name).strip("._")
    if plain == name:
        return plain
    return f"{plain or 'model'}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _key(generator: Generator, embedder: Embedder | None) -> str:
    seen = hashlib.sha256(_QUESTIONS)
    for prompt in sorted((files("ekr.answering") / "prompts").iterdir(), key=lambda entry: entry.name):
        if prompt.name.startswith(("system", "question", "answerable", "premise")):
            seen.update(prompt.read_bytes())
    models = (generator.name, embedder.info.name if embedder else "", embedder.info.sha256 if embedder else "")
    seen.update("\0".join(models).encode())
    return seen.hexdigest()


def _read(path: Path, key: str) -> Calibration | None:
    try:
        stored: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if stored["key"] != key:
            return None
        logit, premise = (
            {language: Scale(**scale) for language, scale in stored[name].items()} for name in ("logit", "premise")
        )
        return Calibration(logit, premise, Scale(**stored["closeness"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(path: Path, key: str, calibration: Calibration) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as stream:
        kept = {name: asdict(calibration)[name] for name in ("logit", "premise", "closeness")}
        json.dump({"key": key, **kept}, stream, indent=2)
    Path(stream.name).replace(path)
