"""Keys and values: growing in place, aligned at the right, remembered within bounds."""

import numpy as np
import pytest
import torch

from webagent.models.local.cache import (
    CacheSlice,
    GrowingLayer,
    PrefixCache,
    assemble,
    columns_of,
    copy_slice,
    count_shared,
    new_cache,
    pairs_of,
    shorten,
)
from webagent.models.local.weights import digest_tensors


def columns(rows: int, count: int, seed: int = 0) -> torch.Tensor:
    """(rows, 2 heads, count, 3) of random numbers."""
    return torch.randn(rows, 2, count, 3, generator=torch.Generator().manual_seed(seed))


def test_a_layer_that_grows_holds_what_one_that_is_copied_holds():
    from transformers.cache_utils import DynamicLayer

    ours, theirs = GrowingLayer(), DynamicLayer()
    for place, count in enumerate((5, 1, 1, 90, 3)):
        keys, values = columns(2, count, place), columns(2, count, 100 + place)
        found, expected = ours.update(keys, values), theirs.update(keys, values)
        assert all(map(torch.equal, found, expected))
    assert ours.get_mask_sizes(2) == theirs.get_mask_sizes(2)


def test_growing_by_one_column_does_not_copy_the_others():
    layer = GrowingLayer()
    layer.update(columns(1, 10), columns(1, 10))
    layer.update(columns(1, 1), columns(1, 1))
    address = layer.keys.data_ptr()
    for _ in range(30):
        layer.update(columns(1, 1), columns(1, 1))
    assert layer.keys.data_ptr() == address


def test_pieces_of_different_lengths_are_aligned_at_the_right():
    cache = new_cache()
    cache.update(columns(2, 6), columns(2, 6, 1), 0)
    keys = cache.layers[0].keys
    pieces = [CacheSlice(pairs_of(cache), 0, 0, 6), CacheSlice(pairs_of(cache), 1, 2, 5)]
    made = assemble(pieces, 4)
    assert columns_of(made) == 6
    assert torch.equal(made.layers[0].keys[0], keys[0])
    assert torch.equal(made.layers[0].keys[1, :, 3:], keys[1, :, 2:5])
    assert not made.layers[0].keys[1, :, :3].any()


def test_columns_are_cut_off():
    cache = new_cache()
    cache.update(columns(2, 6), columns(2, 6, 1), 0)
    cache = assemble([CacheSlice(pairs_of(cache), row, 0, 6) for row in (0, 1)], 2)
    shorten(cache, 3)
    assert columns_of(cache) == 3
    cache.update(columns(2, 1, 7), columns(2, 1, 7), 0)
    assert torch.equal(cache.layers[0].keys[:, :, 3:], columns(2, 1, 7))


def pairs(count: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """One layer of so many columns, 48 bytes each."""
    return [(columns(1, count), columns(1, count))]


def test_the_longest_common_beginning_is_found():
    prefixes = PrefixCache(4, 10_000)
    prefixes.keep(np.array([1, 2, 3, 4]), pairs(4))
    prefixes.keep(np.array([1, 2, 9]), pairs(3))
    found = prefixes.longest(np.array([1, 2, 3, 7, 8]))
    assert found is not None and len(found) == 3
    assert prefixes.longest(np.array([5, 2])) is None


def test_a_prompt_takes_the_place_of_the_one_that_it_continues():
    prefixes = PrefixCache(4, 10_000)
    prefixes.keep(np.array([1, 2]), pairs(2))
    prefixes.keep(np.array([1, 2, 3]), pairs(3))
    assert len(prefixes) == 1


def test_the_least_recently_used_goes_first_and_bytes_are_bounded():
    size = 10 * 48
    prefixes = PrefixCache(99, 2 * size)
    for first in (1, 2):
        prefixes.keep(np.arange(first, first + 10), pairs(10))
    assert prefixes.longest(np.array([1])) is not None
    prefixes.keep(np.arange(3, 13), pairs(10))
    assert prefixes.bytes == 2 * size
    assert prefixes.longest(np.array([2])) is None
    assert prefixes.longest(np.array([1])) is not None
    prefixes.keep(np.arange(50), pairs(50))
    assert len(prefixes) == 2


def test_a_copy_of_a_piece_does_not_hold_the_whole():
    cache = new_cache()
    cache.update(columns(8, 500), columns(8, 500), 0)
    copied = copy_slice(CacheSlice(pairs_of(cache), 3, 10, 20))
    assert copied[0][0].untyped_storage().nbytes() == 2 * 10 * 3 * 4


@pytest.mark.parametrize(
    ("one", "other", "count"), [([1, 2], [1, 3], 1), ([1], [1, 2], 1), ([], [1], 0), ([4], [5], 0)]
)
def test_how_much_two_beginnings_share(one: list[int], other: list[int], count: int):
    assert count_shared(np.array(one, dtype=np.int64), np.array(other, dtype=np.int64)) == count


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.int8, torch.bool]
)
def test_a_digest_notices_one_bit_and_a_swap(dtype: torch.dtype):
    weight = (torch.arange(1, 9).view(2, 4) % 5).to(dtype)
    first = digest_tensors([("a", weight), ("b", weight.clone())])
    assert digest_tensors([("b", weight.clone()), ("a", weight)]) == first
    changed = weight.clone()
    changed[1, 3] = 1 - changed[1, 3].to(torch.int8)
    assert digest_tensors([("a", changed), ("b", weight)]) != first
    assert digest_tensors([("a", weight.flip(0)), ("b", weight)]) != first or dtype == torch.bool
    assert digest_tensors([("a", weight.view(4, 2)), ("b", weight)]) != first
    assert digest_tensors([("c", weight), ("b", weight)]) != first
