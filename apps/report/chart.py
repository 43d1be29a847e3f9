"""Success over real steps as a drawing: a curve for each arm that learns, a mark for the others."""

from collections.abc import Iterable
from dataclasses import dataclass

from apps.report.colours import colour_class, shape_of
from apps.report.markup import Markup, tag
from loop.arms import ARMS
from loop.summary import ArmRow, RoundSummary, Summary
from loop.summary.format import name_seeds

_STEP_MARKS = (1, 2, 2.5, 5, 10)
_DODGE = 5.0
"""Pixels between marks that would hide each other."""


@dataclass(frozen=True, slots=True)
class ChartFrame:
    """The drawing area: pixels of the viewBox, and what they stand for."""

    width: float
    height: float
    steps: float
    """Real steps at the right end."""
    low: float
    """Rates at the bottom and the top."""
    high: float
    after: float
    """Pixels right of the last round, for arms that only act."""
    has_steps: bool
    """Whether the axis counts real steps; else rounds."""
    left: float = 46.0
    top: float = 12.0
    bottom: float = 44.0

    def x(self, steps: float) -> float:
        """Pixels from the left."""
        room = self.width - self.left - self.after - 16
        return self.left + 10 + room * steps / (self.steps or 1)

    def y(self, rate: float) -> float:
        """Pixels from the top."""
        room = self.height - self.top - self.bottom
        return self.top + room * (self.high - rate) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class _Point:
    x: float
    row: RoundSummary


def has_curve(summary: Summary) -> bool:
    """Whether any arm was measured more than once."""
    return any(len(arm["rounds"]) > 1 for arm in summary["arms"])


def draw_curves(summary: Summary) -> Markup:
    """The legend with the drawing, once for wide and once for narrow windows."""
    keys = [
        tag(
            "li", _key(summary, arm["name"]), arm["name"], class_=colour_class(summary, arm["name"])
        )
        for arm in summary["arms"]
    ]
    wide, narrow = _drawing(summary, 912, 400, "wide"), _drawing(summary, 360, 320, "narrow")
    return Markup(tag("ul", keys, class_="legend") + wide + narrow)


def _drawing(summary: Summary, width: float, height: float, kind: str) -> Markup:
    actors = [arm for arm in summary["arms"] if _only_acts(arm)]
    rows = [row for arm in summary["arms"] for row in arm["rounds"]]
    low, high = _bounds(rows)
    gap = 16.0 if width > 500 else 11.0
    steps = max(place_rounds(summary).values())
    after, has_steps = gap * (len(actors) + 0.5), any(row["real_steps"] for row in rows)
    frame = ChartFrame(width, height, steps, low, high, after, has_steps)
    learners = [arm for arm in summary["arms"] if not _only_acts(arm)]
    parts = [*_axes(frame), *_start(summary, frame)]
    for place, arm in enumerate(learners):
        shift = _DODGE * (place - (len(learners) - 1) / 2)
        parts.append(_curve(summary, arm, frame, shift))
    for place, arm in enumerate(actors):
        shift = gap * (place + 1.5)
        parts.append(_curve(summary, arm, frame, shift))
    title = f"Success on {name_seeds(summary)} seeds over real steps"
    return tag(
        "svg",
        tag("title", title),
        parts,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        class_=f"chart {kind}",
    )


def _only_acts(arm: ArmRow) -> bool:
    known = ARMS.get(arm["name"])
    return bool(known and known.weights_of)


def _bounds(rows: Iterable[RoundSummary]) -> tuple[float, float]:
    """Rates at the ends of the axis: tenths that hold all intervals."""
    rows = list(rows)
    low = min(row["low"] for row in rows)
    high = max(row["high"] for row in rows)
    floor, ceiling = int(low * 10) / 10, min(1.0, -int(-high * 10 - 0.999) / 10)
    return max(0.0, floor), max(ceiling, floor + 0.1)


def _axes(frame: ChartFrame) -> list[Markup]:
    right, base = frame.width - 4, frame.height - frame.bottom
    parts = []
    tenths = range(round(frame.low * 10), round(frame.high * 10) + 1)
    for tenth in tenths:
        y = frame.y(tenth / 10)
        parts.append(tag("line", x1=frame.left, x2=right, y1=y, y2=y, class_="grid"))
        label = f"{10 * tenth} %"
        parts.append(tag("text", label, x=frame.left - 8, y=y + 4, text_anchor="end"))
    for steps in _ticks(frame.steps, 6 if frame.width > 500 else 3):
        x = frame.x(steps)
        parts.append(tag("text", f"{steps:,.0f}", x=x, y=base + 18, text_anchor="middle"))
    middle = (frame.left + right) / 2
    words = "real steps in the browser, mean over repeats" if frame.has_steps else "round"
    parts.append(tag("text", words, x=middle, y=frame.height - 6, text_anchor="middle"))
    return parts


