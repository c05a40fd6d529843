"""Entities, relations, definition links, communities and keywords: pure functions over chunks."""

from __future__ import annotations

from ekr.extraction.base import Extractor, empty_documents
from ekr.extraction.communities import Community, find_communities
from ekr.extraction.graph import build_graph
from ekr.extraction.keywords import Keywords, generated_keywords, keywords
from ekr.extraction.llm import LlmExtractor
from ekr.extraction.nlp import PIPELINES, NlpExtractor
from ekr.extraction.question_names import lookup_in, names_in_question, question_keys
from ekr.extraction.records import (
    LABELS,
    Definition,
    Entity,
    Evidence,
    Graph,
    Link,
    Mention,
    RawEntity,
    RawExtraction,
    RawRelation,
    Relation,
    SearchName,
)
from ekr.extraction.reports import Finding, Report, report_on
from ekr.extraction.resolution import ResolutionSettings
from ekr.extraction.serialise import dump_definitions, dump_extraction, load_definitions, load_extraction
from ekr.extraction.structure import definitions_of

__all__ = [
    "LABELS",
    "PIPELINES",
    "Community",
    "Definition",
    "Entity",
    "Evidence",
    "Extractor",
    "Finding",
    "Graph",
    "Keywords",
    "Link",
    "LlmExtractor",
    "Mention",
    "NlpExtractor",
    "RawEntity",
    "RawExtraction",
    "RawRelation",
    "Relation",
    "Report",
    "ResolutionSettings",
    "SearchName",
    "build_graph",
    "definitions_of",
    "dump_definitions",
    "dump_extraction",
    "empty_documents",
    "find_communities",
    "generated_keywords",
    "keywords",
    "load_definitions",
    "load_extraction",
    "lookup_in",
    "names_in_question",
    "question_keys",
    "report_on",
]
