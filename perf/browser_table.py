"""Every figure of the browser world beside BrowserGym's, in one run.

    python perf/browser_table.py [--json] [--browsergym PYTHON] [--times 3] [--only NAME ...]

`--browsergym` names the Python of an environment in which `browsergym-miniwob` is installed; it is
then measured on the same tasks and pages for the column `theirs`, in the same Chromium, or in the
one that the environment variable BROWSERGYM_CHROMIUM names. A ratio above 1 favours us. `--times`
scales how often each thing is done: 3 is quick, 16 is for publishing.
"""

from collections.abc import Callable

import determinism
import memory
import pages
import steps
import throughput
from rows import Row, options, show

MEASUREMENTS: dict[str, Callable[[str, int], list[Row]]] = {
    "steps": steps.rows,
    "large": pages.large_rows,
    "frames": pages.frame_rows,
    "memory": memory.rows,
    "throughput": throughput.rows,
    "determinism": determinism.rows,
}


def main() -> None:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("--browsergym", metavar="PYTHON", default="")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--only", nargs="*", choices=tuple(MEASUREMENTS))
    chosen = parser.parse_args()
    table = [
        one
        for name in chosen.only or MEASUREMENTS
        for one in MEASUREMENTS[name](chosen.browsergym, chosen.times)
    ]
    show(table, as_json=chosen.json)


if __name__ == "__main__":
    main()
