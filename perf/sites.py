"""What sites on this machine cost: start, reset and telling of changes, one and eight at once.

    python perf/sites.py [SITE...]

Without names it is a diary with a database of 2 MB and 300 pictures; before each reset one row is
written over HTTP.
"""

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import Request, urlopen

ROOT = Path(__file__).parent.parent
# perf.fakes is installed nowhere: this checkout must be found first.
sys.path.insert(0, str(ROOT))

from benchmarks.sites import Instance, RemoteSite, Site, find_site  # noqa: E402
from benchmarks.sites.changes import find_changes  # noqa: E402
from benchmarks.sites.instance import first_state  # noqa: E402
from benchmarks.sites.state import Build, ensure_built  # noqa: E402
from perf.fakes.diary import Diary  # noqa: E402

RESETS, AT_ONCE = 50, 8
Work = Callable[[Instance], None]


def main(names: Sequence[str]) -> None:
    """A line for each site."""
    print("site          files     MB  build s  start ms  reset ms (cpu)  changes ms  8 at once ms")
    if not names:
        _measure(Diary(id="diary-2mb@1", files=300, file_bytes=1000, padding=2_000_000), _write)
    for name in names:
        site = find_site(name)
        if not isinstance(site, RemoteSite):
            _measure(site, _look)


def _measure(site: Site, work: Work) -> None:
    build = ensure_built(site, first_state)
    files = [path for path in build.state().rglob("*") if path.is_file()]
    with Instance.of(build) as running:
        resets, processor, tellings = _resets(running, work, RESETS)
    together = _together(build, work)
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    print(
        f"{site.id:<12} {len(files):>6} {megabytes:>6.2f} {build.seconds:>8.1f}"
        f" {1000 * running.seconds:>9.0f} {1000 * statistics.median(resets):>9.1f}"
        f" ({1000 * statistics.median(processor):.0f}) {1000 * statistics.median(tellings):>11.1f}"
        f" {1000 * statistics.median(together):>13.1f}"
    )


def _resets(running: Instance, work: Work, count: int) -> tuple[list[float], ...]:
    """Seconds of each reset, those of them that the processor was ours, and of each telling."""
    resets: list[float] = []
    processor: list[float] = []
    tellings: list[float] = []
    for _ in range(count):
        work(running)
        began = time.perf_counter()
        if running.saved_database and running.database:
            find_changes(running.saved_database, running.database, running.site.passing)
        tellings.append(time.perf_counter() - began)
        began = time.thread_time()
        resets.append(running.reset())
        processor.append(time.thread_time() - began)
    return resets, processor, tellings


def _together(build: Build, work: Work) -> list[float]:
    """Seconds of resets of eight instances that are all at work."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        all_running = list(threads.map(lambda _: Instance.of(build), range(AT_ONCE)))
        try:
            done = list(threads.map(lambda each: _resets(each, work, 10)[0], all_running))
        finally:
            for each in all_running:
                each.stop()
    return [seconds for resets in done for seconds in resets]


def _write(running: Instance) -> None:
    cookie = running.login("writer")["cookies"][0]
    headers = {"Cookie": f"{cookie['name']}={cookie['value']}"}
    urlopen(Request(f"{running.base}/entries", b"text=Fog", headers), timeout=30).close()


def _look(running: Instance) -> None:
    urlopen(running.base, timeout=30).close()


if __name__ == "__main__":
    main(sys.argv[1:])
