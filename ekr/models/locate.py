"""Find a pulled model on this machine, or say how to get it."""

from __future__ import annotations

from pathlib import Path

from ekr.config import Settings
from ekr.errors import ModelError, ModelMissing
from ekr.models.cache import folder_of, state_of
from ekr.models.registry import ModelEntry, Role, find, hub_entry


def folder_of_model(name: str, role: Role | None, settings: Settings) -> tuple[ModelEntry, Path]:
    """Entry and folder of a pulled model. Raises ModelMissing when it is absent or damaged, ModelError when unknown.

    With a role, an entry of another one is refused, except that any generator can re-rank and the reverse.
    """
    entry = hub_entry(name) if name.startswith("hf:") else find(name)
    causal = {"generator", "reranker"}
    if role and entry.role != role and not {role, entry.role} <= causal:
        raise ModelError(f"{entry.name} is a model of another kind ({entry.role}), not a {role}")
    folder = folder_of(settings.cache_dir, entry.name)
    state = state_of(folder)
    if state == "absent":
        raise ModelMissing(f"the model {entry.name} is not on this machine; run: ekr models pull {entry.name}")
    if state == "damaged":
        raise ModelMissing(f"the model {entry.name} is damaged; run: ekr models pull {entry.name}")
    return entry, folder


def language_data(name: str, settings: Settings) -> Path:
    """The folder that `spacy.load` opens, of `en_core_web_sm` or `fr_core_news_sm`. Raises ModelMissing."""
    entry, folder = folder_of_model(name, "language", settings)
    return folder / entry.main


def gguf_file(spec: str, role: Role, settings: Settings) -> Path:
    """The GGUF file of a registry name, a path or `hf:owner/repository/file`. Raises ModelError, ModelMissing."""
    path = Path(spec).expanduser()
    if not spec.startswith("hf:") and (path.suffix == ".gguf" or "/" in spec or "\\" in spec):
        if not path.is_file():
            raise ModelError(f"the model file {spec} does not exist; give the path of a .gguf file")
        return path.resolve()
    entry, folder = folder_of_model(spec, role, settings)
    return folder / entry.main
