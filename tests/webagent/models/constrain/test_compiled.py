"""Constraints as masks: what may come, what never may, and what is wrong with bad ones."""

import json
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.tiny_models import SPECIAL, tokenizer
from tests.webagent.models.constrain.sampling import grammar, text_of, walk, walk_towards
from webagent.errors import ModelError, SetupError
from webagent.models import Constraint
from webagent.models.constrain import (
    _KNOWN,
    _MOST_CONSTRAINTS,
    _MOST_TOKENIZERS,
    compile_constraint,
)

FREE = grammar('start: "say " TEXT', r"TEXT: /[^\x00-\x1f]{1,60}/")
YES_OR_NO = grammar('start: "yes" | "no"')


def replies(constraint: Constraint, words, count: int = 30, **options) -> list[str]:
    """Texts of random walks through the masks."""
    make = compile_constraint(constraint, words, **options)
    rng = np.random.default_rng(0)
    return [text_of(words, walk(make, rng)) for _ in range(count)]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=8, unique=True))
def test_every_reply_is_one_of_the_choices_and_every_choice_can_be_said(choices):
    assert set(replies(Constraint(choices=tuple(choices)), tokenizer(), 200)) <= set(choices)
    words = tokenizer()
    for choice in choices:
        alone = compile_constraint(Constraint(choices=(choice,)), words)
        matcher = compile_constraint(Constraint(choices=tuple(choices)), words)()
        for token in walk(alone, np.random.default_rng(0)):
            matcher.accept(token)
        assert matcher.is_complete


def test_a_choice_that_begins_another_may_end_or_go_on():
    both = Constraint(choices=("click(1)", "click(1)1", "click(12)"))

    assert set(replies(both, tokenizer(), 100)) == set(both.choices)


def test_a_choice_has_one_spelling_the_tokenizers_own():
    words = tokenizer()
    text = "Action: click(12)"
    ids = walk(compile_constraint(Constraint(choices=(text,)), words), np.random.default_rng(0))

    assert ids == [*words(text, add_special_tokens=False)["input_ids"], words.eos_token_id]


def test_a_choice_that_names_a_special_token_is_spelled_in_pieces():
    words = tokenizer()
    words.add_tokens(["<tool>"])
    for name in ("<image>", "<tool>"):
        make = compile_constraint(Constraint(choices=(f"click {name}{name}",)), words)
        ids = walk(make, np.random.default_rng(0))
        assert text_of(words, ids) == f"click {name}{name}"
        assert words.convert_tokens_to_ids(name) not in ids


def test_free_text_never_holds_a_special_token_nor_one_added_by_name():
    words = tokenizer()
    words.add_tokens(["<tool_call>", "[IMG]", "    "])
    marks = words.convert_tokens_to_ids([*SPECIAL, "<tool_call>", "[IMG]"])
    make = compile_constraint(FREE, words)
    rng = np.random.default_rng(0)

    for _ in range(20):
        matcher = make()
        while not matcher.is_complete:
            mask = matcher.mask()
            ends = mask[words.eos_token_id]
            assert not mask[[id for id in marks if id != words.eos_token_id]].any()
            token = int(rng.choice(np.flatnonzero(mask)))
            assert ends or token != words.eos_token_id
            matcher.accept(token)
    assert make().mask().any()


def test_white_space_added_by_name_is_text():
    words = tokenizer()
    words.add_tokens(["        "])
    blank = words.convert_tokens_to_ids("        ")

    assert compile_constraint(grammar("start: TEXT", "TEXT: /[ a-z]+/"), words)().mask()[blank]


@pytest.mark.parametrize("constraint", [FREE, YES_OR_NO, Constraint(choices=("yes", "yes!"))])
def test_the_reply_may_end_exactly_where_it_is_whole(constraint):
    words = tokenizer()
    matcher = compile_constraint(constraint, words)()
    assert not matcher.mask()[words.eos_token_id]
    with pytest.raises(ModelError, match="not allowed here"):
        matcher.accept(words.eos_token_id)

    ids = walk(compile_constraint(constraint, words), np.random.default_rng(3))
    for token in ids[:-1]:
        matcher.accept(token)
    assert matcher.mask()[words.eos_token_id]
    assert not matcher.is_complete
    matcher.accept(words.eos_token_id)
    assert matcher.is_complete
    assert not matcher.mask().any()
    with pytest.raises(ModelError, match="after the reply had ended"):
        matcher.accept(ids[0])