def _ticks(top: float, count: int) -> list[float]:
    """Round numbers from 0 to `top`, about `count` of them."""
    if top <= 0:
        return [0.0]
    size = 10.0 ** (len(str(int(top / count) or 1)) - 1)
    gap = next(size * mark for mark in _STEP_MARKS if size * mark * count >= top)
    return [gap * number for number in range(int(top / gap) + 1)]


def _start(summary: Summary, frame: ChartFrame) -> list[Markup]:
    """A dotted line at the height everything starts from."""
    starts = [row for arm in summary["arms"] for row in arm["rounds"] if row["round"] == 0]
    if not starts:
        return []
    y = frame.y(starts[0]["success"])
    return [tag("line", x1=frame.left, x2=frame.width - 4, y1=y, y2=y, class_="base")]


def _curve(summary: Summary, arm: ArmRow, frame: ChartFrame, shift: float) -> Markup:
    places = place_rounds(summary)
    points = [
        _Point(frame.x(places[arm["name"], row["round"]]) + shift, row) for row in arm["rounds"]
    ]
    line = " ".join(f"{p.x:.1f},{frame.y(p.row['success']):.1f}" for p in points)
    is_dashed = arm["rounds"][-1]["real_steps"] == 0
    whiskers = [
        tag(
            "line",
            x1=p.x,
            x2=p.x,
            y1=frame.y(p.row["low"]),
            y2=frame.y(p.row["high"]),
            class_="whisker",
        )
        for p in points
    ]
    marks = [_marked(summary, arm["name"], p, frame) for p in points]
    curve = tag("polyline", points=line, class_=f"curve{' dashed' if is_dashed else ''}")
    return tag("g", whiskers, curve, marks, class_=colour_class(summary, arm["name"]))


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


def _marked(summary: Summary, arm: str, point: _Point, frame: ChartFrame) -> Markup:
    row = point.row
    words = (
        f"{arm}, round {row['round']}: {100 * row['success']:.1f} % "
        f"({100 * row['low']:.1f} to {100 * row['high']:.1f}), {row['episodes']:,} episodes"
    )
    mark = _mark(shape_of(summary, arm), point.x, frame.y(row["success"]))
    return tag("g", tag("title", words), mark)


def _mark(shape: str, x: float, y: float, size: float = 5.0) -> Markup:
    if shape == "circle":
        return tag("circle", cx=x, cy=y, r=size, class_="mark")
    s = size * 1.1
    corners = {
        "square": ((-s, -s), (s, -s), (s, s), (-s, s)),
        "diamond": ((0, -1.35 * s), (1.35 * s, 0), (0, 1.35 * s), (-1.35 * s, 0)),
        "up": ((0, -1.2 * s), (1.2 * s, s), (-1.2 * s, s)),
        "down": ((0, 1.2 * s), (1.2 * s, -s), (-1.2 * s, -s)),
        "cross": _CROSS,
    }[shape]
    scale = s / 3 if shape == "cross" else 1.0
    path = "L".join(f"{x + scale * dx:.1f} {y + scale * dy:.1f}" for dx, dy in corners)
    return tag("path", d=f"M{path}Z", class_="mark")


_CROSS = (
    *((-1, -4), (1, -4), (1, -1), (4, -1), (4, 1), (1, 1)),
    *((1, 4), (-1, 4), (-1, 1), (-4, 1), (-4, -1), (-1, -1)),
)


def _key(summary: Summary, arm: str) -> Markup:
    """The arm's line and mark, for the legend."""
    row = next(row for row in summary["arms"] if row["name"] == arm)
    is_dashed = row["rounds"][-1]["real_steps"] == 0
    line = tag("line", x1=0, x2=30, y1=7, y2=7, class_=f"curve{' dashed' if is_dashed else ''}")
    parts = [] if _only_acts(row) or len(row["rounds"]) < 2 else [line]
    mark = _mark(shape_of(summary, arm), 15, 7, 4.5)
    return tag("svg", parts, mark, viewBox="0 0 30 14", aria_hidden="true")
