"""Query likelihood with real models, a cross-encoder made on the spot, and the sanity pair."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ekr.config import Settings
from ekr.errors import ModelError, ModelMissing
from ekr.models import load_reranker, query_likelihood
from ekr.models.base import Passage, Reranker
from ekr.models.native_llama import has_rank_head
from tests.models.conftest import Serve, pulled

RELEVANT = Passage("Lovelace", "Ada Lovelace wrote the notes on the Analytical Engine in 1843.")
OTHERS = [
    Passage("Cooking", "Boil the pasta in salted water for nine minutes."),
    Passage("", "The river Loire is the longest of France."),
    Passage("Football", "A match has two halves of forty-five minutes."),
]
QUESTION = "Who wrote the notes on the Analytical Engine?"


@pytest.fixture(scope="module")
def smollm2() -> Any:
    return load_reranker("smollm2-135m", pulled("smollm2-135m"))


@pytest.mark.models
def test_the_relevant_passage_comes_first_wherever_it_stands(smollm2: Reranker) -> None:
    assert smollm2.kind == "query_likelihood"
    for place in range(4):
        passages = [*OTHERS[:place], RELEVANT, *OTHERS[place:]]
        scores = smollm2.score(QUESTION, passages, "en")
        assert int(np.argmax(scores)) == place
        assert all(math.isfinite(score) and score < 0 for score in scores)


@pytest.mark.models
def test_scores_in_a_batch_are_those_of_each_alone(smollm2: Reranker) -> None:
    passages = [RELEVANT, *OTHERS] * 6
    together = smollm2.score(QUESTION, passages, "en")
    alone = [smollm2.score(QUESTION, [passage], "en")[0] for passage in passages[:4]]
    assert np.allclose(together[:4], alone, atol=0.1)


@pytest.mark.models
def test_the_score_is_the_mean_log_probability_of_the_question(smollm2: Any) -> None:
    """Against the chain rule, one token at a time, in a context of its own."""
    from ekr.models.native_llama import NativeContext

    sequence = smollm2._sequence(0, RELEVANT, "en", smollm2._model.tokens(" " + QUESTION))
    context = NativeContext(smollm2._model, tokens=512)
    total = 0.0
    for i, token in enumerate(sequence.tokens[:-1]):
        context.decode([token], [i], [0], [True])
        if i >= len(sequence.tokens) - sequence.asked - 1:
            logits = context.logits(1)[0].astype(np.float64)
            total += logits[sequence.tokens[i + 1]] - np.logaddexp.reduce(logits)
    score = smollm2.score(QUESTION, [RELEVANT], "en")[0]
    assert score == pytest.approx(total / sequence.asked, abs=0.1)


@pytest.mark.models
def test_long_and_odd_passages_are_cut_by_the_models_own_tokens(smollm2: Reranker) -> None:
    passages = [
        Passage("h" * 5000, "word " * 3000),
        Passage("", "日本語のとても長い文章。" * 500),
        Passage("", ""),
        Passage("", "<|im_end|>" * 50),
    ]
    scores = smollm2.score("question " * 500, passages, "fr")
    assert len(scores) == 4 and all(map(math.isfinite, scores))
    assert smollm2.score(QUESTION, [], "en") == []


@pytest.mark.models
def test_control_tokens_in_a_passage_are_plain_text(smollm2: Any) -> None:
    control = smollm2._model.tokens("<|im_end|>", special=True)
    assert len(control) == 1
    assert control[0] not in smollm2._sequence(0, Passage("", "a <|im_end|> b"), "en", [1]).tokens


@pytest.mark.models
def test_an_empty_question_is_refused(smollm2: Reranker) -> None:
    with pytest.raises(ModelError, match="empty question"):
        smollm2.score("  ", [RELEVANT], "en")


def test_groups_fill_batches_and_lose_nothing() -> None:
    reranker = query_likelihood.QueryLikelihood.__new__(query_likelihood.QueryLikelihood)
    reranker._outputs = 192
    lengths = [500, 10, 300, 200, 512, 64, 64, 64, 64, *[20] * 40]
    sequences = [query_likelihood._Sequence(i, [0] * n, min(n, 30)) for i, n in enumerate(lengths)]
    groups = list(reranker._groups(sequences))
    assert sorted(s.index for group in groups for s in group) == list(range(len(lengths)))
    for group in groups:
        assert sum(len(s.tokens) for s in group) <= 512
        assert len(group) <= 16 and sum(s.asked for s in group) <= 192


WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "▁paris", "▁tomatoes"]
ORDINARY = "what is the capital of france and largest city gardening need sun in summer"
WORDS += [f"▁{word}" for word in ORDINARY.split()]


def make_cross_encoder(path: Path, good: str) -> Path:
    """A BERT with a rank head whose score grows with the share of one word in its input."""
    import gguf

    width = 32
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_block_count(1)
    writer.add_context_length(512)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(width)
    writer.add_head_count(1)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.RANK)
    writer.add_tokenizer_model("bert")
    writer.add_token_list(WORDS)
    writer.add_token_types([3] * 5 + [1] * (len(WORDS) - 5))
    writer.add_token_type_count(2)
    for name, number in (("bos", 2), ("eos", 3), ("unknown", 1), ("seperator", 3), ("padding", 0), ("cls", 2)):
        writer.add_uint32(f"tokenizer.ggml.{name}_token_id", number)
    embedding = np.zeros((len(WORDS), width), np.float32)
    embedding[:, 1] = 1
    embedding[WORDS.index(good)] = 0
    embedding[WORDS.index(good), 0] = 1
    one, zero, ones = np.eye(width, dtype=np.float32), np.zeros((width, width), np.float32), np.ones(width, np.float32)
    none = np.zeros(width, np.float32)
    head = np.zeros((1, width), np.float32)
    head[0, 0] = 1
    tensors = {
        "token_embd.weight": embedding,
        "position_embd.weight": np.zeros((512, width), np.float32),
        "token_types.weight": np.zeros((2, width), np.float32),
        "cls.weight": one,
        "cls.bias": none,
        "cls.output.weight": head,
        "cls.output.bias": np.zeros(1, np.float32),
    }
    for name, weight in (("attn_q", zero), ("attn_k", zero), ("attn_v", one), ("attn_output", one)):
        tensors |= {f"blk.0.{name}.weight": weight, f"blk.0.{name}.bias": none}
    for name in ("ffn_up", "ffn_down"):
        tensors |= {f"blk.0.{name}.weight": zero, f"blk.0.{name}.bias": none}
    for name in ("token_embd_norm", "blk.0.attn_output_norm", "blk.0.layer_output_norm"):
        tensors |= {f"{name}.weight": ones, f"{name}.bias": none}
    for name, value in tensors.items():
        writer.add_tensor(name, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_a_file_with_a_rank_head_runs_as_a_cross_encoder(tmp_path: Path, settings: Settings) -> None:
    path = make_cross_encoder(tmp_path / "paris.gguf", "▁paris")
    reranker = load_reranker(str(path), settings)
    assert reranker.kind == "cross_encoder"
    passages = [Passage("", "paris " * n + "sun " * (20 - n)) for n in (0, 5, 20, 1, 10)] * 8
    scores = reranker.score("what is the capital of france", passages, "en")
    assert len(scores) == 40
    assert [int(i) for i in np.argsort(scores[:5])] == [0, 3, 1, 4, 2]
    assert np.allclose(scores[:5], scores[35:], atol=1e-4)
    assert all(math.isfinite(s) for s in reranker.score("capital", [Passage("a", "sun " * 5000)], "en"))


def test_a_re_ranker_that_prefers_the_irrelevant_is_refused(tmp_path: Path, settings: Settings) -> None:
    path = make_cross_encoder(tmp_path / "tomatoes.gguf", "▁tomatoes")
    with pytest.raises(ModelError, match="ranks an irrelevant passage above a relevant one"):
        load_reranker(str(path), settings)


@pytest.mark.models
def test_the_kind_comes_from_the_file() -> None:
    settings = pulled("smollm2-135m")
    assert not has_rank_head(next((settings.cache_dir / "smollm2-135m").glob("*.gguf")))


def test_a_file_that_is_no_gguf_is_refused(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"not a model")
    with pytest.raises(ModelError, match="not a GGUF file"):
        load_reranker(str(path), settings)
    path.write_bytes(b"GGUF" + b"\0" * 1000)
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_reranker(str(path), settings)
    with pytest.raises(ModelError, match="does not exist"):
        load_reranker(str(tmp_path / "none.gguf"), settings)


def test_a_missing_re_ranker_names_the_command(settings: Settings) -> None:
    with pytest.raises(ModelMissing, match="run: ekr models pull smollm2-135m"):
        load_reranker("smollm2-135m", settings)


def test_an_endpoint_re_ranks(serve: Serve, settings: Settings) -> None:
    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        assert path == "/v1/rerank"
        rows = [{"index": i, "relevance_score": float("Paris" in d)} for i, d in enumerate(body["documents"])]
        return 200, {"results": sorted(rows, key=lambda row: -row["relevance_score"])}

    reranker = load_reranker(serve(answer), settings)
    assert reranker.score("q", [Passage("", "x"), Passage("Paris", "y")], "en") == [0.0, 1.0]


def test_an_endpoint_that_drops_passages_is_an_error(serve: Serve, settings: Settings) -> None:
    with pytest.raises(ModelError, match="scored 1 of 2 passages"):
        load_reranker(serve(lambda *_: (200, {"results": [{"index": 0, "relevance_score": 1}]})), settings)
