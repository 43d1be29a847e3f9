"""Small drawings for lines of a table: success by round, chances by round."""

from collections.abc import Sequence

from apps.report.markup import Markup, tag
from apps.view.history import Rate

_HEIGHT = 22
_GAP = 13
_EDGE = 5


def rounds(rates: Sequence[Rate], colour: str) -> Markup:
    """Success by round: a line with its intervals as a band, the rounds evenly spaced."""
    if not rates:
        return Markup("")
    xs = [_EDGE + _GAP * place for place in range(len(rates))]
    ends = [rate.interval for rate in rates]
    upper = [f"{x},{_y(high):.1f}" for x, (_, high) in zip(xs, ends, strict=True)]
    lower = [f"{x},{_y(low):.1f}" for x, (low, _) in zip(xs, ends, strict=True)]
    band = tag("path", d=f"M{'L'.join([*upper, *reversed(lower)])}Z", class_="band")
    words = ", ".join(f"round {rate.round}: {100 * rate.success:.0f} %" for rate in rates)
    line = " ".join(f"{x},{_y(rate.success):.1f}" for x, rate in zip(xs, rates, strict=True))
    dots = [
        tag("circle", cx=x, cy=_y(rate.success), r=2.2, class_="mark")
        for x, rate in zip(xs, rates, strict=True)
    ]
    curve = tag("polyline", points=line, class_="curve")
    whiskers = _whisker(xs[0], ends[0]) if len(rates) == 1 else band
    return _framed(words, colour, xs[-1], whiskers, curve, dots)


def chances(known: Sequence[tuple[int, float]]) -> Markup:
    """What the curriculum believed of the success, by round."""
    if not known:
        return Markup("")
    xs = [_EDGE + _GAP * place for place in range(len(known))]
    words = ", ".join(f"round {number}: {100 * chance:.0f} %" for number, chance in known)
    line = " ".join(f"{x},{_y(chance):.1f}" for x, (_, chance) in zip(xs, known, strict=True))
    last = tag("circle", cx=xs[-1], cy=_y(known[-1][1]), r=2.2, class_="mark")
    return _framed(words, "neutral", xs[-1], tag("polyline", points=line, class_="curve"), last)


def _whisker(x: float, ends: tuple[float, float]) -> Markup:
    return tag("line", x1=x, x2=x, y1=_y(ends[0]), y2=_y(ends[1]), class_="whisker")


def _framed(words: str, colour: str, right: float, *parts: Markup | Sequence[Markup]) -> Markup:
    width = right + _EDGE
    frame = tag("line", x1=0, x2=width, y1=_y(0), y2=_y(0), class_="grid")
    return tag(
        "svg",
        tag("title", words),
        frame,
        parts,
        viewBox=f"0 0 {width:g} {_HEIGHT}",
        width=width,
        height=_HEIGHT,
        role="img",
        class_=f"strip {colour}",
    )


def _y(rate: float) -> float:
    return 3 + (_HEIGHT - 6) * (1 - rate)
