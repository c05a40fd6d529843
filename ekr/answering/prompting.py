"""The messages sent to a generator and the sentences that ekr says itself, by language, from `prompts/`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from string import Template

from ekr.answering.context import Source, pages_label, quote
from ekr.models.base import Message

_PROMPTS = files("ekr.answering") / "prompts"
_WITH_PROMPTS = ("en", "fr")


def answer_messages(
    question: str,
    context: str,
    language: str,
    *,
    may_refuse: bool = False,
    word_for_word: bool = False,
    computed: bool = False,
) -> list[Message]:
    """The chat that asks for a citing answer. All that comes before the question is a prefix to reuse.

    `may_refuse` leaves the refusal to the model: for large ones; a small one then refuses almost everything.
    `word_for_word` asks for the excerpts' own words: of several things, a small model otherwise says only that
    there are some. `computed`: the context holds values, which answer the question.
    """
    asked = _asked(question, context, language)
    if computed:
        asked = f"{asked}\n{_read(f'values.{prompt_language(language)}.txt')}"
    if may_refuse:
        rule = Template(_read(f"may_refuse.{prompt_language(language)}.txt"))
        asked = f"{asked}\n{rule.substitute(absent=phrase('absent', language))}"
    elif word_for_word:
        asked = f"{asked}\n{_read(f'list.{prompt_language(language)}.txt')}"
    return [Message("system", _system(language)), Message("user", asked)]


def answerable_messages(question: str, context: str, language: str) -> list[Message]:
    """The same chat, asking whether the excerpts answer the question, to be read by `yes_minus_no`."""
    check = _read(f"answerable.{prompt_language(language)}.txt")
    return _checking(question, context, language, check)


def premise_messages(premise: str, question: str, context: str, language: str) -> list[Message]:
    """The same chat, asking whether the excerpts bear out `premise`, a yes/no question."""
    check = Template(_read(f"premise.{prompt_language(language)}.txt")).substitute(premise=quote(premise))
    return _checking(question, context, language, check)


def alone_messages(question: str, language: str) -> list[Message]:
    """The chat for an answer without any excerpt."""
    system = Template(_read(f"alone.{prompt_language(language)}.txt")).substitute(language=language_name(language))
    return [Message("system", system), Message("user", quote(question))]


def phrase(key: str, language: str, **names: str) -> str:
    """A sentence of `phrases.toml` with its names filled in; English where the language has none."""
    phrases = _phrases()
    return Template(phrases.get(language, phrases["en"])[key]).substitute(names)


def language_name(language: str) -> str:
    """The English name of a language; its code when we have none."""
    known = _phrases().get(language)
    return known["name"] if known else language


def place(source: Source, language: str) -> str:
    """Where a passage stands, for a reader: heading or document, and page."""
    named = (source.heading or "").split(" > ")[-1].strip() or source.document
    pages = pages_label(source)
    return f"{named}, {phrase('page', language, page=pages)}" if pages else named


def prompt_language(language: str) -> str:
    """The language whose prompts a question in `language` gets: its own, or English."""
    return language if language in _WITH_PROMPTS else "en"


def _checking(question: str, context: str, language: str, check: str) -> list[Message]:
    asked = f"{_asked(question, context, language)}\n{check}"
    return [Message("system", _system(language)), Message("user", asked)]


def _asked(question: str, context: str, language: str) -> str:
    template = Template(_read(f"question.{prompt_language(language)}.txt"))
    return template.substitute(context=context, question=quote(question))


def _system(language: str) -> str:
    if language in _WITH_PROMPTS:
        return _read(f"system.{language}.txt")
    return Template(_read("system.other.txt")).substitute(language=language_name(language))


@cache
def _read(name: str) -> str:
    return (_PROMPTS / name).read_text("utf-8").strip()


@cache
def _phrases() -> dict[str, dict[str, str]]:
    return tomllib.loads((_PROMPTS / "phrases.toml").read_text("utf-8"))
