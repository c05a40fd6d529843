"""Language detection."""

from __future__ import annotations

import time

import pytest

from ekr.reading.language import DominantLanguage, detect


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Charles Babbage designed the first mechanical computer in the nineteenth century.", "en"),
        ("Charles Babbage conçut le premier ordinateur mécanique au dix-neuvième siècle.", "fr"),
        ("Konrad Zuse baute die erste programmgesteuerte Rechenmaschine der Welt in Berlin.", "de"),
        ("東京は日本の首都です", "ja"),
        ("Z3", "und"),
        ("", "und"),
    ],
)
def test_the_language_is_told_or_left_undetermined(text: str, language: str) -> None:
    assert detect(text) == language


def test_a_foreign_first_page_does_not_decide() -> None:
    english = "This licence is granted to everyone who obtains a copy of the work and its documents. "
    french = "La machine analytique comprend un moulin et un magasin, reliés par des cartes perforées. "
    assert detect(english * 8 + french * 200) == "fr"


def test_thousands_of_short_records_cost_little() -> None:
    languages = DominantLanguage()
    languages.detect("The first call loads the model of the detector, which takes a while.")
    start = time.perf_counter()
    for number in range(2_000):
        languages.detect(f"Record number {number} says that the engine has a mill and a store for numbers.")
    assert time.perf_counter() - start < 5
