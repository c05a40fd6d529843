"""Words that decide what may be an entity: spaCy's labels in ours, words that never open or make up a name."""

from __future__ import annotations

from ekr.extraction.words import word_list

# spaCy's English model uses OntoNotes labels, the French one four of its own. A label not listed is no entity.
SPACY_LABELS = {
    "PERSON": "Person",
    "PER": "Person",
    "ORG": "Organization",
    "GPE": "Place",
    "LOC": "Place",
    "FAC": "Place",
    "WORK_OF_ART": "Work",
    "EVENT": "Event",
    "LAW": "Law",
    "PRODUCT": "Product",
    "DATE": "Date",
    "MISC": "Other",
}

# Adjectives and the like that open a noun phrase without being part of a term.
WEAK_OPENERS = word_list("weak_openers")

# Nouns that head phrases about a text, a time or an amount, and not about its subject.
WEAK_HEADS = word_list("weak_heads")

# A proper name never opens or closes with one of these.
FUNCTION_WORDS = word_list("function_words")

# Capitalised words that are no names of things: they open list items, headings and references.
NOT_NAMES = word_list("not_names")

HONORIFICS = word_list("honorifics")
