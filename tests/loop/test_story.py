"""What a run shows at its end: a curve in characters, and what happened in a newcomer's words."""

from typing import Any

from loop.summary.format import draw_curve, format_story


def arm(name: str, *rates: float) -> Any:
    """An arm with these rates of twenty episodes by round."""
    rows = [{"round": i, "success": rate, "episodes": 20} for i, rate in enumerate(rates)]
    return {"name": name, "rounds": rows}


def practice(round: int, collected: int, succeeded: int) -> Any:
    """What `self` tried in a round without demonstrations."""
    counts = {"collected": collected, "succeeded": succeeded, "demonstrations": 0}
    return {"arm": "self", "round": round, **counts}


ARMS = [arm("none", 0.0), arm("control", 0.0, 0.0, 0.05), arm("self", 0.0, 0.5, 0.9)]
LEARNING = [practice(1, 30, 6), practice(2, 25, 22)]


def test_a_curve_has_a_mark_for_each_arm_at_each_round() -> None:
    assert draw_curve(ARMS) == [
        "success in % by round: ● self, ○ control",
        "  100 ┤",
        "   90 ┤                  ●",
        "   80 ┤",
        "   70 ┤",
        "   60 ┤",
        "   50 ┤          ●",
        "   40 ┤",
        "   30 ┤",
        "   20 ┤",
        "   10 ┤",
        "    0 ┤  ●○      ○       ○",
        "   round 0       1       2       ",
    ]
    assert draw_curve([arm("none", 0.3)]) == []


def test_the_story_counts_what_was_solved_tried_and_not_practised() -> None:
    summary: Any = {"arms": ARMS, "learning": LEARNING, "split": "test"}
    story = (
        "With no demonstration at all the agent solved 0 of 20 held-out tasks. It then tried 55"
        " others by itself and learned from what succeeded, 6 of 30 in the first round and 22 of 25"
        " in the last. Now it solves 18 of 20; without that practice, 1 of 20."
    )
    assert format_story(summary) == story
    assert format_story(summary, is_untrained=True) == (
        f"{story} What is evaluated without practice is a network that was trained on nothing;"
        " practice itself begins with what the words of each goal suggest."
    )


def test_there_is_no_story_where_nothing_was_practised() -> None:
    summary: Any = {"arms": ARMS[:2], "learning": [], "split": "test"}
    assert format_story(summary) == ""
