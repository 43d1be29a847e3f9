"""Key frames: what changed stays, what did not is dropped."""

import io

import pytest

from evaluators.reward.language import FrameSettings, select_key_frames
from tests.fakes.pictures import picture
from webagent.errors import StoreError


def size(image: bytes) -> tuple[int, int]:
    """Width and height."""
    from PIL import Image

    found: tuple[int, int] = Image.open(io.BytesIO(image)).size
    return found


SMALL, OTHER = (42, 42, 55, 55), (210, 98, 223, 111)
CUT = FrameSettings(whole_last=False, margin=0)


def test_frames_without_a_change_are_dropped_and_others_cut_to_what_changed() -> None:
    shots = [picture(), picture(), picture(SMALL), picture(SMALL), picture(SMALL, OTHER)]
    kept = select_key_frames(shots, CUT)
    assert [(f.index, f.box) for f in kept] == [
        (0, (0, 0, 280, 140)),
        (2, (42, 42, 56, 56)),
        (4, (210, 98, 224, 112)),
    ]
    assert [size(f.image) for f in kept] == [(280, 140), (14, 14), (14, 14)]
    assert sum(f.pixels for f in kept) == 280 * 140 + 2 * 14 * 14


def test_a_slow_change_is_seen_against_the_last_frame_that_was_kept() -> None:
    steps = [(42, 42, 42 + width, 43) for width in range(0, 14, 2)]
    kept = select_key_frames([picture(), *(picture(box) for box in steps)], CUT)
    assert len(kept) > 1


def test_the_last_page_is_shown_whole_even_where_nothing_changed() -> None:
    kept = select_key_frames([picture(SMALL), picture(SMALL)], FrameSettings())
    assert [(f.index, f.box) for f in kept] == [(0, (0, 0, 280, 140)), (1, (0, 0, 280, 140))]


def test_of_too_many_frames_the_ends_and_the_largest_changes_stay() -> None:
    large = (0, 0, 250, 100)
    shots = [
        picture(),
        picture(SMALL),
        picture(SMALL, large),
        picture(large),
        picture(large, OTHER),
    ]
    kept = select_key_frames(shots, FrameSettings(most=3))
    assert [f.index for f in kept] == [0, 2, 4]
    assert [f.index for f in select_key_frames(shots, FrameSettings(most=1))] == [4]


def test_a_page_of_another_size_changed_throughout() -> None:
    kept = select_key_frames([picture(), picture(size=(140, 140))], CUT)
    assert kept[1].box == (0, 0, 140, 140)


def test_what_is_no_picture_is_named() -> None:
    with pytest.raises(StoreError, match="screenshot 1 cannot be read"):
        select_key_frames([picture(), b"nothing"])


def test_no_screenshots_are_no_frames() -> None:
    assert select_key_frames([]) == []
