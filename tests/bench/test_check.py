from __future__ import annotations

from ekr.bench.check import check, lines
from ekr.bench.questions import Question
from tests.bench.library import PASSAGES, questions

CHUNKS = [(heading, text) for _, _, _, heading, text in PASSAGES]
DOCUMENTS = {document for document, *_ in PASSAGES}


def test_all_evidence_of_a_fitting_collection_is_found() -> None:
    outcome = check(questions(), iter(CHUNKS), DOCUMENTS)
    assert outcome.ok
    assert (outcome.questions, outcome.chunks, outcome.missing) == (4, 8, ())
    assert lines(outcome)[-1].startswith("4 of 4 questions")


def test_evidence_that_no_passage_holds_is_named_with_its_question() -> None:
    asked = [
        Question(id="half", question="?", evidence=["universal machine", "quantum"]),
        Question(id="none", question="?", evidence=["steam whistle"]),
        Question(id="gold", question="?", gold_passages=["turing", "knuth"]),
        Question(id="trap", question="?", trap=True),
        Question(id="plain", question="?"),
    ]
    outcome = check(asked, CHUNKS, DOCUMENTS)
    half, none, gold = outcome.missing
    assert (half.id, half.evidence, half.unanswerable) == ("half", ("quantum",), False)
    assert (none.id, none.unanswerable) == ("none", True)
    assert gold.gold_passages == ("knuth",)
    assert not outcome.ok
    told = lines(outcome)
    assert told[-1] == "1 of 3 questions with evidence or gold passages can be met, over 8 passages"
    assert "trap: a trap without facts or forbidden is never scored" in told


def test_evidence_in_a_last_heading_counts_and_split_over_two_passages_does_not() -> None:
    asked = [Question(id="q", question="?", evidence=["Note G Note G describes"])]
    assert check(asked, CHUNKS).ok
    assert not check(asked, [(None, "Note G"), (None, "Note G describes")]).ok
