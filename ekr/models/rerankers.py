"""Find the re-ranker that a specification names; a GGUF file's own contents decide how it is run."""

from __future__ import annotations

import math

from ekr.config import Settings
from ekr.errors import ModelError
from ekr.models.base import Passage, Reranker
from ekr.models.http_client import Endpoint, is_endpoint
from ekr.models.locate import gguf_file

_QUESTION = "What is the capital of France?"
_RELEVANT = Passage("France", "Paris is the capital and largest city of France.")
_IRRELEVANT = Passage("Gardening", "Tomatoes need plenty of sun and regular watering in summer.")


def load_reranker(spec: str, settings: Settings) -> Reranker:
    """Load a re-ranker and try it on a sanity pair. Raises ModelError, ModelMissing.

    A file with a classification head is a cross-encoder; any other causal model scores by query likelihood.
    """
    reranker = _open(spec, settings)
    relevant, irrelevant = reranker.score(_QUESTION, [_RELEVANT, _IRRELEVANT], "en")
    if not (math.isfinite(relevant) and math.isfinite(irrelevant) and relevant > irrelevant):
        raise ModelError(
            f"{spec} ranks an irrelevant passage above a relevant one ({irrelevant:.3g} against {relevant:.3g}): "
            "it is no working re-ranker; choose another one"
        )
    return reranker


def _open(spec: str, settings: Settings) -> Reranker:
    if is_endpoint(spec):
        from ekr.models.http_reranker import HttpReranker

        return HttpReranker(Endpoint(spec, settings.api_key))
    path = gguf_file(spec, "reranker", settings)
    from ekr.models.native_llama import has_rank_head

    if has_rank_head(path):
        from ekr.models.cross_encoder import CrossEncoder

        return CrossEncoder(path, spec, settings.threads)
    from ekr.models.query_likelihood import QueryLikelihood

    return QueryLikelihood(path, spec, settings.threads)
