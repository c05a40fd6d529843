from __future__ import annotations

import random

from ekr.extraction import Entity, Relation, find_communities, report_on
from ekr.extraction.records import stable_id


def relation(source: str, target: str, weight: float = 1.0, kind: str = "KNOW") -> Relation:
    return Relation(stable_id(source, kind, target), source, target, kind, f"{source} knows {target}.", weight, ())


def entity(name: str) -> Entity:
    return Entity(name, name, name, ("Person",), f"{name} is a person.", (), 1, 1, 1, False)


def ring(prefix: str, size: int) -> list[Relation]:
    return [relation(f"{prefix}{i}", f"{prefix}{(i + 1) % size}") for i in range(size)]


def clique(prefix: str, size: int) -> list[Relation]:
    return [relation(f"{prefix}{i}", f"{prefix}{j}") for i in range(size) for j in range(i)]


def test_no_relation_gives_no_community() -> None:
    assert find_communities([]) == []


def test_two_cliques_are_two_communities_in_any_order() -> None:
    relations = [*clique("a", 5), *clique("b", 5), relation("a0", "b0", 0.5)]
    found = find_communities(relations)
    assert sorted(sorted(c.members) for c in found) == [[f"a{i}" for i in range(5)], [f"b{i}" for i in range(5)]]
    for seed in range(3):
        random.Random(seed).shuffle(relations)
        assert find_communities(relations) == found
    assert all(c.weight == 10 for c in found)


def test_a_big_community_is_split_below_it() -> None:
    relations = [r for n in range(12) for r in clique(f"c{n:02d}-", 6)]
    relations += [relation(f"c{n:02d}-0", f"c{m:02d}-0", 3) for n in range(12) for m in range(n)]
    found = find_communities(relations)
    by_id = {c.id: c for c in found}
    children = [c for c in found if c.parent_id]
    assert {c.level for c in found} <= {0, 1, 2}
    assert all(set(c.members) < set(by_id[c.parent_id or ""].members) for c in children)
    assert all(len(c.members) >= 2 for c in found)


def test_a_relation_from_a_node_to_itself_does_no_harm() -> None:
    assert find_communities([relation("a", "a"), relation("a", "b")])[0].members == ("a", "b")


def test_the_template_report_names_top_members_and_evidence() -> None:
    relations = clique("m", 4)
    (community,) = find_communities(relations)
    report = report_on(community, {n: entity(n) for n in community.members}, {r.id: r for r in relations})
    assert report.by == "template"
    assert report.title == ", ".join(community.members[:3])
    assert "is a person" in report.summary
    assert report.findings
    assert all(set(f.entity_ids) <= set(community.members) for f in report.findings)
    assert report.text.startswith(report.title)


def test_a_community_without_descriptions_still_has_a_report() -> None:
    relations = [relation("x", "y")]
    (community,) = find_communities(relations)
    bare = {n: Entity(n, n, n, ("Other",), "", (), 1, 1, 1, False) for n in "xy"}
    assert report_on(community, bare, {r.id: r for r in relations}).summary == "x, y"


def test_ring_communities_are_stable_over_runs() -> None:
    relations = ring("r", 60)
    assert find_communities(relations) == find_communities(relations)
