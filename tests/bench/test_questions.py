from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ekr.bench.errors import BenchUsageError, QuestionsError
from ekr.bench.questions import (
    Question,
    dump_questions,
    fingerprint,
    load_questions,
    parse_questions,
    select,
)
from tests.bench.library import QUESTIONS, questions

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"


def problems(text: str) -> list[str]:
    with pytest.raises(QuestionsError) as caught:
        parse_questions(text, "q.jsonl")
    return list(caught.value.problems)


def test_every_problem_of_a_file_is_told_at_once_with_its_line() -> None:
    text = "\n".join(
        [
            '{"id": "a", "question": "ok?"}',
            '{"id": "b", "question": "bad regex?", "evidence": ["(open"], "facts": ["[z-a]"]}',
            "",
            '{"id": "a", "question": "again?"}',
            '{"id": "c", "question": "typo?", "evidense": ["x"]}',
            '{"id": "d"}',
            '{"id": "e", "question": "   "}',
            "{not json}",
            "[1, 2]",
            '{"question": "no id?", "pages": [0], "trap": "yes"}',
        ]
    )
    found = problems(text)
    assert [p.split(": ", 1)[0] for p in found] == [f"q.jsonl:{n}" for n in (2, 2, 4, 5, 6, 7, 8, 9, 10, 10, 10)]
    assert "invalid regex '(open'" in found[0]
    assert "invalid regex '[z-a]'" in found[1]
    assert found[2] == "q.jsonl:4: duplicate id 'a', first on line 1"
    assert found[3] == "q.jsonl:5: unknown field 'evidense'; did you mean 'evidence'? (id 'c')"
    assert found[4] == "q.jsonl:6: no 'question' (id 'd')"
    assert "is empty" in found[5]
    assert found[6].startswith("q.jsonl:8: not JSON: ")
    assert found[7] == "q.jsonl:9: not a JSON object"
    assert all("\n" not in problem for problem in found)


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff\n"])
def test_a_file_without_a_question_is_refused(text: str) -> None:
    assert problems(text)[0].startswith("q.jsonl:1: no question")


@pytest.mark.parametrize("pattern", ["", "  ", "\u200b", "\u00a0\u00ad", r"\ufeff"])
def test_a_regex_that_matches_everything_by_being_empty_is_refused(pattern: str) -> None:
    (problem,) = problems(json.dumps({"id": "a", "question": "?", "facts": [pattern]}))
    assert "'facts': an empty regex matches every text" in problem


def test_an_accepted_answer_says_something() -> None:
    (problem,) = problems(json.dumps({"id": "a", "question": "?", "answers": ["B", " "]}))
    assert problem.startswith("q.jsonl:1: 'answers': is empty")


def test_a_field_that_stands_twice_is_refused_with_its_line() -> None:
    good = '{"id": "a", "question": "?", "evidence": ["a"]}\n'
    (problem,) = problems(good + '{"id": "b", "question": "?", "evidence": ["a"], "evidence": ["b"]}')
    assert problem == "q.jsonl:2: field 'evidence' twice; write it once"


def test_numbers_serve_as_ids_and_booleans_do_not() -> None:
    (one,) = parse_questions('{"id": 7, "question": "?", "gold_passages": [6, "x"]}', "q")
    assert (one.id, one.gold_passages) == ("7", ["6", "x"])
    assert "'id'" in problems('{"id": true, "question": "?"}')[0]


def test_a_file_in_another_encoding_or_absent_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_bytes('{"id": "a", "question": "ok?"}\n{"id": "b", "question": "é"}'.encode("latin-1"))
    for path, reason in ((file, f"{file}:2: not UTF-8"), (tmp_path / "none.jsonl", "No such file")):
        with pytest.raises(QuestionsError, match=reason):
            load_questions(path)


def test_half_a_character_is_refused_in_every_field_with_its_line() -> None:
    good = '{"id": "a", "question": "ok?"}\n'
    for bad in (
        '{"id": "b", "question": "a \\ud800 b"}',
        '{"id": "\\udfff", "question": "?"}',
        '{"id": "b", "question": "?", "answers": ["\\ud83d"]}',
        '{"id": "b", "question": "?", "\\ud800": 1}',
    ):
        (problem,) = problems(good + bad)
        assert problem.startswith("q.jsonl:2: ")
        assert "lone surrogate" in problem
        problem.encode()
    (whole,) = parse_questions('{"id": "b", "question": "\\ud83d\\ude00?"}', "q")
    assert whole.question == "\U0001f600?"


def test_a_question_that_the_engine_would_refuse_is_refused_with_line_and_id() -> None:
    for text in ("x" * 20_000, "x" + " " * 5000 + "y" * 19_998):
        assert len(parse_questions(json.dumps({"id": "a", "question": text}), "q")) == 1
    (problem,) = problems(json.dumps({"id": "a", "question": "x" * 20_001}))
    assert problem == "q.jsonl:1: 'question': has 20001 characters; 20000 are the most (id 'a')"
    assert "is empty" in problems('{"id": "a", "question": "\\u0000 "}')[0]


def test_a_number_of_thousands_of_digits_is_no_crash() -> None:
    assert problems('{"id": ' + "9" * 5000 + ', "question": "?"}')[0].startswith("q.jsonl:1: not JSON: ")


def test_the_fingerprint_is_of_the_content_and_not_of_the_file() -> None:
    a = parse_questions('{"id": "a", "question": "?", "facts": ["x"]}', "a")
    b = parse_questions('\n{"facts":["x"],"question":"?","id":"a","trap":false}', "b")
    assert fingerprint(a) == fingerprint(b)
    assert fingerprint(a) != fingerprint(parse_questions('{"id": "a", "question": "?", "facts": ["y"]}', "c"))


def test_questions_survive_writing_and_reading() -> None:
    assert parse_questions(dump_questions(questions()), "again") == questions()
    assert len(questions()) == len(QUESTIONS.strip().splitlines())


@given(st.text(), st.lists(st.text()))
def test_any_text_is_parsed_or_refused_in_single_lines(head: str, lines: list[str]) -> None:
    try:
        parse_questions("\n".join([head, *lines]), "q")
    except QuestionsError as error:
        assert all(p.startswith("q:") and len(p.splitlines()) == 1 for p in error.problems)


def test_filters_add_up_within_a_field_and_narrow_across_fields() -> None:
    def ids(*only: str) -> list[str]:
        return [q.id for q in select(questions(), only)]

    assert ids("category=person") == ["q3", "q4"]
    assert ids("category=person", "category=date") == ["q1", "q3", "q4"]
    assert ids("category=person", "trap=true") == ["q4"]
    assert ids("id=q6") == ["q6"]
    for bad in ("category=nobody", "colour=red", "person"):
        with pytest.raises(BenchUsageError):
            ids(bad)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["ai-act/questions_fr", "multihop/musique_questions", "multihop/2wiki_questions"])
def test_the_shared_question_files_are_valid(name: str) -> None:
    path = DATA / f"{name}.jsonl"
    if not path.exists():
        pytest.skip("no ../shared/data here")
    loaded = load_questions(path)
    assert len(loaded) >= 26
    assert all(isinstance(one, Question) for one in loaded)


def test_names_in_tables_are_one_line_of_text() -> None:
    assert "control character" in problems('{"id": "a", "question": "Why?", "category": "red\\nx"}')[0]
    assert "is empty" in problems('{"id": "a", "question": "Why?", "category": ""}')[0]
