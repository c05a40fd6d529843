"""The embedder in fastembed, its quick path for queries, and folders and endpoints in its place."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ekr.config import Settings
from ekr.errors import ModelError, ModelMissing
from ekr.models import load_embedder, load_tokenizer
from ekr.models.base import Embedder
from tests.models.conftest import Serve, pulled

PASSAGES = [
    "Charles Babbage designed the Analytical Engine, a mechanical general-purpose computer.",
    "Les tomates demandent beaucoup de soleil et un arrosage régulier.",
    "Ada Lovelace a publié des notes sur la machine analytique de Babbage en 1843.",
    "x",
    "Un texte répété sans fin. " * 400,
    "",
]


@pytest.fixture(scope="module")
def e5() -> Embedder:
    return load_embedder("multilingual-e5-small", pulled("multilingual-e5-small"))


@pytest.mark.models
def test_vectors_are_normalised_and_in_the_order_given(e5: Embedder) -> None:
    vectors = e5.embed_passages(PASSAGES)
    assert vectors.shape == (len(PASSAGES), 384) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    backwards = e5.embed_passages(PASSAGES[::-1])
    assert np.array_equal(backwards[::-1], vectors)


@pytest.mark.models
def test_a_vector_does_not_depend_on_its_neighbours(e5: Embedder) -> None:
    alone = e5.embed_passages(PASSAGES[:1])[0]
    assert np.array_equal(e5.embed_passages(PASSAGES)[0], alone)


@pytest.mark.models
def test_meaning_is_found_across_languages(e5: Embedder) -> None:
    query = e5.embed_query("Who wrote about Babbage's computer?")
    assert query.shape == (384,)
    scores = e5.embed_passages(PASSAGES[:3]) @ query
    assert scores[1] == scores.min()


@pytest.mark.models
@pytest.mark.parametrize("name", ["multilingual-e5-small", "all-minilm-l6-v2"])
def test_the_quick_query_path_gives_fastembeds_vectors(name: str) -> None:
    embedder: Any = load_embedder(name, pulled(name))
    vectors = embedder.embed_passages(PASSAGES)
    prefix = embedder.info.passage_prefix
    quick = np.array([embedder._queries.encode(prefix + text) for text in PASSAGES])
    assert ((vectors * quick).sum(axis=1) > 0.99999).all()


@pytest.mark.models
def test_no_passages_give_an_empty_table(e5: Embedder) -> None:
    assert e5.embed_passages([]).shape == (0, 384)


@pytest.mark.models
def test_a_query_loads_neither_fastembed_nor_the_whole_tokenizer() -> None:
    pulled("multilingual-e5-small")
    program = (
        "import sys\nfrom ekr.config import Settings\nfrom ekr.models import load_embedder, load_tokenizer\n"
        "load_tokenizer('multilingual-e5-small', Settings())\n"
        "load_embedder('multilingual-e5-small', Settings()).embed_query('question')\n"
        "print([m for m in ('fastembed', 'huggingface_hub', 'llama_cpp', 'onnx', 'httpx') if m in sys.modules])\n"
    )
    root = Path(__file__).resolve().parents[2]
    run = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


@pytest.mark.models
def test_tokens_are_counted_without_special_ones_and_beyond_the_models_length() -> None:
    tokenizer = load_tokenizer("multilingual-e5-small", pulled("multilingual-e5-small"))
    assert tokenizer.count(["", "mot", "mot mot", "mot " * 699 + "mot"]) == [0, 1, 2, 700]


@pytest.mark.models
def test_an_onnx_folder_of_the_users_replaces_the_default(tmp_path: Path) -> None:
    settings = pulled("all-minilm-l6-v2")
    folder = tmp_path / "my model"
    shutil.copytree(settings.cache_dir / "all-minilm-l6-v2", folder)
    (folder / "config.json").write_text('{"hidden_size": 384}')
    own = load_embedder(str(folder), settings)
    assert own.info.name == "my model" and len(own.info.sha256) == 64 and own.info.dimension == 384
    named = load_embedder("all-minilm-l6-v2", settings)
    assert np.allclose(own.embed_query("a question"), named.embed_query("a question"), atol=1e-6)
    assert load_tokenizer(str(folder), settings).count(["a question"]) == [2]


def test_a_missing_embedder_names_the_command(settings: Settings) -> None:
    message = "the model multilingual-e5-small is not on this machine; run: ekr models pull multilingual-e5-small"
    for load in (load_embedder, load_tokenizer):
        with pytest.raises(ModelMissing) as error:
            load("multilingual-e5-small", settings)
        assert str(error.value) == message


def test_a_generator_is_no_embedder(settings: Settings) -> None:
    with pytest.raises(ModelError, match="another kind"):
        load_embedder("qwen2.5-coder-1.5b", settings)


def test_a_folder_without_a_model_says_what_is_missing(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no model\.onnx"):
        load_embedder(str(tmp_path), settings)


def test_an_endpoint_embeds_in_order_and_gets_the_key(serve: Serve, tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []

    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        seen.append({"path": path, **body})
        rows = [{"index": i, "embedding": [float(len(t)), 3.0]} for i, t in enumerate(body["input"])]
        return 200, {"data": rows[::-1]}

    address = serve(answer)
    embedder = load_embedder(f"{address}#small", Settings(cache_dir=tmp_path, api_key="secret"))
    assert (embedder.info.dimension, embedder.info.name) == (2, f"{address}#small")
    vectors = embedder.embed_passages(["four", "", *["x" * 9] * 40])
    assert np.allclose(vectors[0], [0.8, 0.6]) and np.allclose(vectors[1], [0, 1])
    assert vectors.shape == (42, 2) and len(seen) == 3
    assert seen[0]["path"] == "/v1/embeddings" and seen[0]["model"] == "small"
    assert seen[0]["authorization"] == "Bearer secret"


@pytest.mark.parametrize(
    ("status", "content", "message"),
    [
        (401, {"error": {"message": "no such key"}}, "401: no such key; set EKR_API_KEY"),
        (404, b"<html>not here</html>", "404"),
        (200, {"data": []}, "is it an embedding model"),
        (200, b"not json", "not understood"),
        (200, {"data": [{"index": 0, "embedding": ["a"]}]}, "is it an embedding model"),
    ],
)
def test_a_failing_endpoint_is_one_line(
    serve: Serve, settings: Settings, status: int, content: Any, message: str
) -> None:
    with pytest.raises(ModelError) as error:
        load_embedder(serve(lambda *_: (status, content)), settings)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_a_server_that_is_not_there_is_named(settings: Settings) -> None:
    with pytest.raises(ModelError, match=r"http://127\.0\.0\.1:9/v1/embeddings cannot be reached"):
        load_embedder("http://127.0.0.1:9/v1", settings)


def test_a_password_in_an_address_is_refused_and_not_repeated(settings: Settings) -> None:
    with pytest.raises(ModelError) as error:
        load_embedder("http://me:secret@host/v1", settings)
    assert "secret" not in str(error.value)
