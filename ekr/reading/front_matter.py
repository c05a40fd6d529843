"""Front matter of Markdown: the YAML or TOML block at the top of a file, as flat metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ekr.reading.document import MetadataValue
from ekr.text import clean, collapse

_BLOCK = re.compile(r"\A(?P<fence>---|\+\+\+)[ \t]*\n(?P<body>.*?)(?:^|\n)(?P=fence)[ \t]*(?:\n|\Z)", re.DOTALL)
_MAX_CHARACTERS = 64 * 1024
_MAX_VALUE = 2_000
_MAX_DEPTH = 40


def split_front_matter(text: str) -> tuple[dict[str, MetadataValue], str, list[str]]:
    """Metadata, the text after the block, and warnings. Nothing is executed; aliases are not followed.

    A block that does not parse stays in the text, with a warning.
    """
    match = _BLOCK.match(text)
    if match is None or len(match["body"]) > _MAX_CHARACTERS:
        return {}, text, []
    try:
        values = _toml(match["body"]) if match["fence"] == "+++" else _yaml(match["body"])
    except (ValueError, RecursionError) as error:
        return {}, text, [f"front matter ignored: {collapse(str(error))[:120]}"]
    if values is None:
        # "---" around prose is a thematic break, not front matter.
        return {}, text, []
    return _flat(values), text[match.end() :], []


def _toml(body: str) -> Mapping[str, Any]:
    import tomllib

    return tomllib.loads(body)


def _yaml(body: str) -> Mapping[str, Any] | None:
    import yaml

    try:
        depth = 0
        for event in yaml.parse(body, Loader=yaml.SafeLoader):
            # Aliases let a few lines unfold into gigabytes, and each level makes the scanner slower.
            if isinstance(event, yaml.AliasEvent):
                raise ValueError("YAML aliases are not supported")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MAX_DEPTH:
                raise ValueError(f"nested more than {_MAX_DEPTH} levels deep")
        values = yaml.safe_load(body)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    return values if isinstance(values, Mapping) else None


def _flat(values: Mapping[str, Any]) -> dict[str, MetadataValue]:
    metadata: dict[str, MetadataValue] = {}
    for key, value in values.items():
        name = collapse(clean(str(key)))
        if value is None or not name:
            continue
        if isinstance(value, bool | int):
            metadata[name] = value
        elif isinstance(value, float):
            # Stores and JSON have no NaN or infinity.
            metadata[name] = value if value - value == 0 else str(value)
        elif isinstance(value, list | tuple):
            metadata[name] = clean(", ".join(str(item) for item in value))[:_MAX_VALUE]
        else:
            metadata[name] = clean(str(value))[:_MAX_VALUE]
    return metadata
