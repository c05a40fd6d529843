"""What a question takes for granted: "why does X ban Y?" presupposes that X bans Y."""

from __future__ import annotations

import re
from dataclasses import dataclass

_VOWEL = re.compile(r"[aeiouyhàâäéèêëîïôöùûü]", re.IGNORECASE)
_FRENCH_ASKING = r"^\W*(?:pourquoi|quand|comment|où|depuis quand|en quelle année|à quelle date|dans quel but)"
# The verb is inverted before a pronoun: "Pourquoi le règlement interdit-il …", "Pourquoi est-il interdit …".
_FRENCH = re.compile(
    _FRENCH_ASKING + r"\s+(?:(?P<subject>.+?)\s+)?(?P<verb>(?:(?:[smtln]|qu)['’])?[^\W\d_]+)"
    r"(?P<link>-t)?-(?P<pronoun>ils?|elles?|on|ce|nous|vous)\b\s*(?P<rest>[^?]*?)\s*\?*\s*$",
    re.IGNORECASE,
)
_FRENCH_QUE = re.compile(_FRENCH_ASKING + r"\s+est-ce\s+qu(?:e\s+|['’])(?P<claim>[^?]+?)\s*\?*\s*$", re.IGNORECASE)
_ENGLISH = re.compile(
    r"^\W*(?:why|when|where|how|since when|(?:in|on|at) (?:which|what) \w+)\s+"
    r"(?P<inverted>(?:does|do|did|is|are|was|were|has|have|had|can|must|should|will)\s+[^?]+?)\s*\?*\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Premise:
    """What a question presupposes, as a yes/no question; `denial` says the contrary where we can form it.

    `why` tells whether the question asks for a reason, which presupposes most.
    """

    question: str
    denial: str | None
    why: bool


def premise_of(question: str) -> Premise | None:
    """The presupposition of an English or French question that asks why, when, where or how; else None."""
    text = " ".join(question.split())
    why = bool(re.match(r"\W*(?:pourquoi|dans quel but|why)\b", text, re.IGNORECASE))
    if match := _FRENCH_QUE.match(text):
        return Premise(f"Est-ce que {match['claim']} ?", None, why)
    if match := _FRENCH.match(text):
        verb, rest, pronoun = match["verb"], match["rest"], match["pronoun"].lower()
        subject = match["subject"] or pronoun
        inverted = f"{match['subject'] or ''} {verb}{match['link'] or ''}-{pronoun} {rest} ?"
        negation = "n'" if _VOWEL.match(verb) else "ne "
        return Premise(_capital(inverted), _capital(f"{subject} {negation}{verb} pas {rest}"), why)
    if match := _ENGLISH.match(text):
        return Premise(_capital(match["inverted"]) + "?", None, why)
    return None


def _capital(text: str) -> str:
    text = " ".join(text.split())
    return text[:1].upper() + text[1:]
