"""Sixty short documents in English and French that share people, places and devices, and twenty questions on them."""

from __future__ import annotations

import json
from pathlib import Path

PEOPLE = ("Ada Brandt", "Paul Lemaire", "Nadia Okafor", "Hugo Ferrand", "Clara Weiss", "Samuel Ortiz")
PLACES = ("Lisbon", "Geneva", "Oslo", "Turin", "Lyon", "Vienna")
FIRMS = ("Halden Institute", "Corvus Laboratory", "Meridian Society")
DEVICES = ("turbine", "compass", "printing press", "loom", "valve", "gauge")
MATTERS = (
    "its bearings",
    "the spring",
    "a broken wheel",
    "the oil",
    "its noise",
    "the weight",
    "a new handle",
    "costs",
)
FRENCH_MATTERS = ("ses coussinets", "le ressort", "une roue brisée", "l'huile", "son bruit", "le poids", "les frais")

QUESTIONS = (
    "Who designed the turbine?",
    "Where does Ada Brandt work?",
    "What did the Halden Institute pay for?",
    "Who worked with Paul Lemaire in Geneva?",
    "Which device did Nadia Okafor repair?",
    "Where was the compass shown?",
    "Who directs the Corvus Laboratory?",
    "What is said of the bearings?",
    "Which company built the printing press?",
    "What links Clara Weiss and the loom?",
    "Qui a conçu la turbine ?",
    "Où travaille Hugo Ferrand ?",
    "Que finance la Meridian Society ?",
    "Quel appareil Samuel Ortiz a-t-il réparé ?",
    "Qui dirige le bureau de Lyon ?",
    "Que dit-on de la roue brisée ?",
    "Combien coûte l'huile ?",
    "Who met Samuel Ortiz in Vienna?",
    "Which devices were tested in Oslo?",
    "Meridian Society",
)

DOCUMENTS = 60
_FILES = 18


def write_documents(folder: Path, *, older: bool = False) -> None:
    """Eighteen files (Markdown, text, HTML) and 42 records of JSONL; every third document is French.

    Of the `older` ones, twenty English ones read differently and ten are not there yet.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(_FILES):
        suffix = (".md", ".txt", ".html")[number // 3 % 3]
        file = folder / f"note{number:02}{suffix}"
        if older and _is_new(number):
            file.unlink(missing_ok=True)
        else:
            file.write_text(_marked_up(_text(number, older=older), suffix), encoding="utf-8")
    records = [n for n in range(_FILES, DOCUMENTS) if not (older and _is_new(n))]
    lines = [{"id": f"r{n}", "text": _text(n, older=older), "shelf": n % 7} for n in records]
    (folder / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def _is_new(number: int) -> bool:
    return number % 6 == 4


def _marked_up(text: str, suffix: str) -> str:
    if suffix == ".md":
        return f"---\nshelf: 9\n---\n{text}\n"
    return f"<html><body><p>{text}</p></body></html>" if suffix == ".html" else text + "\n"


def _text(number: int, *, older: bool) -> str:
    of = number // 3 % 6
    one, two, place, firm, device = PEOPLE[of], PEOPLE[(of + 1) % 6], PLACES[of], FIRMS[of % 3], DEVICES[of]
    if number % 3 == 2:
        matter = FRENCH_MATTERS[number % 7]
        return f"{one} travaille à {place} avec {two}. Le carnet {number} parle de la machine et dit : {matter}."
    verb = "repaired" if older and number % 3 == 0 else "designed"
    return (
        f"{one} {verb} the {device} in {place} with {two}. The {firm} paid for it. "
        f"Notebook {number} speaks of {MATTERS[number % 8]}."
    )
