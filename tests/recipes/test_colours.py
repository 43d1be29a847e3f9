"""Every arm is told from every other by its colour in each report."""

from pathlib import Path

from apps.report.charts import SHAPES
from loop.arms import ARMS

PAGE = Path(__file__).parents[2] / "apps" / "report" / "templates" / "report.css"


def test_every_arm_has_a_shape_and_a_colour_by_day_and_by_night() -> None:
    style = PAGE.read_text()
    assert len(SHAPES) == len(ARMS)
    for place in range(len(ARMS)):
        assert style.count(f"--a{place}: ") == 2
        assert f".a{place} {{ --c: var(--a{place}); }}" in style
