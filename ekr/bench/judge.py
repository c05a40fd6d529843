"""A model that grades answers: what it sees, how strictly it is read, and whether it may judge at all."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ekr.bench.errors import BenchUsageError
from ekr.bench.metrics import context_sent
from ekr.bench.questions import Question
from ekr.errors import ModelError, ModelMissing
from ekr.models.base import Generator, Message

ATTEMPTS = 3
MAX_TOKENS = 300
_FENCE = re.compile(r"^```(?:json)?\s*(.*?)\s*```$", re.DOTALL)
_OWN_TAG = re.compile(r"<(?=/?(?:question|reference|context|answer)\b)", re.IGNORECASE)
_THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)

# Makers' lines of models; a name may show two (a distilled model is kin to both).
_FAMILIES: Mapping[str, str] = {
    "qwen": "qwen|qwq",
    "llama": r"llama(?!\.?cpp)|vicuna|hermes",
    "mistral": "mistral|mixtral|ministral|magistral|codestral|devstral|pixtral",
    "gemma": "gemma|gemini",
    "gpt": r"gpt|\bo[134]\b",
    "claude": "claude",
    "smollm": "smollm",
    "phi": r"\bphi",
    "deepseek": "deepseek",
    "command": r"\bcommand\b|\baya\b|cohere",
    "granite": "granite",
    "olmo": "olmo|tulu",
    "falcon": "falcon",
    "glm": r"\b(?:chat)?glm",
    "kimi": "kimi|moonshot",
    "nova": r"\bnova\b",
    "grok": "grok",
}


class Verdict(BaseModel):
    """The object a judge must return, and nothing beside it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    correctness: int = Field(ge=1, le=5)
    hallucinated: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One graded answer. `missing` says why there is no verdict; then both scores are None.

    `correctness` is also None for a question that has nothing to compare with. `input_hash` identifies what
    the judge saw, so that a judgement is never taken for one of another answer.
    """

    correctness: int | None
    hallucinated: bool | None
    reason: str
    attempts: int
    missing: str | None
    input_hash: str


def model_name(spec: str) -> str:
    """The model's own name in a spec: after `#` of an endpoint, the last part of a path or hub reference."""
    name = spec.rsplit("#", 1)[-1] if "#" in spec else spec
    if re.match(r"https?://", name):
        return ""
    return re.split(r"[/\\]", name.removeprefix("hf:"))[-1].lower().removesuffix(".gguf")


def families(spec: str) -> frozenset[str]:
    """The model families a spec's name shows; the first word of an unlisted name; empty when unnamed."""
    name = model_name(spec)
    known = frozenset(family for family, pattern in _FAMILIES.items() if re.search(pattern, name))
    first_word = re.match(r"[a-z]+", name)
    return known or (frozenset([first_word[0]]) if first_word else frozenset())


def check_independence(judge: str, generator: str, *, force: bool) -> str | None:
    """A line for the table when the judge may favour the generator; None when they are of different families.

    Raises BenchUsageError for the same model or family, unless `force`.
    """
    shared = families(judge) & families(generator)
    if judge != generator and not shared:
        if families(judge) and families(generator):
            return None
        return f"judge {judge}: its family is unknown, so it may be the generator's ({generator})"
    kin = "the generator itself" if judge == generator else f"of the generator's family ({', '.join(sorted(shared))})"
    if not force:
        raise BenchUsageError(
            f"the judge {judge} is {kin}; name a model of another family, or add --force-judge to judge anyway"
        )
    return f"judge {judge} is {kin}: its scores are not independent"


@cache
def _prompt(name: str) -> str:
    return files("ekr.bench").joinpath("prompts", name).read_text(encoding="utf-8")


def judge_messages(question: Question, context: str, answer: str) -> list[Message]:
    """What the judge sees: question, reference, the context really sent, the answer, each in its own tag."""
    parts = {
        "question": question.question,
        "reference": question.expected or "(none given: put 3 for correctness)",
        "context": context or "(nothing was sent: the model answered alone)",
        "answer": answer or "(empty)",
    }
    tagged = "\n".join(f"<{tag}>\n{_OWN_TAG.sub('&lt;', text)}\n</{tag}>" for tag, text in parts.items())
    return [Message("system", _prompt("judge.txt").strip()), Message("user", tagged)]


def input_hash(messages: list[Message]) -> str:
    """sha256 of the prompt, its instructions included."""
    return hashlib.sha256("\0".join(f"{m.role}\0{m.content}" for m in messages).encode()).hexdigest()


def parse_verdict(text: str) -> Verdict:
    """The verdict in a judge's reply. Raises ValueError with the reason, in one line.

    One JSON object with the right fields and types, alone, or alone in a code fence, or after closed
    `<think>` tags. Anything else is unparsable, however plain its meaning.
    """
    body = _THOUGHT.sub("", text).strip()
    if fenced := _FENCE.match(body):
        body = fenced[1]
    try:
        return Verdict.model_validate_json(body)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{field}: {first['msg']}" if field else first["msg"]) from None


class Judge:
    """Grades answers with one generator. `spec` is what the user named, for the table."""

    def __init__(
        self, generator: Generator, spec: str, *, attempts: int = ATTEMPTS, max_tokens: int = MAX_TOKENS
    ) -> None:
        self.spec = spec
        self._generator = generator
        self._attempts = attempts
        self._max_tokens = max_tokens

    def messages(self, question: Question, result: Mapping[str, Any]) -> list[Message]:
        """The prompt for one stored result."""
        return judge_messages(question, context_sent(result), result.get("answer") or "")

    def grade(self, question: Question, result: Mapping[str, Any]) -> Judgement:
        """One judgement; after `attempts` unparsable or failed replies it is missing, never a score.

        Each retry shows the judge its reply and what was wrong with it, and draws with another seed. Raises
        ModelMissing, since no retry helps there.
        """
        messages = self.messages(question, result)
        digest = input_hash(messages)
        size = self._generator.count("\n".join(m.content for m in messages)) + self._max_tokens
        if size > self._generator.context_tokens:
            reason = f"the prompt needs {size} tokens, the judge takes {self._generator.context_tokens}"
            return Judgement(None, None, "", 0, reason, digest)
        conversation = messages
        problem = ""
        for attempt in range(self._attempts):
            try:
                reply = self._reply(conversation, attempt)
                verdict = parse_verdict(reply)
            except ModelMissing:
                raise
            except ModelError as error:
                problem = f"{type(error).__name__}: {error}"
            except ValueError as error:
                problem = f"unparsable: {error}"
                again = _prompt("judge_again.txt").format(problem=error).strip()
                conversation = [*messages, Message("assistant", reply[:2000] or "(empty)"), Message("user", again)]
            else:
                correctness = verdict.correctness if question.expected else None
                return Judgement(correctness, verdict.hallucinated, verdict.reason, attempt + 1, None, digest)
        return Judgement(None, None, "", self._attempts, problem, digest)

    def _reply(self, messages: list[Message], attempt: int) -> str:
        grammar = _prompt("judge.gbnf") if self._generator.supports_grammar else None
        pieces = self._generator.stream(
            messages,
            grammar=grammar,
            max_tokens=self._max_tokens,
            temperature=0.0 if attempt == 0 else 0.5,
            seed=attempt,
        )
        return "".join(pieces)
