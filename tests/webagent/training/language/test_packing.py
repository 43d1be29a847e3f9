"""Rows laid out: nothing lost, beginnings shared, sizes kept."""

import random
import time

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode
from transformers import LlamaConfig, LlamaForCausalLM

from webagent.training.language.likelihood import compute_log_probs
from webagent.training.language.packing import Packing, lay_out, taught_indices
from webagent.training.language.rows import TokenRow


def row(ids: list[int], start: int, images: tuple[str, ...] = ()) -> TokenRow:
    """A row taught from this index on."""
    return TokenRow(tuple(ids), (0.0,) * start + (1.0,) * (len(ids) - start), images=images)


@st.composite
def some_rows(draw: st.DrawFn) -> list[TokenRow]:
    """Rows over three ids, so that they share beginnings of every kind, some twice the same."""
    ids = st.lists(st.integers(0, 2), min_size=2, max_size=9)
    return [
        row(each, draw(st.integers(1, len(each) - 1)))
        for each in draw(st.lists(ids, min_size=1, max_size=9))
    ]


@settings(deadline=None, max_examples=60)
@given(some_rows(), st.integers(1, 30), st.integers(1, 20), st.booleans())
def test_every_taught_token_sees_exactly_the_ids_before_it(rows, tokens, lane, tree):
    seen = []
    for sheet in lay_out(rows, Packing(tokens=tokens, lane=lane, tree=tree)):
        length = sheet.ids.shape[1]
        mask = sheet.attention
        if mask.ndim == 2:
            mask = mask[:, None, None, :] & torch.ones(length, length).tril().bool()
        sources = iter(sheet.sources.tolist())
        targets = iter(sheet.targets.tolist())
        for index, count in zip(sheet.rows, sheet.counts, strict=True):
            seen.append(index)
            assert count == len(taught_indices(rows[index]))
            for end in taught_indices(rows[index]):
                place, at = divmod(next(sources), length)
                looked = mask[place, 0, at].nonzero()[:, 0]
                looked = looked[sheet.positions[place, looked].argsort()] if tree else looked
                assert sheet.ids[place, looked].tolist() == list(rows[index].ids[:end])
                if mask.ndim == 4 and sheet.attention.ndim == 4:
                    assert sheet.positions[place, looked].tolist() == list(range(end))
                assert next(targets) == rows[index].ids[end]
    assert sorted(seen) == list(range(len(rows)))


def test_a_shared_beginning_is_read_once_and_that_of_a_beginning_too():
    prompt, middle = list(range(100)), list(range(200, 240))
    rows = [row(prompt + [300 + i] * 10, 100) for i in range(4)]
    rows += [row(prompt + middle + [400 + i] * 10, 140) for i in range(4)]
    [sheet] = lay_out(rows, Packing(attention=10**9))
    assert sheet.tokens == 100 + 4 * 9 + 40 + 4 * 9


def test_sheets_and_lanes_keep_their_sizes():
    dice = random.Random(0)
    prompt = list(range(50))
    rows = [
        row(prompt + [dice.randrange(99) for _ in range(dice.randrange(2, 60))], 50)
        for _ in range(40)
    ]
    sheets = lay_out(rows, Packing(tokens=400, lane=200, attention=10**9))
    assert all(sheet.tokens <= 400 and sheet.ids.shape[1] <= 200 for sheet in sheets)
    assert sum(sheet.tokens for sheet in sheets) < 0.7 * sum(len(each.ids) for each in rows)


def test_rows_that_share_nothing_fill_lanes_where_that_saves_padding_and_not_otherwise():
    lengths = (101, 101, 61, 61, 41, 41)
    rows = [row([i] * length, 1) for i, length in enumerate(lengths)]
    sheets = lay_out(rows, Packing(tokens=1000))
    assert sum(sheet.tokens for sheet in sheets) == 400
    alike = [row([i] * 101, 1) for i in range(4)]
    [sheet] = lay_out(alike, Packing(tokens=500))
    assert sheet.attention.ndim == 2


def test_a_tree_is_not_woven_where_its_attention_costs_more_than_it_saves():
    rows = [row([7] * 5 + [i] * 500, 5) for i in range(8)]
    sheets = lay_out(rows, Packing(attention=384))
    assert all(sheet.attention.ndim == 2 for sheet in sheets)


def test_images_are_shared_by_rows_that_show_the_same_ones_before_they_part():
    ids = [1, 9, 9, 2, 3]
    packing = Packing(image_ids=frozenset({0, 9}), attention=10**9)
    same = [row([*ids, i, i], 5, ("a.png",)) for i in (4, 5)]
    other = row([*ids, 4, 4], 5, ("b.png",))
    sheets = lay_out([*same, other], packing)
    assert sorted(image for sheet in sheets for image in sheet.images) == ["a.png", "b.png"]
    assert sum(int((sheet.ids == 9).sum()) for sheet in sheets) == 4
    assert not any((sheet.ids == 0).any() for sheet in sheets)
    late = [row([1, 2, i, 9, 9, 3], 5, ("a.png",)) for i in (4, 5)]
    assert sum(len(sheet.images) for sheet in lay_out(late, packing)) == 2
    plain = lay_out([*same, other], Packing(image_ids=frozenset({9}), image_tree=False))
    assert all(sheet.attention.ndim == 2 for sheet in plain)


@pytest.mark.very_slow
def test_eight_continuations_of_a_long_prompt_cost_a_quarter_in_a_tree():
    """Gradients to 1e-5, at least 6 times fewer operations and 4 times less processor time.

    On one thread, with a model wide enough that its operations are what takes the time; the least
    of six times on either side, by turns, which other work on the machine changes the least.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    sizes = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 512}
    model = LlamaForCausalLM(LlamaConfig(**sizes, **heads, initializer_range=0.1))
    dice = random.Random(0)
    prompt = [dice.randrange(512) for _ in range(768)]
    rows = [row(prompt + [dice.randrange(512) for _ in range(32)], 768) for _ in range(8)]

    def run(packing: Packing) -> tuple[float, list[torch.Tensor]]:
        model.zero_grad()
        started = time.process_time()
        torch.cat(compute_log_probs(model, rows, packing)).mean().neg().backward()
        return time.process_time() - started, [p.grad.clone() for p in model.parameters()]

    try:
        with FlopCounterMode(display=False) as of_padded:
            _, there = run(Packing(tree=False))
        with FlopCounterMode(display=False) as of_tree:
            _, here = run(Packing())
        times = [(run(Packing(tree=False))[0], run(Packing())[0]) for _ in range(6)]
    finally:
        torch.set_num_threads(threads)
    largest = max(float(each.abs().max()) for each in there)
    for one, other in zip(here, there, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-5 * largest)
    assert of_padded.get_total_flops() >= 6 * of_tree.get_total_flops()
    padded, tree = (min(side) for side in zip(*times, strict=True))
    assert padded >= 4 * tree, times
