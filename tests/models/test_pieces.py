"""The quick tokenizer gives exactly what the whole one gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from ekr.models import pieces
from tests.models.conftest import pulled

TEXT = """Les fournisseurs de systèmes d'IA à haut risque veillent à ce que leurs systèmes soient conformes.
Providers of high-risk AI systems shall ensure that their systems are compliant with the requirements.
"""
LIMIT = 64


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[pieces.PieceTokenizer, Any]:
    folder: Path = tmp_path_factory.mktemp("unigram")
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    specials = ["<s>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(vocab_size=200, special_tokens=specials, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator([TEXT], trainer)
    ends = [(token, tokenizer.token_to_id(token)) for token in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    tokenizer.save(str(folder / "tokenizer.json"))
    assert pieces.build(folder)
    tokenizer.enable_truncation(LIMIT)
    return pieces.PieceTokenizer(folder, LIMIT), tokenizer


WORDS = st.sampled_from([*TEXT.split(), "</s>", "<s>", "‰", "ﬁ", "e\u0301", "日本語", "  ", "\n"])
ANY = st.one_of(st.text(max_size=80), st.lists(WORDS, max_size=60).map(" ".join), st.lists(WORDS).map("".join))


@given(text=ANY)
@example("")
@example(" ")
@example("systèmes</s>systèmes")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300, deadline=None)
def test_ids_are_those_of_the_whole_tokenizer(small: tuple[pieces.PieceTokenizer, Any], text: str) -> None:
    quick, whole = small
    assert quick.encode(text) == whole.encode(text).ids


def test_a_word_piece_tokenizer_gets_no_table(tmp_path: Path) -> None:
    Tokenizer(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]")).save(str(tmp_path / "tokenizer.json"))
    assert not pieces.build(tmp_path)
    assert not (tmp_path / pieces.TABLE).exists()


@pytest.fixture(scope="module")
def e5() -> tuple[pieces.PieceTokenizer, Any]:
    folder = pulled("multilingual-e5-small").cache_dir / "multilingual-e5-small"
    whole = Tokenizer.from_file(str(folder / "tokenizer.json"))
    whole.enable_truncation(512)
    return pieces.PieceTokenizer(folder, 512), whole


@pytest.mark.models
@given(text=ANY)
@example('query: l\'article 6(1): "haut risque" -foo AND (bar')
@example("query: 高リスクのAIシステムとは何ですか？")
@example("query: " + "mot " * 2000)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
def test_ids_are_those_of_e5(e5: tuple[pieces.PieceTokenizer, Any], text: str) -> None:
    quick, whole = e5
    assert quick.encode(text) == whole.encode(text).ids
