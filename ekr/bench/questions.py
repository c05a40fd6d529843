"""The questions file: one JSON object a line, checked before anything runs."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ekr.bench.errors import BenchUsageError, QuestionsError
from ekr.bench.matching import compiled
from ekr.bench.normalise import normalise_pattern


def _pattern(value: str) -> str:
    if not normalise_pattern(value).strip():
        raise ValueError("an empty regex matches every text; so does one of invisible characters or of white space")
    try:
        compiled(value)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"invalid regex {value!r}: {error}") from None
    return value


def _identifier(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _filled(value: str) -> str:
    if not value.strip():
        raise ValueError("is empty")
    return value


def _askable(value: str) -> str:
    from ekr.engine import MAX_QUESTION_CHARACTERS

    # As the engine counts, which refuses the same questions.
    length = len(" ".join(unicodedata.normalize("NFC", value.replace("\0", " ")).split()))
    if not length:
        raise ValueError("is empty")
    if length > MAX_QUESTION_CHARACTERS:
        raise ValueError(f"has {length} characters; {MAX_QUESTION_CHARACTERS} are the most")
    return value


def _one_line(value: str) -> str:
    if any(unicodedata.category(c) in ("Cc", "Zl", "Zp") for c in value):
        raise ValueError("holds a line break or another control character")
    return value


Pattern = Annotated[str, AfterValidator(_pattern)]
Name = Annotated[str, AfterValidator(_filled), AfterValidator(_one_line)]
Identifier = Annotated[Name, BeforeValidator(_identifier)]
Page = Annotated[int, Field(ge=1)]


class Question(BaseModel):
    """One question and what is known of its answer. Everything but `id` and `question` may be absent.

    `evidence`, `facts` and `forbidden` are regexes; `pages` physical pages from 1; `gold_passages` ids of
    documents, or their names as `ekr documents` shows them, as strings; `answers` accepted short answers.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: Identifier
    question: Annotated[str, AfterValidator(_askable)]
    reference: str | None = None
    evidence: list[Pattern] = []
    facts: list[Pattern] = []
    forbidden: list[Pattern] = []
    trap: bool = False
    pages: list[Page] = []
    category: Name | None = None
    answers: list[Annotated[str, AfterValidator(_filled)]] = []
    gold_passages: list[Identifier] = []

    @property
    def expected(self) -> str | None:
        """What a judge compares with: the reference, else the accepted short answers, else None."""
        return self.reference or "; ".join(self.answers) or None


def _problems(error: ValidationError) -> Iterable[str]:
    for detail in error.errors():
        field = str(detail["loc"][0]) if detail["loc"] else "the line"
        match detail["type"]:
            case "extra_forbidden":
                near = difflib.get_close_matches(field, Question.model_fields, n=1)
                yield f"unknown field {field!r}" + (f"; did you mean {near[0]!r}?" if near else "")
            case "missing":
                yield f"no {field!r}"
            case "value_error":
                yield f"{field!r}: {detail['ctx']['error']}"
            case _:
                yield f"{field!r}: {detail['msg'].removeprefix('Input ')}"


class _Twice(ValueError):
    pass


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for field, value in pairs:
        if field in data:
            raise _Twice(f"field {field!r} twice; write it once")
        data[field] = value
    return data


def _json(line: str) -> Any:
    """Raises ValueError with what to say of the line."""
    try:
        data: Any = json.loads(line, object_pairs_hook=_once)
        json.dumps(data, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}") from None
    except UnicodeEncodeError as error:
        half = error.object[error.start : error.end]
        raise ValueError(f"{half!r} is half a character (a lone surrogate); write the character itself") from None
    except RecursionError:
        raise ValueError("not JSON: too deep") from None
    except _Twice:
        raise
    except ValueError as error:  # a whole number of thousands of digits
        raise ValueError(f"not JSON: {error}") from None
    return data


def _parse(line: str) -> tuple[Question | None, list[str]]:
    try:
        data = _json(line)
    except ValueError as error:
        return None, [str(error)]
    if not isinstance(data, dict):
        return None, ["not a JSON object"]
    try:
        return Question.model_validate(data), []
    except ValidationError as error:
        named = f" (id {data['id']!r})" if isinstance(data.get("id"), str | int) else ""
        return None, [problem + named for problem in dict.fromkeys(_problems(error))]


def parse_questions(text: str, name: str) -> list[Question]:
    """The questions of a file's text, in its order; blank lines are passed over.

    Raises QuestionsError with every problem of the file, each as `name:line: problem`.
    """
    questions: list[Question] = []
    problems: list[str] = []
    first_seen: dict[str, int] = {}
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        question, found = _parse(line)
        if question is not None and question.id in first_seen:
            found = [f"duplicate id {question.id!r}, first on line {first_seen[question.id]}"]
        problems += [f"{name}:{number}: {problem}" for problem in found]
        if question is not None:
            first_seen.setdefault(question.id, number)
            questions.append(question)
    if not questions and not problems:
        problems = [f'{name}:1: no question; write one a line: {{"id": "q1", "question": "…"}}']
    if problems:
        raise QuestionsError(problems)
    return questions


def load_questions(path: Path) -> list[Question]:
    """The questions of a JSONL file. Raises QuestionsError, also when the file cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise QuestionsError([f"{path}:{line}: not UTF-8; save the file as UTF-8"]) from None
    except OSError as error:
        raise QuestionsError([f"{path}: {error.strerror or error}; name a questions file in JSONL"]) from None
    return parse_questions(text, str(path))


def dump_questions(questions: Iterable[Question]) -> str:
    """The questions as JSONL again, without the fields that are absent."""
    return "".join(q.model_dump_json(exclude_defaults=True) + "\n" for q in questions)


def fingerprint(questions: Iterable[Question]) -> str:
    """sha256 of what the questions say, whatever the order of fields or the white space of their file."""
    return hashlib.sha256(dump_questions(questions).encode()).hexdigest()


_SELECTABLE = ("category", "id", "trap")


def _value(question: Question, field: str) -> str:
    return str(question.trap).lower() if field == "trap" else str(getattr(question, field) or "")


def select(questions: Sequence[Question], only: Sequence[str]) -> list[Question]:
    """The questions that pass filters like `category=définition`, `id=Q07` or `trap=true`.

    Values of one field add up, fields narrow each other. Raises BenchUsageError on an unknown field, and
    when nothing is left.
    """
    wanted: dict[str, list[str]] = {}
    for item in only:
        field, separator, value = item.partition("=")
        if not separator or field not in _SELECTABLE:
            raise BenchUsageError(f"--only {item!r}: write {', '.join(f'{name}=…' for name in _SELECTABLE)}")
        wanted.setdefault(field, []).append(value)
    kept = [q for q in questions if all(_value(q, field) in values for field, values in wanted.items())]
    if not kept:
        known = sorted({q.category for q in questions if q.category})
        raise BenchUsageError(
            f"no question passes --only {' '.join(only)}; categories here: {', '.join(known) or 'none'}"
        )
    return kept
