"""Find the generator that a specification names: a registry name, a GGUF path, a hub reference or an endpoint."""

from __future__ import annotations

from ekr.config import Settings
from ekr.models.base import Generator
from ekr.models.http_client import Endpoint, is_endpoint
from ekr.models.locate import gguf_file


def load_generator(spec: str, settings: Settings) -> Generator:
    """Open a generator; a GGUF file is loaded at the first use. Raises ModelError, ModelMissing."""
    if is_endpoint(spec):
        from ekr.models.http_generator import HttpGenerator

        return HttpGenerator(Endpoint(spec, settings.api_key))
    from ekr.models.llama_generator import LlamaGenerator

    return LlamaGenerator(gguf_file(spec, "generator", settings), spec, settings.threads)
