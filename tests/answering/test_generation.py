from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ekr.answering.generation import collect, loop_from, repeated_from, without_torn_end


def collected(text: str, *, cited: bool = True, step: int = 3) -> str:
    words = [text[start : start + step] for start in range(0, len(text), step)]
    return collect(words, lambda piece: None, cited=cited)


def by_words(text: str) -> str:
    first, *rest = text.split(" ")
    return collect([first, *(f" {word}" for word in rest)], lambda piece: None, cited=True)


def test_a_sentence_that_was_said_before_ends_the_answer() -> None:
    said = "The fee is 40 crowns a year. [1] Students pay half of it. [2] "
    assert collected(said + "The fee is 40 crowns a year. [3] And more. [1]", step=1) == said


def test_an_item_that_differs_in_its_number_alone_ends_the_answer() -> None:
    said = "1. The fee is 40 crowns a year. [1]\n"
    assert collected(said + "2. The fee is 40 crowns a year. [1]\n3. More. [1]", step=1) == said


def test_short_sentences_may_be_said_twice() -> None:
    assert repeated_from("Yes, it is. [1] And so: Yes, it is. [2]") is None


def test_a_model_in_a_loop_inside_a_sentence_is_stopped_at_the_second_round() -> None:
    round_ = "and for systems that are parts of devices"
    text = by_words(f"It sets 15 days for systems {round_} {round_} {round_} {round_} [1]")
    assert text == f"It sets 15 days for systems {round_} …"


def test_an_enumeration_with_like_members_is_no_loop() -> None:
    text = (
        "systems used by authorities to assess the risk of fraud, systems used by authorities to assess the risk of "
        "flight, systems used by authorities to assess the reliability of evidence"
    )
    assert all(loop_from(text[:end]) is None for end in range(len(text)))


def test_a_loop_is_found_far_into_a_long_text() -> None:
    before = " ".join(f"word{n}" for n in range(900))
    text = f"{before} a b c d e f g a b c d e f g"
    assert loop_from(text) == len(before) + len(" a b c d e f g ")


def test_an_answer_that_ran_out_of_tokens_ends_in_an_ellipsis() -> None:
    assert without_torn_end("The fee is 40 crowns a ye") == "The fee is 40 crowns a …"
    assert without_torn_end("The fee is 40 crowns. [1]\n2. Stu") == "The fee is 40 crowns. [1] …"
    assert without_torn_end("The fee is 40 crowns. [1") == "The fee is 40 crowns."
    assert without_torn_end("The fee is 40 crowns.") == "The fee is 40 crowns."


def test_a_whole_answer_is_left_as_it_is() -> None:
    assert collected("The fee is 40 crowns a year. [1]") == "The fee is 40 crowns a year. [1]"
    assert collected("Paris", cited=False) == "Paris"


def test_every_piece_that_is_kept_was_shown_as_it_came() -> None:
    shown: list[str] = []
    text = collect(["The fee", " is 40", ". [1]"], shown.append, cited=True)
    assert "".join(shown) == text


@given(st.text(max_size=80), st.booleans(), st.integers(1, 9))
def test_nothing_is_added_but_an_ellipsis(text: str, cited: bool, step: int) -> None:
    kept = collected(text, cited=cited, step=step).removesuffix(" …")
    assert text.startswith(kept) or text.strip().startswith(kept.strip())