@pytest.mark.parametrize("constraint", [FREE, Constraint(choices=("yes", "no"))])
def test_masks_are_as_wide_as_the_logits(constraint):
    words = tokenizer()
    narrow = compile_constraint(constraint, words)().mask()
    wide = compile_constraint(constraint, words, width=len(words) + 51)().mask()

    assert narrow.shape == (len(words),)
    assert wide.shape == (len(words) + 51,)
    assert wide.dtype == np.bool_
    assert (wide[: len(words)] == narrow).all()
    assert not wide[len(words) :].any()


@pytest.mark.parametrize("constraint", [FREE, Constraint(choices=("yes", "no"))])
def test_several_ids_may_end_a_reply(constraint):
    words = tokenizer()
    ends = words.convert_tokens_to_ids(["<|end|>", "<|user|>"])
    make = compile_constraint(constraint, words, ends=ends)
    rng = np.random.default_rng(0)

    assert {walk(make, rng)[-1] for _ in range(40)} == set(ends)


def test_a_mask_may_be_written_on_by_whoever_asked_for_it():
    words = tokenizer()
    for constraint in (FREE, Constraint(choices=("yes", "no"))):
        matcher = compile_constraint(constraint, words)()
        matcher.mask()[:] = True
        assert 0 < matcher.mask().sum() < len(words)
        with pytest.raises(ModelError, match="not allowed here"):
            matcher.accept(words.eos_token_id)


def test_an_id_outside_the_mask_is_refused_even_where_its_text_would_fit():
    words = tokenizer()
    matcher = compile_constraint(grammar('start: "Action: click(1)"'), words)()
    other_spelling = words.convert_tokens_to_ids("A")
    assert not matcher.mask()[other_spelling]

    with pytest.raises(ModelError, match="not allowed here"):
        matcher.accept(other_spelling)
    with pytest.raises(ModelError, match="not allowed here"):
        matcher.accept(10**6)


def test_tokens_of_more_than_32_bytes_are_left_out_but_where_nothing_else_can_come():
    words = tokenizer(vocabulary=272, lines=(" " * 4096,) * 2)
    lengths = [len(words.convert_ids_to_tokens(id)) for id in range(len(words))]
    long = [id for id, length in enumerate(lengths) if length == 64]
    matcher = compile_constraint(grammar("start: TEXT", r"TEXT: / +[a-z]?/"), words)()
    spaces = {lengths[id] for id in np.flatnonzero(matcher.mask())}
    assert len(long) == 1
    assert max(spaces) == 32

    demanded = compile_constraint(grammar(f'start: "{" " * 64}"'), words)
    assert walk(demanded, np.random.default_rng(0)) == [*long, words.eos_token_id]


def test_a_text_in_bytes_is_whole_text():
    words = tokenizer()
    wide = [id for id in range(len(words)) if words.convert_ids_to_tokens(id)[0] > "~"]

    text = text_of(words, walk_towards(compile_constraint(FREE, words), wide, 300))
    assert "�" not in text
    assert len(text) == len("say ") + 60


