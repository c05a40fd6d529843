from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ekr.answering.grammar import answer_grammar, dotted_words


def test_only_sources_in_range_can_be_cited() -> None:
    assert 'id ::= "1" | "2" | "3"\n' in answer_grammar(3)


def test_there_is_no_citing_answer_without_sources() -> None:
    with pytest.raises(ValueError, match="at least one source"):
        answer_grammar(0)


def test_words_with_a_full_stop_that_ends_no_sentence_are_those_of_the_excerpts() -> None:
    assert dotted_words("See 6.1 and e.g. 6.1 again. The end.") == ["6.1", "e.g."]
    assert '"6.1"' in answer_grammar(1, dotted=["6.1"])
    text = (
        "J. R. Pemberton of Acme Inc. and J.-P. Dumont paid $3.5 million, then €4.75, in the U.S. at 9 a.m. It is over."
    )
    assert set(dotted_words(text)) >= {"J.", "R.", "Inc.", "J.-P.", "$3.5", "€4.75", "U.S.", "a.m."}
    assert "over." not in dotted_words(text)


def compiles(grammar: str) -> bool:
    llama_cpp = pytest.importorskip("llama_cpp")
    sampler = llama_cpp.llama_sampler_init_grammar(None, grammar.encode(), b"root")
    if not sampler:
        return False
    llama_cpp.llama_sampler_free(sampler)
    return True


@settings(deadline=None)
@given(st.text(max_size=30), st.integers(1, 40), st.booleans())
def test_llama_cpp_accepts_every_grammar(start: str, sources: int, ideographs: bool) -> None:
    assert compiles(
        answer_grammar(sources, start=start, dotted=["6.1", 'a"b.c', "x\\y.z", "U.S.", "J."], ideographs=ideographs)
    )


def test_llama_cpp_refuses_a_grammar_that_is_none() -> None:
    assert not compiles("root ::= (")
