"""How rows are laid out for one forward pass: beside each other, or as a tree of prefixes.

Rows that begin alike share the beginning: a lane holds a trie of rows, in which each token looks
at its own ancestors only and counts its position from the root, by a 4-D mask through stock
attention.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from webagent.training.language.rows import TokenRow

_SMALL = 64
"""Tokens of padding that cost less than one more forward pass."""


@dataclass(frozen=True, slots=True)
class Packing:
    """What may be laid out together. `Packing(tokens=1, tree=False)` is one row after another."""

    tokens: int = 8192
    """Most tokens in one sheet, padding counted. A longer row gets a sheet of its own."""
    tree: bool = True
    """Whether rows share prefixes and lanes hold several rows; else each row is a lane."""
    image_tree: bool = True
    """Whether rows that show images are packed into trees and chained as well."""
    lane: int = 4096
    """Most tokens in a lane that holds several rows: its mask grows with the square."""
    attention: int = 4096
    """Length of a lane at which attention costs as much as all else: six times the width."""
    image_ids: frozenset[int] = frozenset()
    """Ids that stand for a piece of an image."""

    def cost(self, tokens: int) -> float:
        """Return the work of a lane of so many tokens, in tokens without attention."""
        return tokens * (1 + tokens / self.attention)


@dataclass(frozen=True, slots=True)
class Sheet:
    """One forward pass. Taught tokens are listed row by row, in the order of `rows`."""

    ids: Tensor
    """(lanes, length)."""
    positions: Tensor
    """(lanes, length), each token's place in its own row."""
    attention: Tensor
    """(lanes, length) where every lane is one row, true for tokens; else (lanes, 1, length,
    length), true where the token of the third axis looks at the one of the fourth."""
    rows: tuple[int, ...]
    """Which of the rows given are here."""
    counts: tuple[int, ...]
    """How many taught tokens each of them has."""
    sources: Tensor
    """(taught,), the place in `ids` laid out flat from which each taught token is predicted."""
    targets: Tensor
    """(taught,), the taught ids."""
    images: tuple[str, ...]
    """References of the images, in the order of their places in `ids` laid out flat."""

    @property
    def tokens(self) -> int:
        """Tokens gone through, padding counted."""
        return self.ids.numel()


@dataclass(slots=True)
class _Lane:
    """Rows packed into one line of tokens."""

    rows: list[int]
    paths: list[NDArray[np.int64]]
    """For each row the places of its tokens."""
    shared: list[int]
    """For each row how many of its first tokens were there already."""
    length: int
    images: tuple[str, ...]

    @property
    def plain(self) -> bool:
        """Whether it is a single row, which needs no mask of its own."""
        return len(self.rows) == 1


def taught_indices(row: TokenRow) -> NDArray[np.int64]:
    """Return the indices of the ids that are taught, in order."""
    return np.flatnonzero(np.asarray(row.weights))


def lay_out(rows: Sequence[TokenRow], packing: Packing) -> list[Sheet]:
    """Sheets that hold every row once. Rows must teach at least one token each."""
    inputs: dict[int, NDArray[np.int64]] = {}
    for index, row in enumerate(rows):
        # What follows the last taught token, and it itself, predict nothing.
        ids = np.asarray(row.ids, dtype=np.int64)
        end = int(taught_indices(row)[-1])
        has_image_after = row.images and np.isin(ids[end:], list(packing.image_ids)).any()
        inputs[index] = ids if has_image_after else ids[:end]
    order = sorted(inputs, key=lambda index: (rows[index].images, inputs[index].tolist()))
    lanes: list[_Lane] = []
    for index in order:
        if not lanes or not _joined(lanes[-1], index, rows, inputs, packing):
            ids = inputs[index]
            lanes.append(_Lane([index], [np.arange(len(ids))], [0], len(ids), rows[index].images))
    if packing.tree:
        free = [lane for lane in lanes if not lane.images or packing.image_tree]
        kept = [lane for lane in lanes if lane.images and not packing.image_tree]
        lanes = _filled(free, packing) + kept
    padding = next(i for i in range(len(packing.image_ids) + 1) if i not in packing.image_ids)
    batches = _batches(lanes, packing.tokens)
    return [_sheet(batch, rows, inputs, padding) for batch in batches]


