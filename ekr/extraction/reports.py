"""Reports on communities: by a generator where there is one and the community has weight, else by template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ekr.extraction.communities import Community
from ekr.extraction.constrained import Cache, NoCache, ask, field_rule, list_rule, prompt, string_rule, whole_object
from ekr.extraction.describe import tidy
from ekr.extraction.records import RELATED_TO, Entity, Relation
from ekr.models.base import Generator, Message

LEAST_WEIGHT = 5.0
_SHOWN_MEMBERS = 12
_SHOWN_RELATIONS = 12
_TEMPLATE_MEMBERS = 4
_TEMPLATE_FINDINGS = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement of a report and the ids of the entities that it is about."""

    text: str
    entity_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What is said about a community. `by` is the generator's name, or "template"."""

    community_id: str
    title: str
    summary: str
    findings: tuple[Finding, ...]
    by: str

    @property
    def text(self) -> str:
        """Title, summary and findings as one text: what is embedded."""
        return "\n".join([self.title, self.summary, *(finding.text for finding in self.findings)])


def report_on(
    community: Community,
    entities: Mapping[str, Entity],
    relations: Mapping[str, Relation],
    generator: Generator | None = None,
    cache: Cache | None = None,
) -> Report:
    """The community's report. A generator is asked when the weight inside is 5 or more; an answer of its that can't
    be used gives way to the template. Raises ModelError when the generator fails."""
    members = [entities[member] for member in community.members if member in entities]
    inside = sorted(
        (relations[r] for r in community.relations if r in relations),
        key=lambda r: (r.type == RELATED_TO, -r.weight, r.id),
    )
    if generator is not None and community.weight >= LEAST_WEIGHT:
        written = _generated(community, members, inside, generator, cache or NoCache())
        if written is not None:
            return written
    return _template(community, members, inside, entities)


def _template(
    community: Community, members: Sequence[Entity], inside: Sequence[Relation], entities: Mapping[str, Entity]
) -> Report:
    top = members[:_TEMPLATE_MEMBERS]
    title = ", ".join(entity.name for entity in top[:3])
    described = [f"{entity.name}: {tidy(entity.description, 200)}" for entity in top if entity.description]
    summary = " ".join(described) or ", ".join(entity.name for entity in members[:_SHOWN_MEMBERS])
    findings = []
    for relation in inside[:_TEMPLATE_FINDINGS]:
        source, target = entities[relation.source_id], entities[relation.target_id]
        text = f"{source.name} – {relation.type} – {target.name}: {relation.description}"
        findings.append(Finding(text, (source.id, target.id)))
    return Report(community.id, title, summary, tuple(findings), "template")


def report_grammar(members: int) -> str:
    """GBNF of a report that refers to members 1 to `members`."""
    numbers = " | ".join(f'"{n}"' for n in range(1, members + 1))
    finding = f'"{{" {field_rule("text", "text")} "," {field_rule("members", "numbers")} "}}"'
    return "\n".join(
        [
            rf'root ::= "{{" {field_rule("title", "title")} "," {field_rule("summary", "summary")} ","'
            rf' {field_rule("findings", "findings")} "}}"',
            f"title ::= {string_rule(80)}",
            f"summary ::= {string_rule(500)}",
            f"findings ::= {list_rule('finding', 4, 1)}",
            f"finding ::= {finding}",
            f"text ::= {string_rule(240)}",
            f"numbers ::= {list_rule('number', 4, 1)}",
            f"number ::= {numbers}",
            "",
        ]
    )


def _generated(
    community: Community, members: Sequence[Entity], inside: Sequence[Relation], generator: Generator, cache: Cache
) -> Report | None:
    shown = members[:_SHOWN_MEMBERS]
    number = {entity.id: index for index, entity in enumerate(shown, 1)}
    lines = [f"{number[e.id]}. {e.name} ({e.labels[0]}): {tidy(e.description, 160)}" for e in shown]
    lines.append("")
    for relation in inside[:_SHOWN_RELATIONS]:
        if relation.source_id in number and relation.target_id in number:
            ends = f"{number[relation.source_id]} – {relation.type} – {number[relation.target_id]}"
            lines.append(f"{ends}: {tidy(relation.description, 160)}")
    messages = [Message("system", prompt("community")), Message("user", "\n".join(lines))]
    answer = ask(generator, messages, report_grammar(len(shown)), cache, max_tokens=600)
    return _read(community, shown, whole_object(answer), generator.name)


def _read(community: Community, shown: Sequence[Entity], value: dict[str, Any], by: str) -> Report | None:
    title, summary = str(value.get("title", "")).strip(), str(value.get("summary", "")).strip()
    findings = []
    for finding in value.get("findings") or []:
        if not isinstance(finding, dict) or not str(finding.get("text", "")).strip():
            continue
        numbers = [n for n in finding.get("members") or [] if isinstance(n, int) and 1 <= n <= len(shown)]
        ids = tuple(dict.fromkeys(shown[n - 1].id for n in numbers))
        if ids:
            findings.append(Finding(str(finding["text"]).strip(), ids))
    if not title or not summary or not findings:
        return None
    return Report(community.id, title, summary, tuple(findings), by)
