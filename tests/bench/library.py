"""A small collection with questions, and an answerer that really searches it: BM25, answers by quotation."""

from __future__ import annotations

import json
import math
import re
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ekr.bench.questions import Question, parse_questions
from ekr.bench.recipes import parse_recipe

# (document id, first page, last page, heading, text)
PASSAGES: list[tuple[str, int | None, int | None, str | None, str]] = [
    ("engines", 1, 1, "Engines > Difference Engine", "Babbage began the Difference Engine in 1822 to tabulate."),
    ("engines", 2, 3, "Engines > Analytical Engine", "The Analytical Engine had a mill and a store of 1000 numbers."),
    ("lovelace", 1, 1, "Life", "Ada Lovelace translated Menabrea’s paper and added notes in 1843."),
    ("lovelace", 2, 2, "Notes > Note G", "Note G describes how the engine would compute Bernoulli numbers."),
    ("menabrea", None, None, None, "Luigi Menabrea wrote on the engine after Babbage's lectures in Turin."),
    ("jacquard", 4, 4, "Loom", "The Jacquard loom wove patterns from punched cards in Lyon."),
    ("hollerith", 7, 8, "Census", "Hollerith used punched cards for the census of 1890."),
    ("turing", 3, 3, "Machine", "Turing described a universal machine in 1936 at Cambridge."),
]

QUESTIONS = """
{"id": "q1", "question": "When did Babbage begin the Difference Engine?", "category": "date", "reference": "In 1822.", "evidence": ["Difference Engine in 1822"], "facts": ["1822"], "pages": [1], "answers": ["1822"], "gold_passages": ["engines"]}
{"id": "q2", "question": "What did the Analytical Engine have?", "category": "part", "evidence": ["Analytical Engine The Analytical"], "facts": ["mill", "store"], "pages": [2], "gold_passages": ["engines"]}
{"id": "q3", "question": "Who wrote the paper that Lovelace translated?", "category": "person", "evidence": ["Menabrea's paper"], "facts": ["Menabrea"], "answers": ["Menabrea", "Luigi Menabrea"], "gold_passages": ["lovelace", "menabrea"]}
{"id": "q4", "question": "Who used punched cards for the census of 1890?", "category": "person", "evidence": ["Hollerith used"], "facts": ["Hollerith"], "forbidden": ["Jacquard"], "trap": true, "pages": [10], "gold_passages": ["hollerith"]}
{"id": "q5", "question": "What is the capital of Australia?", "category": "out of scope", "facts": ["do not contain"], "forbidden": ["Canberra"], "trap": true}
{"id": "q6", "question": "Where did Turing describe a universal machine?", "category": "place"}
"""  # noqa: E501


def questions() -> list[Question]:
    """The questions of the small collection."""
    return parse_questions(QUESTIONS, "library")


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


class Library:
    """Answers from PASSAGES. Recipes: `bm25` (values: limit, k1, heading) and `bypass`.

    `seconds` slows a query down; questions in `broken` raise.
    """

    def __init__(self, seconds: float = 0.0, broken: frozenset[str] = frozenset()) -> None:
        self.seconds = seconds
        self.broken = broken
        self.asked: list[tuple[str, str]] = []
        self._bags = [Counter(_words(f"{heading or ''} {text}")) for _, _, _, heading, text in PASSAGES]
        self._mean = sum(bag.total() for bag in self._bags) / len(self._bags)

    def query(self, question: str, recipe: str, *, context_only: bool) -> Mapping[str, Any]:
        """See ekr.bench.runs.Answerer."""
        self.asked.append((recipe, question))
        time.sleep(self.seconds)
        if question in self.broken:
            raise RuntimeError("the index\nfell over")
        spec = parse_recipe(recipe)
        limit = 0 if spec.name == "bypass" else int(spec.overrides.get("limit", 8))
        ranked = self._rank(question, float(spec.overrides.get("k1", 1.2)))[:limit]
        items = [self._item(index, rank, score) for rank, (index, score) in enumerate(ranked, start=1)]
        answer = None if context_only else self._answer(items)
        references = [{**item, "id": item["rank"], "cited": not context_only and item["rank"] == 1} for item in items]
        context = "\n".join(f"<chunk reference_id={i['rank']}>{i['text']}</chunk>" for i in items)
        return {
            "question": question,
            "recipe": spec.name,
            "answer": answer,
            "references": references,
            "items": items,
            "trace": {"context": context},
        }

    def _rank(self, question: str, k1: float) -> list[tuple[int, float]]:
        scores: dict[int, float] = {}
        for word in set(_words(question)):
            holders = [index for index, bag in enumerate(self._bags) if word in bag]
            weight = math.log(1 + (len(self._bags) - len(holders) + 0.5) / (len(holders) + 0.5))
            for index in holders:
                bag = self._bags[index]
                length = k1 * (0.25 + 0.75 * bag.total() / self._mean)
                scores[index] = scores.get(index, 0.0) + weight * bag[word] * (k1 + 1) / (bag[word] + length)
        return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))

    def _answer(self, items: list[dict[str, Any]]) -> str:
        if not items or items[0]["score"] < 2.0:
            return "The documents do not contain this information."
        return f"{items[0]['text']} [1]"

    def _item(self, index: int, rank: int, score: float) -> dict[str, Any]:
        document, first, last, heading, text = PASSAGES[index]
        return {
            "type": "chunk",
            "id": str(index),
            "rank": rank,
            "score": score,
            "document": f"{document}.pdf",
            "document_id": document,
            "page_start": first,
            "page_end": last,
            "heading": heading,
            "text": text,
        }


def engine() -> dict[str, Any]:
    """What a run records of the library."""
    return json.loads(json.dumps({"store": "library", "chunks": len(PASSAGES)}))
