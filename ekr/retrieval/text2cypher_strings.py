"""The strings that a generated Cypher query may hold: names of entities and words of the question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ekr.retrieval.search import Search

# Types that say so little of two entities that a model does better without them.
VAGUE_TYPES = ("RELATED_TO",)
_MOST_ENTITIES = 4
_FEW_NAMES = 3
_MOST_STEPS = 10


@dataclass(frozen=True)
class Offered:
    """The strings that a query may hold: names of entities, each with what the graph states of it; words of the
    question; and words with which several names begin, with how many and of which label."""

    names: Mapping[str, str]
    words: Sequence[str]
    openings: Mapping[str, str]

    def strings(self) -> list[str]:
        """All of them."""
        return list(dict.fromkeys([*self.names, *self.openings, *self.words]))


def offered_strings(search: Search) -> Offered:
    """Names of the entities that the question means, and its own telling words: the strings of the query.

    A name that is only near in meaning is offered where the question names nothing known and shares a telling word
    with it, so that what the graph does not know is never replaced by something else.
    """
    from ekr.extraction.names import fold, tokenize
    from ekr.extraction.vocabulary import FUNCTION_WORDS

    names_here = search.names()
    meant = list(dict.fromkeys(id_ for name in names_here for id_ in name.entity_ids))
    # Words that ask for something, or for a kind of thing, are no part of a name.
    skipped = FUNCTION_WORDS | {fold(word) for word in _asking_words()}
    tokens = [token for token in tokenize(search.question) if token.folded not in skipped]
    written = [search.question[token.start : token.end] for token in tokens]
    kinds = [
        search.question[token.start : token.end]
        for token in tokens
        if not any(name.start <= token.start < name.end for name in names_here)
    ]
    openings = _openings(search, {form for word in kinds for form in _forms(word)})
    everywhere = {fold(word) for word in title_words(search)}
    chosen = meant
    if not chosen and not openings:
        chosen = _near(search, {token.folded for token in tokens} - everywhere)
    records = search.entities.of(chosen)
    about = _about(search, [id_ for id_ in chosen if id_ in records])
    names: dict[str, str] = {}
    for id_ in about:
        names.setdefault(records[id_].name, about[id_])
    words = [*_capitalised(search.question)]
    words += [word for word in written if word[0].isupper() or word[0].isdigit()]
    lower = [word for word in written if word.islower()]
    words += [word for word in lower if word in _in_names(search, lower)]
    held = {*names, *openings}
    telling = [word for word in dict.fromkeys(words) if word not in held and fold(word) not in everywhere]
    return Offered(names, telling, openings)


def title_words(search: Search) -> list[str]:
    """Words in the titles or file names of most documents: they name all of them and tell nothing apart."""
    titles = [f"{d.title} {d.display}".replace("_", " ").replace(".", " ") for d in search.snapshot.documents()]
    words = Counter(word for title in titles for word in set(title.split()))
    return [word for word, count in words.items() if 2 * count > len(titles)]


def _near(search: Search, asked: Collection[str]) -> list[str]:
    """Entities near in meaning that share a word with the question which few of them have."""
    from ekr.extraction.names import tokenize
    from ekr.retrieval.methods import entity

    found = [hit.id for ranked in entity.find(search) for hit in ranked.hits]
    records = search.entities.of(found)
    own = {id_: {token.folded for token in tokenize(record.name)} for id_, record in records.items()}
    held = Counter(word for words in own.values() for word in words)
    telling = {word for word in asked if 0 < held[word] <= _FEW_NAMES}
    return [id_ for id_ in found if id_ in own and own[id_] & telling][:_MOST_ENTITIES]


def _openings(search: Search, forms: Collection[str]) -> dict[str, str]:
    """Those of the words with which at least three names of entities begin."""
    rows = _rows(
        search,
        "SELECT w.word, mode(e.labels[1]), count(*) FROM (SELECT unnest(?) AS word) w "
        "JOIN entities e ON starts_with(e.name, w.word || ' ') GROUP BY w.word HAVING count(*) >= 3 ORDER BY 3 DESC",
        sorted(forms),
    )
    return {word: f"{count} (most {label})" for word, label, count in rows}


def _in_names(search: Search, words: Collection[str]) -> set[str]:
    """Those of the words that stand in the name of an entity."""
    rows = _rows(
        search,
        "SELECT DISTINCT w.word FROM (SELECT unnest(?) AS word) w "
        "JOIN entities e ON list_contains(string_split(lower(e.name), ' '), w.word)",
        sorted(words),
    )
    return {row[0] for row in rows}


def _rows(search: Search, query: str, words: Sequence[str]) -> list[tuple[Any, ...]]:
    if not words:
        return []
    with search.snapshot.connection.cursor() as cursor:
        return cursor.execute(query, [list(words)]).fetchall()


def _about(search: Search, ids: Sequence[str]) -> dict[str, str]:
    """For each entity its label and which types join it with what, as patterns."""
    touching = search.graph.relations_of(ids)
    ends = {end for relation in touching for end in (relation.source_id, relation.target_id)}
    records = search.entities.of(ends | set(ids))
    labels = {id_: (record.labels or ("Entity",))[0] for id_, record in records.items()}
    said: dict[str, str] = {}
    for id_ in ids:
        steps = dict.fromkeys(
            f"-[:{r.type}]->({labels[r.target_id]})" if r.source_id == id_ else f"<-[:{r.type}]-({labels[r.source_id]})"
            for r in touching
            if id_ in (r.source_id, r.target_id)
            and r.type not in VAGUE_TYPES
            and {r.source_id, r.target_id} <= set(labels)
        )
        passages = ["<-[:MENTIONS]-(Chunk)", *(["<-[:DEFINES]-(Chunk)"] if records[id_].defined else [])]
        said[id_] = f"({labels[id_]}) {', '.join([*passages, *list(steps)[:_MOST_STEPS]])}"
    return said


def _forms(word: str) -> Iterable[str]:
    """The word as a name may begin with it: as written, capitalised, in the singular."""
    singular = word[:-1] if word.endswith("s") else word
    yield from dict.fromkeys((word, singular, word.capitalize(), singular.capitalize()))


def _capitalised(question: str) -> Iterable[str]:
    """Runs of capitalised words and numbers, joined by small words only between capitalised ones."""
    run: list[str] = []
    for word in [*question.replace("?", " ").replace(",", " , ").split(), ","]:
        bare = word.strip("\"'“”«»().;:!’")
        if bare[:1].isupper() or bare[:1].isdigit():
            run.append(bare)
            continue
        if len(run) > 1:
            yield " ".join(run)
        run = []


def _asking_words() -> list[str]:
    return files("ekr.retrieval").joinpath("prompts", "text2cypher_asking.txt").read_text(encoding="utf-8").split()
