from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ekr.answering.calibration import load_or_run
from ekr.answering.refusal import Calibration
from ekr.models.base import Message
from tests.answering.support_for_answering import ScriptedGenerator


class Knowing(ScriptedGenerator):
    """Says Yes to what the built-in passages hold, as a good model would."""

    def yes_minus_no(self, messages: Sequence[Message]) -> float | None:
        self.asked.append(messages)
        asked = messages[-1].content.rsplit("\n", 2)[-2]
        return 4.0 if any(word in asked for word in ("borrow", "fee", "cotisation", "parcelle", "arrosage")) else 1.0


def test_a_generator_is_measured_once_and_kept(tmp_path: Path) -> None:
    generator = Knowing("")
    first = load_or_run(generator, None, tmp_path)
    asked = len(generator.asked)
    assert asked == 48
    assert (tmp_path / "scripted" / "calibration.json").is_file()
    assert load_or_run(generator, None, tmp_path) == first
    assert len(generator.asked) == asked


def test_another_generator_of_the_same_folder_is_measured_again(tmp_path: Path) -> None:
    load_or_run(Knowing(""), None, tmp_path)
    path = tmp_path / "scripted" / "calibration.json"
    stored = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**stored, "key": "another"}), "utf-8")
    generator = Knowing("")
    load_or_run(generator, None, tmp_path)
    assert generator.asked


def test_a_damaged_file_is_measured_again(tmp_path: Path) -> None:
    load_or_run(Knowing(""), None, tmp_path)
    (tmp_path / "scripted" / "calibration.json").write_text("{", "utf-8")
    generator = Knowing("")
    load_or_run(generator, None, tmp_path)
    assert generator.asked


def test_without_logits_the_defaults_are_used_and_nothing_is_written(tmp_path: Path) -> None:
    assert load_or_run(ScriptedGenerator("", logit=None), None, tmp_path) == Calibration()
    assert not list(tmp_path.iterdir())


def test_the_folder_of_a_model_given_by_address_stays_inside_the_cache(tmp_path: Path) -> None:
    generator = Knowing("")
    generator.name = "http://host/../../v1#model"
    load_or_run(generator, None, tmp_path)
    assert [p.name for p in tmp_path.rglob("calibration.json")] == ["calibration.json"]
    assert all(p.parent.parent == tmp_path for p in tmp_path.rglob("calibration.json"))
