"""Where everything in a chart stands, in pixels; the templates draw it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loop.arms import ARMS
from loop.summary import ArmRow, Summary

_CIRCLE = "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0Z"
_SQUARE = "M-5.5 -5.5H5.5V5.5H-5.5Z"
_DIAMOND = "M0 -7.4L7.4 0L0 7.4L-7.4 0Z"
_UP = "M0 -6.6L6.6 5.5H-6.6Z"
_DOWN = "M0 6.6L6.6 -5.5H-6.6Z"
_CROSS = "M-1.8 -7.3H1.8V-1.8H7.3V1.8H1.8V7.3H-1.8V1.8H-7.3V-1.8H-1.8Z"
SHAPES = (_CIRCLE, _SQUARE, _CIRCLE, _DIAMOND, _UP, _DOWN, _CROSS)
"""A mark for each arm around its middle, so that not colour alone has to tell arms apart."""

_SIZES = {"wide": (912, 400), "narrow": (360, 320)}
_LEFT, _TOP, _BOTTOM, _EDGE = 46.0, 12.0, 44.0, 4.0
"""Margins in pixels: rates stand on the left, steps below."""
_DODGE = 5.0
"""Pixels between marks that would hide each other."""
_STEP_MARKS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A measurement: pixels of its mark and of its interval's ends, and what it says."""

    x: float
    y: float
    low: float
    high: float
    words: str


@dataclass(frozen=True, slots=True)
class ChartCurve:
    """An arm's measurements."""

    arm: str
    colour: str
    """The class that sets its colour."""
    shape: str
    """Its mark, as an SVG path around its middle."""
    points: Sequence[ChartPoint]
    is_dashed: bool
    """Whether it takes no real steps."""
    has_line: bool
    """Whether there is more than one measurement to join."""


@dataclass(frozen=True, slots=True)
class Chart:
    """Success over real steps: a curve for each arm that learns, a mark for the others."""

    width: int
    height: int
    over: str
    """What the axis below counts."""
    rates: Sequence[tuple[float, str]]
    """Pixels and label of each line across."""
    steps: Sequence[tuple[float, str]]
    start: float | None
    """Pixels of the rate that everything starts from."""
    curves: Sequence[ChartCurve]

    @property
    def left(self) -> float:
        """Where the drawing begins."""
        return _LEFT

    @property
    def right(self) -> float:
        """Where the drawing ends."""
        return self.width - _EDGE


def colour_class(summary: Summary, arm: str) -> str:
    """Return the class that sets the arm's colour; an arm has the same one in every report."""
    return f"a{_number(arm, [row['name'] for row in summary['arms']])}"


def colour_classes(arms: Sequence[str]) -> Mapping[str, str]:
    """Return the classes that set the colours of these arms."""
    return {arm: f"a{_number(arm, arms)}" for arm in arms}


def _number(arm: str, arms: Sequence[str]) -> int:
    return list(ARMS).index(arm) if arm in ARMS else (2 + arms.index(arm)) % len(SHAPES)


def has_curve(summary: Summary) -> bool:
    """Return whether any arm was measured more than once."""
    return any(len(arm["rounds"]) > 1 for arm in summary["arms"])


def place_rounds(summary: Summary) -> dict[tuple[str, int], float]:
    """Return the real steps at which each arm's rounds stand, by its name and the round's number.

    Never backwards: where not all repeats have come as far, a round stands as many steps behind the
    one before it as the repeats that are there took in between. A round without real steps stands
    beside those of other arms; where none of them has come so far, the arm's pace is carried on
    from the rounds that are known. Without real steps at all the rounds are numbered.
    """
    places: dict[tuple[str, int], float] = {}
    by_number: dict[int, float] = {}
    for arm in summary["arms"]:
        steps: dict[int, int] = {}
        at = 0.0
        for row in arm["rounds"]:
            taken = [one["real_steps"] - steps.get(one["repeat"], 0) for one in row["by_repeat"]]
            at += max(0.0, sum(taken) / len(taken)) if taken else 0.0
            steps |= {one["repeat"]: one["real_steps"] for one in row["by_repeat"]}
            if row["real_steps"]:
                places[arm["name"], row["round"]] = at
                by_number[row["round"]] = max(at, by_number.get(row["round"], 0.0))
    last = max(by_number, default=0)
    pace = by_number[last] / last if last else 1.0
    for arm in summary["arms"]:
        reached = 0.0
        for row in arm["rounds"]:
            place = arm["name"], row["round"]
            beside = by_number.get(row["round"], pace * row["round"])
            reached = max(reached, places.get(place, beside))
            places[place] = reached
    return places


