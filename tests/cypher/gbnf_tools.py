"""Reads GBNF: random strings of a grammar, and whether a string belongs to it."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from functools import cache

_TOKEN = re.compile(
    r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<set>\[(?:[^\]\\]|\\.)*\])|(?P<name>[a-zA-Z][\w-]*)'
    r"|(?P<repeat>\{\d+(?:,\d*)?\}|[?*+])|(?P<mark>[()|]))"
)


@dataclass(frozen=True)
class Part:
    kind: str
    value: object = None
    parts: tuple[Part, ...] = ()


def _unescape(text: str) -> str:
    codes = {"n": "\n", "t": "\t", "r": "\r"}
    return re.sub(
        r"\\(x[0-9a-fA-F]{2}|.)",
        lambda m: chr(int(m[1][1:], 16)) if m[1][0] == "x" and len(m[1]) == 3 else codes.get(m[1], m[1]),
        text,
    )


def _character_set(text: str) -> tuple[bool, tuple[tuple[str, str], ...]]:
    inside = text[1:-1]
    negated = inside.startswith("^")
    items = [_unescape(t) for t in re.findall(r"\\x[0-9a-fA-F]{2}|\\.|.", inside[negated:], re.DOTALL)]
    ranges, i = [], 0
    while i < len(items):
        if i + 2 < len(items) and items[i + 1] == "-":
            ranges.append((items[i], items[i + 2]))
            i += 3
        else:
            ranges.append((items[i], items[i]))
            i += 1
    return negated, tuple(ranges)


@dataclass
class Grammar:
    rules: dict[str, Part] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> Grammar:
        grammar = cls()
        for line in text.splitlines():
            if line.strip():
                name, _, body = line.partition("::=")
                tokens = []
                body, at = body.strip(), 0
                while at < len(body):
                    found = _TOKEN.match(body, at)
                    assert found, body[at:]
                    tokens.append((str(found.lastgroup), str(found[str(found.lastgroup)])))
                    at = found.end()
                grammar.rules[name.strip()] = _alternatives(tokens)
                assert not tokens, tokens
        return grammar

    def sample(self, rng: random.Random, depth: int = 0, part: Part | None = None) -> str:
        """A random string; deep down, the shortest repetitions and the first plain alternatives."""
        part = part or self.rules["root"]
        if part.kind == "text":
            return str(part.value)
        if part.kind == "set":
            return self._character(part, rng)
        if part.kind == "rule":
            return self.sample(rng, depth + 1, self.rules[str(part.value)])
        if part.kind == "sequence":
            return "".join(self.sample(rng, depth, p) for p in part.parts)
        if part.kind == "choice":
            options = [p for p in part.parts if self._height(p) < 6] if depth > 12 else list(part.parts)
            return self.sample(rng, depth, rng.choice(options or [min(part.parts, key=self._height)]))
        low, high = part.value  # type: ignore[misc]
        most = low if depth > 14 else min(high, low + (1 if depth > 8 else 3))
        return "".join(self.sample(rng, depth, part.parts[0]) for _ in range(rng.randint(low, most)))

    def _height(self, part: Part, seen: tuple[str, ...] = ()) -> int:
        if part.kind == "rule":
            name = str(part.value)
            return 99 if name in seen else 1 + self._height(self.rules[name], (*seen, name))
        if part.kind == "choice":
            return min(self._height(p, seen) for p in part.parts)
        if part.kind == "repeat" and part.value[0] == 0:  # type: ignore[index]
            return 0
        return max((self._height(p, seen) for p in part.parts), default=0)

    def _character(self, part: Part, rng: random.Random) -> str:
        negated, ranges = part.value  # type: ignore[misc]
        if negated:
            return rng.choice([c for c in 'aZ9 _-.,;:!?/*{}[]()$`"|éß日\u200b' if not _inside(c, ranges)])
        low, high = rng.choice(ranges)
        return chr(rng.randint(ord(low), ord(high)))

    def accepts(self, text: str) -> bool:
        @cache
        def ends(part: Part, at: int) -> frozenset[int]:
            if part.kind == "text":
                return frozenset({at + len(str(part.value))}) if text.startswith(str(part.value), at) else frozenset()
            if part.kind == "set":
                negated, ranges = part.value  # type: ignore[misc]
                hit = at < len(text) and _inside(text[at], ranges) != negated
                return frozenset({at + 1}) if hit else frozenset()
            if part.kind == "rule":
                return ends(self.rules[str(part.value)], at)
            if part.kind == "choice":
                return frozenset().union(*(ends(p, at) for p in part.parts))
            if part.kind == "sequence":
                current = frozenset({at})
                for p in part.parts:
                    current = frozenset().union(*(ends(p, i) for i in current))
                return current
            low, high = part.value  # type: ignore[misc]
            found, current = (frozenset({at}) if low == 0 else frozenset()), frozenset({at})
            for count in range(1, high + 1):
                current = frozenset().union(*(ends(part.parts[0], i) for i in current))
                if not current:
                    break
                if count >= low:
                    found |= current
            return found

        return len(text) in ends(self.rules["root"], 0)


def _inside(character: str, ranges: tuple[tuple[str, str], ...]) -> bool:
    return any(low <= character <= high for low, high in ranges)


def _alternatives(tokens: list[tuple[str, str]]) -> Part:
    options = [_sequence(tokens)]
    while tokens and tokens[0] == ("mark", "|"):
        tokens.pop(0)
        options.append(_sequence(tokens))
    return options[0] if len(options) == 1 else Part("choice", None, tuple(options))


def _sequence(tokens: list[tuple[str, str]]) -> Part:
    parts: list[Part] = []
    while tokens and tokens[0] not in {("mark", "|"), ("mark", ")")}:
        kind, text = tokens.pop(0)
        if kind == "text":
            parts.append(Part("text", _unescape(text[1:-1])))
        elif kind == "set":
            parts.append(Part("set", _character_set(text)))
        elif kind == "name":
            parts.append(Part("rule", text))
        elif kind == "mark":
            parts.append(_alternatives(tokens))
            assert tokens.pop(0) == ("mark", ")")
        else:
            bounds = {"?": (0, 1), "*": (0, 30), "+": (1, 30)}.get(text)
            if bounds is None:
                low, comma, high = text[1:-1].partition(",")
                bounds = (int(low), int(high) if high else 30 if comma else int(low))
            parts[-1] = Part("repeat", bounds, (parts[-1],))
    return parts[0] if len(parts) == 1 else Part("sequence", None, tuple(parts))
