"""Words and the numbers they get."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webagent.models.builtin.vocabulary import Vocabulary, Word, join, keys_of, split

TEXTS = st.text(max_size=60) | st.text(alphabet='aB3 _-.,"“é\n\t', max_size=60)


@settings(deadline=None)
@given(TEXTS)
def test_a_text_comes_back_with_its_white_space_evened_out(text: str) -> None:
    assert join(split(text, 1000)) == " ".join(text.split())


@settings(deadline=None)
@given(TEXTS, st.integers(1, 12))
def test_a_limit_takes_the_first_words_and_no_others(text: str, limit: int) -> None:
    assert split(text, limit) == split(text, 1000)[:limit]


def test_runs_of_letters_and_digits_stay_whole_and_punctuation_stands_alone() -> None:
    assert [word.text for word in split("3rd, item_2: (ok)!")] == [
        *("3rd", ",", "item", "_", "2", ":", "(", "ok", ")", "!")
    ]


def test_words_are_compared_without_their_capitals() -> None:
    assert Word("Submit", False).key == Word("SUBMIT", True).key == "submit"
    assert keys_of("Click THE Button") == ("click", "the", "button")


def test_numbers_stay_the_same_when_the_vocabulary_grows() -> None:
    vocabulary = Vocabulary(("<a>", "<b>"), ["old"], capacity=8)
    before = {word: vocabulary.id(word) for word in ("<a>", "<b>", "old")}
    assert vocabulary.grow([["new", "old"], ["new"]], at_least=2) == 1
    assert {word: vocabulary.id(word) for word in before} == before
    assert vocabulary.word(vocabulary.id("new")) == "new"


def test_a_vocabulary_made_again_from_its_words_has_the_same_numbers() -> None:
    grown = Vocabulary(("<a>",), capacity=50)
    grown.grow([["x", "state:on", "button/button"], ["y", "x"]], at_least=1)
    again = Vocabulary(grown.fixed, grown.words, 50)
    assert [again.id(word) for word in grown.words] == [grown.id(word) for word in grown.words]
    assert (again.text_ids, again.kind_ids) == (grown.text_ids, grown.kind_ids)


def test_frequent_words_come_first_and_rare_ones_not_at_all() -> None:
    vocabulary = Vocabulary((), capacity=3)
    added = vocabulary.grow([["b", "a", "rare"], ["a", "b"], ["c", "a"], ["c"]], at_least=2)
    assert (added, vocabulary.words) == (2, ["a", "b"])


def test_a_word_counts_once_for_each_text() -> None:
    assert Vocabulary(()).grow([["echo", "echo", "echo"]], at_least=2) == 0


def test_only_words_that_a_text_can_hold_are_spoken() -> None:
    vocabulary = Vocabulary(("op:click",))
    vocabulary.grow([["hello", "?", "state:checked", "button/button", "text"]], at_least=1)
    assert {vocabulary.word(i) for i in vocabulary.text_ids} == {"hello", "?", "text"}
    assert {vocabulary.word(i) for i in vocabulary.kind_ids} == {"state:checked", "button/button"}


def test_what_is_not_known_has_the_number_of_the_unknown_word() -> None:
    vocabulary = Vocabulary(("<a>",))
    assert vocabulary.id("never seen") == Vocabulary.UNKNOWN
    assert vocabulary.word(Vocabulary.UNKNOWN) == vocabulary.word(99) == ""


def test_too_many_words_are_refused() -> None:
    with pytest.raises(ValueError, match="4 words do not fit"):
        Vocabulary(("<a>",), ["b", "c"], capacity=3)
