"""What kind of answer a question wants, from its wording (English and French)."""

from __future__ import annotations

import re

_SEVERAL = re.compile(
    r"\b(?:quels|quelles|lesquels|lesquelles|énumère[rz]?|énumérez|liste[rz]?|cite[rz]?)\b"
    r"|\b(?:what|which)\s+(?:are|were|(?:[\w-]+\s+){0,3}?[\w-]+[^s\W]s\s+(?:are|were|do|does|did|must|may|can|shall|have|apply))\b"
    r"|\b(?:in|under|on)\s+(?:what|which)\s+[\w-]+s\b"
    r"|^\W*(?:list|enumerate|name)\s+(?:all|the|every|each|some)\b",
    re.IGNORECASE,
)


def asks_for_several(question: str) -> bool:
    """Whether a question asks for several things: obligations, cases, members of a list."""
    return bool(_SEVERAL.search(question))