def draw_chart(summary: Summary, kind: str, beside: Summary | None = None) -> Chart:
    """Return the chart for a `wide` or a `narrow` window, on the scale that it shares with the one
    `beside` it; some arm must have been measured."""
    width, height = _SIZES[kind]
    rows = [row for arm in summary["arms"] for row in arm["rounds"]]
    places = place_rounds(summary)
    most = max(places.values()) or 1.0
    actors = [arm["name"] for arm in summary["arms"] if _only_acts(arm)]
    learners = [arm["name"] for arm in summary["arms"] if not _only_acts(arm)]
    gap = 16.0 if kind == "wide" else 11.0
    room = width - _LEFT - gap * (len(actors) + 0.5) - 16
    low, high = _find_scale(summary, beside or summary)

    def x(steps: float) -> float:
        return round(_LEFT + 10 + room * steps / most, 1)

    def y(rate: float) -> float:
        return round(_TOP + (height - _TOP - _BOTTOM) * (high - rate) / (high - low), 1)

    def curve(arm: ArmRow) -> ChartCurve:
        name, rounds = arm["name"], arm["rounds"]
        # Learners are spread about their round; arms that only act stand to the right of it.
        shift = _DODGE * (
            -(len(learners) - 1) / 2 + (learners.index(name) if name in learners else 0)
        )
        if name in actors:
            shift = gap * (actors.index(name) + 1.5)
        points = [
            ChartPoint(
                round(x(places[name, row["round"]]) + shift, 1),
                y(row["success"]),
                y(row["low"]),
                y(row["high"]),
                f"{name}, round {row['round']}: {100 * row['success']:.1f} %"
                f" ({100 * row['low']:.1f} to {100 * row['high']:.1f}),"
                f" {row['episodes']:,} episodes",
            )
            for row in rounds
        ]
        number = _number(name, [row["name"] for row in summary["arms"]])
        has_line = len(rounds) > 1 and name in learners
        return ChartCurve(
            name, f"a{number}", SHAPES[number], points, not rounds[-1]["real_steps"], has_line
        )

    has_steps = any(row["real_steps"] for row in rows)
    starts = [row["success"] for row in rows if row["round"] == 0]
    tenths = range(round(low * 10), round(high * 10) + 1)
    return Chart(
        width=width,
        height=height,
        over="real steps in the browser, mean over repeats" if has_steps else "round",
        rates=[(y(tenth / 10), f"{10 * tenth} %") for tenth in tenths],
        steps=[
            (x(steps), f"{steps:,.0f}") for steps in choose_ticks(most, 6 if kind == "wide" else 5)
        ],
        start=y(starts[0]) if starts else None,
        curves=[curve(arm) for arm in summary["arms"]],
    )


def _find_scale(*summaries: Summary) -> tuple[float, float]:
    """Return the ends of an axis of rates: tenths that hold all intervals."""
    rows = [row for each in summaries for arm in each["arms"] for row in arm["rounds"]]
    low = int(min(row["low"] for row in rows) * 10) / 10
    top = -int(-max(row["high"] for row in rows) * 10 - 0.999) / 10
    return low, max(min(1.0, top), low + 0.1)


def _only_acts(arm: ArmRow) -> bool:
    known = ARMS.get(arm["name"])
    return bool(known and known.weights_of)


def choose_ticks(top: float, count: int) -> list[float]:
    """Return round whole numbers from 0 to `top`, about `count` of them."""
    size = 10.0 ** (len(str(int(top / count) or 1)) - 1)
    gaps = (size * mark for mark in _STEP_MARKS)
    gap = next(gap for gap in gaps if gap.is_integer() and gap * count >= top)
    return [gap * number for number in range(int(top / gap) + 1)]


_STRIP_HEIGHT, _STRIP_GAP, _STRIP_EDGE = 22, 13, 5
"""Pixels: height, from round to round, and left and right of them."""


@dataclass(frozen=True, slots=True)
class Strip:
    """A rate by round, as wide as a word."""

    colour: str
    words: str
    points: Sequence[tuple[float, float]] = ()
    band: str = ""
    """The intervals as an SVG path; empty where there are none."""
    height: int = _STRIP_HEIGHT

    @property
    def width(self) -> float:
        """As many pixels as the rounds need."""
        return self.points[-1][0] + _STRIP_EDGE

    @property
    def base(self) -> float:
        """Pixels of the rate 0."""
        return _strip_y(0)


def draw_strip(
    rates: Sequence[tuple[int, float]], colour: str, ends: Sequence[tuple[float, float]] = ()
) -> Strip:
    """Return rounds with their rates, evenly spaced; `ends` are those of their intervals."""
    xs = [_STRIP_EDGE + _STRIP_GAP * place for place in range(len(rates))]
    upper = [f"{x} {_strip_y(high)}" for x, (_, high) in zip(xs, ends, strict=False)]
    lower = [f"{x} {_strip_y(low)}" for x, (low, _) in zip(xs, ends, strict=False)]
    return Strip(
        colour,
        ", ".join(f"round {number}: {100 * rate:.0f} %" for number, rate in rates),
        [(x, _strip_y(rate)) for x, (_, rate) in zip(xs, rates, strict=True)],
        f"M{'L'.join([*upper, *reversed(lower)])}Z" if ends else "",
    )


def _strip_y(rate: float) -> float:
    return round(3 + (_STRIP_HEIGHT - 6) * (1 - rate), 1)