def _joined(
    lane: _Lane,
    index: int,
    rows: Sequence[TokenRow],
    inputs: Mapping[int, NDArray[np.int64]],
    packing: Packing,
) -> bool:
    """Weave the row into the lane of the row before it in the order, where that is less work.

    In the order of their ids a row shares with the one before at least what it shares with any
    earlier one, so that this alone builds the trie.
    """
    if (
        not (packing.tree and (packing.image_tree or not rows[index].images))
        or rows[index].images != rows[lane.rows[-1]].images
    ):
        return False
    ids, before = inputs[index], inputs[lane.rows[-1]]
    length = min(len(ids), len(before))
    differs = np.flatnonzero(ids[:length] != before[:length])
    shared = int(differs[0]) if len(differs) else length
    grown = lane.length + len(ids) - shared
    extra = packing.cost(grown) - packing.cost(lane.length)
    if grown > min(packing.lane, packing.tokens) or extra >= packing.cost(len(ids)):
        return False
    if rows[index].images and np.isin(ids[shared:], list(packing.image_ids)).any():
        return False
    path = np.concatenate([lane.paths[-1][:shared], np.arange(lane.length, grown)])
    lane.rows.append(index)
    lane.paths.append(path)
    lane.shared.append(shared)
    lane.length = grown
    return True


def _filled(lanes: list[_Lane], packing: Packing) -> list[_Lane]:
    """Short lanes one behind the other, no longer than the longest, where that saves tokens."""
    if not lanes:
        return lanes
    most = min(max(lane.length for lane in lanes), packing.lane)
    bins: list[list[_Lane]] = []
    room: list[int] = []
    for lane in sorted(lanes, key=lambda lane: -lane.length):
        place = next((i for i, left in enumerate(room) if lane.length <= left), None)
        if place is None:
            bins.append([lane])
            room.append(most - lane.length)
        else:
            bins[place].append(lane)
            room[place] -= lane.length
    filled = []
    for group in bins:
        whole = _Lane([], [], [], 0, ())
        for lane in group:
            whole.rows += lane.rows
            whole.paths += [path + whole.length for path in lane.paths]
            whole.shared += lane.shared
            whole.length += lane.length
            whole.images += lane.images
        filled.append(whole)
    spent, saved = (
        sum(len(batch) * batch[0].length for batch in _batches(each, packing.tokens))
        for each in (lanes, filled)
    )
    return filled if saved < spent else lanes


def _batches(lanes: list[_Lane], tokens: int) -> list[list[_Lane]]:
    """Lanes of like length together, so many that the padded sheet stays within the tokens."""
    batches: list[list[_Lane]] = []
    for lane in sorted(lanes, key=lambda lane: (not lane.plain, -lane.length)):
        batch = batches[-1] if batches else [lane]
        longest = batch[0].length
        alike = lane.plain == batch[0].plain and longest - lane.length <= max(longest // 4, _SMALL)
        if batches and alike and (len(batch) + 1) * longest <= tokens:
            batch.append(lane)
        else:
            batches.append([lane])
    return batches


def _sheet(
    lanes: list[_Lane],
    rows: Sequence[TokenRow],
    inputs: Mapping[int, NDArray[np.int64]],
    padding: int,
) -> Sheet:
    length = max(lane.length for lane in lanes)
    ids = np.full((len(lanes), length), padding, dtype=np.int64)
    positions = np.zeros_like(ids)
    sources, targets, counts = [], [], []
    for place, lane in enumerate(lanes):
        for index, path in zip(lane.rows, lane.paths, strict=True):
            ids[place, path] = inputs[index]
            positions[place, path] = np.arange(len(path))
            learnt = taught_indices(rows[index])
            sources.append(place * length + path[learnt - 1])
            targets.append(np.asarray(rows[index].ids, dtype=np.int64)[learnt])
            counts.append(len(learnt))
    return Sheet(
        ids=torch.from_numpy(ids),
        positions=torch.from_numpy(positions),
        attention=torch.from_numpy(_attention(lanes, length)),
        rows=tuple(index for lane in lanes for index in lane.rows),
        counts=tuple(counts),
        sources=torch.from_numpy(np.concatenate(sources)),
        targets=torch.from_numpy(np.concatenate(targets)),
        images=tuple(image for lane in lanes for image in lane.images),
    )


def _attention(lanes: list[_Lane], length: int) -> NDArray[np.bool_]:
    if all(lane.plain for lane in lanes):
        ends = np.array([[lane.length] for lane in lanes])
        return np.arange(length)[None] < ends
    mask = np.zeros((len(lanes), 1, length, length), dtype=bool)
    for square, lane in zip(mask[:, 0], lanes, strict=True):
        for path, shared in zip(lane.paths, lane.shared, strict=True):
            own = path[shared:]
            square[np.ix_(own, path[:shared])] = True
            square[np.ix_(own, own)] = np.tri(len(own), dtype=bool)
        np.fill_diagonal(square, True)
    return mask
