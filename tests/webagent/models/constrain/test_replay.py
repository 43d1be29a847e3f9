"""Training sees the masks of the sampling: the same log-probabilities, or a refusal."""

import numpy as np
import pytest

from tests.fakes.tiny_models import causal
from tests.webagent.models.constrain.sampling import grammar, log_probs_under, sample, text_of, walk
from webagent.errors import ModelError
from webagent.models import Constraint
from webagent.models.constrain import compile_constraint, replay_masks

CHOICES = Constraint(
    choices=tuple(f"Action: click({mark}{button})" for mark in range(1, 41) for button in ("", "1"))
)
FREE = grammar(
    'start: "Action: fill(" MARK ", \\"" TEXT "\\")"',
    "MARK: /[1-9][0-9]?/",
    r'TEXT: /([^"\\\x00-\x1f]|\\["\\nrt]){0,40}/',
)


@pytest.fixture(scope="module")
def model_and_words(tmp_path_factory):
    """A tiny Llama whose embedding is wider than its tokenizer, with that tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    folder = causal(tmp_path_factory.mktemp("llama"))
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model.resize_token_embeddings(pad_to_multiple_of=64, mean_resizing=False)
    return model, AutoTokenizer.from_pretrained(folder)


@pytest.mark.parametrize("constraint", [CHOICES, FREE], ids=["choices", "grammar"])
def test_log_probs_under_replayed_masks_equal_those_of_the_sampling(model_and_words, constraint):
    model, words = model_and_words
    width = model.config.vocab_size
    assert width > len(words)
    make = compile_constraint(constraint, words, width=width)
    prompt = words("the page now", add_special_tokens=False)["input_ids"]
    free = compile_constraint(grammar(r"start: /(?s:.)*/"), words, width=width)

    prompts = [prompt[cut:] for cut in range(len(prompt) - 1)] * 3
    for prompt, stored in zip(
        prompts, sample(model, prompts, [make] * len(prompts), 0, 200), strict=True
    ):
        assert stored.is_whole
        masks = replay_masks(constraint.dumps(), stored.ids, words, width=width)
        again = log_probs_under(model, prompt, stored.ids, masks.unpacked())
        assert again == pytest.approx(stored.log_probs, abs=1e-5)

        loose = np.tile(free().mask(), (len(stored.ids), 1))
        loose[:, words.eos_token_id] = True
        assert sum(log_probs_under(model, prompt, stored.ids, loose)) < sum(stored.log_probs) - 5


@pytest.mark.parametrize("constraint", [CHOICES, FREE], ids=["choices", "grammar"])
def test_replayed_masks_are_those_of_the_walk_in_little_room(model_and_words, constraint):
    _, words = model_and_words
    ids = walk(compile_constraint(constraint, words, width=401), np.random.default_rng(5))
    matcher, seen = compile_constraint(constraint, words, width=401)(), []
    for token in ids:
        seen.append(matcher.mask().copy())
        matcher.accept(token)
    masks = replay_masks(constraint.dumps(), ids, words, width=401)

    assert len(masks) == len(ids)
    assert (masks.unpacked() == np.array(seen)).all()
    assert masks.packed.nbytes == len(ids) * 51


@pytest.mark.parametrize("constraint", [CHOICES, FREE], ids=["choices", "grammar"])
def test_forged_ids_are_refused(model_and_words, constraint):
    _, words = model_and_words
    ids = walk(compile_constraint(constraint, words), np.random.default_rng(5))
    rng = np.random.default_rng(0)
    masks = replay_masks(constraint.dumps(), ids, words).unpacked()

    for place in range(len(ids)):
        forged = [*ids[:place], int(rng.choice(np.flatnonzero(~masks[place]))), *ids[place + 1 :]]
        with pytest.raises(ModelError, match="not allowed here"):
            replay_masks(constraint.dumps(), forged, words)
    with pytest.raises(ModelError, match="after the reply had ended"):
        replay_masks(constraint.dumps(), [*ids, ids[0]], words)


def test_ids_of_another_constraint_are_refused(model_and_words):
    _, words = model_and_words
    ids = walk(compile_constraint(FREE, words), np.random.default_rng(1))

    with pytest.raises(ModelError, match="not allowed here"):
        replay_masks(CHOICES.dumps(), ids, words)
    with pytest.raises(ModelError, match="not a stored constraint"):
        replay_masks("click; marks 1-3", ids, words)


def test_a_reply_that_was_cut_short_has_masks_as_far_as_it_goes(model_and_words):
    _, words = model_and_words
    ids = walk(compile_constraint(FREE, words), np.random.default_rng(2))
    cut = replay_masks(FREE.dumps(), ids[:6], words)

    assert len(cut) == 6
    assert (cut.unpacked() == replay_masks(FREE.dumps(), ids, words).unpacked()[:6]).all()
    assert replay_masks(FREE.dumps(), [], words).unpacked().shape == (0, len(words))


def test_stored_ids_give_the_text_back_though_it_would_be_tokenised_otherwise(model_and_words):
    _, words = model_and_words
    make = compile_constraint(FREE, words)
    different = 0
    for seed in range(40):
        ids = walk(make, np.random.default_rng(seed))
        retokenised = words(text_of(words, ids), add_special_tokens=False)["input_ids"]
        different += [*retokenised, words.eos_token_id] != ids
        replay_masks(FREE.dumps(), ids, words)

    assert different > 10