def test_one_grammar_is_followed_in_many_threads():
    words = tokenizer()
    make = compile_constraint(FREE, words)
    alone = [walk(make, np.random.default_rng(seed)) for seed in range(8)]
    together: dict[int, list[int]] = {}

    def follow(seed: int) -> None:
        together[seed] = walk(compile_constraint(FREE, words), np.random.default_rng(seed))

    threads = [threading.Thread(target=follow, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [together[seed] for seed in range(8)] == alone


def test_what_was_compiled_is_KNOWN_within_bounds():
    words = tokenizer()
    for number in range(2 * _MOST_CONSTRAINTS):
        compile_constraint(Constraint(choices=(f"click({number})",)), words)
    (kept,) = [kept for kept in _KNOWN.values() if kept.vocabulary.tokenizer is words]
    assert len(kept.starts) == _MOST_CONSTRAINTS
    start = kept.starts[Constraint(choices=(f"click({number})",))]
    compile_constraint(Constraint(choices=(f"click({number})",)), words)
    assert kept.starts[Constraint(choices=(f"click({number})",))] is start

    for _ in range(2 * _MOST_TOKENIZERS):
        compile_constraint(YES_OR_NO, tokenizer())
    assert len(_KNOWN) == _MOST_TOKENIZERS


def test_a_token_added_later_is_known():
    words = tokenizer()
    compile_constraint(FREE, words)
    words.add_tokens(["<tool_call>"])

    assert compile_constraint(FREE, words)().mask().shape == (len(words),)


@pytest.mark.parametrize(
    ("constraint", "reason"),
    [
        (grammar("start: missing"), "rejects the grammar.*missing"),
        (grammar('start: "a'), "rejects the grammar.*lexer error"),
        (grammar("start: /(/"), "rejects the grammar.*unclosed group"),
        (Constraint(choices=("yes", "")), "a choice is empty"),
    ],
)
def test_a_constraint_that_is_none_is_named_with_the_reason(constraint, reason):
    with pytest.raises(ModelError, match=reason):
        compile_constraint(constraint, tokenizer())


def word_pieces():
    """A tokenizer that knows a few words and nothing else."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    known = {"[UNK]": 0, "yes": 1, "no": 2, "[SEP]": 3}
    made = Tokenizer(models.WordPiece(known, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    return PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="[UNK]", eos_token="[SEP]", name_or_path="org/pieces"
    )


def few_letters(alphabet=()):
    """A byte-level tokenizer that was trained with a part of its alphabet."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        special_tokens=["<end>"], initial_alphabet=list(alphabet), show_progress=False
    )
    made.train_from_iterator(["yes or no"], trainer)
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<end>")


def falls_back(leads: bool):
    """A tokenizer that spells what it does not know in bytes, and may put a space in front."""
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    known = ["<unk>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *"▁Actionclk:(1"]
    known = [*dict.fromkeys(known), "▁A", "ti"]
    first = [{"type": "Prepend", "prepend": "▁"}] * leads
    last = [{"type": "Strip", "content": " ", "start": 1, "stop": 0}] * leads
    space = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    spaced = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
    model = {
        "type": "BPE",
        "vocab": {piece: id for id, piece in enumerate(known)},
        "merges": [["▁", "A"], ["t", "i"]],
        "unk_token": "<unk>",
        "fuse_unk": True,
        "byte_fallback": True,
    }
    described = Tokenizer.from_str(
        json.dumps(
            {
                "version": "1.0",
                "added_tokens": [],
                "normalizer": {"type": "Sequence", "normalizers": [*first, space]},
                "decoder": {
                    "type": "Sequence",
                    "decoders": [spaced, {"type": "ByteFallback"}, {"type": "Fuse"}, *last],
                },
                "model": model,
            }
        )
    )
    return PreTrainedTokenizerFast(tokenizer_object=described, unk_token="<unk>", eos_token="</s>")


@pytest.mark.parametrize("leads", [True, False])
def test_a_tokenizer_that_falls_back_to_bytes_spells_everything(leads):
    words = falls_back(leads)
    choices = ("Action: click(1)", "Action: 日本", "Action: <0x41>")
    assert set(replies(Constraint(choices=choices), words, 60)) == set(choices)

    said = replies(grammar('start: "Action: " TEXT', r"TEXT: /[^\x00-\x1f]{1,20}/"), words)
    assert all(text.startswith("Action: ") and 1 <= len(text[8:]) <= 20 for text in said)
    assert not any("�" in text for text in said)
    assert any(max(text) > "~" for text in said)


@pytest.mark.parametrize("words", [word_pieces(), few_letters()], ids=["word pieces", "letters"])
def test_a_tokenizer_that_cannot_spell_is_named(words):
    assert set(replies(Constraint(choices=("yes", "no")), words)) == {"yes", "no"}
    with pytest.raises(SetupError, match=r"cannot encode 'click\(1\)'.*byte-level"):
        compile_constraint(Constraint(choices=("yes", "click(1)")), words)
    with pytest.raises(SetupError, match=r"cannot be held to a grammar.*byte-level"):
        compile_constraint(YES_OR_NO, words)


def test_a_tokenizer_needs_no_control_characters():
    from tokenizers import pre_tokenizers

    letters = {*pre_tokenizers.ByteLevel.alphabet()} - {"Ą", "Ć", "ñ"}  # bytes 4, 6 and 0xf1
    said = replies(YES_OR_NO, few_letters(letters))
    assert said and {*said} <= {"yes", "no"}


def test_without_llguidance_choices_work_and_a_grammar_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "llguidance", None)
    words = tokenizer()

    assert set(replies(Constraint(choices=("yes", "no")), words)) == {"yes", "no"}
    with pytest.raises(SetupError, match=r"pip install 'webagent-loop\[llm\]'"):
        compile_constraint(YES_OR_NO, words)


def test_a_tokenizer_without_an_end_and_masks_too_narrow_for_it_are_named():
    words = tokenizer()
    with pytest.raises(SetupError, match=r"masks of 5 ids leave out id 6"):
        compile_constraint(YES_OR_NO, words, width=5, ends=[6])
    words.eos_token = None
    with pytest.raises(SetupError, match="no eos_token"):
        compile_constraint(YES_OR_NO, words)
