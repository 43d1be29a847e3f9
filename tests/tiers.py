"""Which tests a tier runs, and the shares of what the default tier leaves out."""

import os
import re
import shutil
import tempfile
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from webagent.browser.chromium import playwright_folder

TIERS = ("fast", "default", "all")
SECONDS = {"fast": 1.0, "default": 5.0}
"""Longest time of one test on a quiet machine."""
MARGIN = 3
"""How many times slower than a quiet machine one may be before its tests are listed as too slow."""
NOT_FAST = ("browser", "site", "slow", "very_slow")
WITH_TORCH = (
    *(
        "tests/test_gpu_script.py",
        "tests/apps/trainers/test_episode.py",
    ),
    *("tests/evaluators/judge/test_local.py", "tests/evaluators/reward/"),
    *("tests/loop/test_folder.py", "tests/loop/test_language_learner.py"),
    *("tests/loop/test_sampling.py", "tests/loop/test_stages.py", "tests/loop/training/"),
    *("tests/loop/judging/test_named.py", "tests/recipes/test_collect.py"),
    *("tests/recipes/test_lookahead.py", "tests/recipes/test_restate.py"),
    *("tests/recipes/test_student.py", "tests/recipes/test_train_progress.py"),
    *("tests/webagent/models/builtin/", "tests/webagent/models/constrain/"),
    *("tests/webagent/models/local/", "tests/webagent/models/test_fresh.py"),
    *("tests/webagent/policy/test_remembering.py", "tests/webagent/policy/test_restating.py"),
    *("tests/webagent/policy/test_constrained.py", "tests/webagent/training/"),
)
"""Files and folders whose tests load torch or what reads tokens, seconds for each process; not in
tier fast."""
_MARKED = re.compile(r"^pytestmark = (\[.*?\]|[^\n]*)", re.MULTILINE | re.DOTALL)
KEPT_VARIABLES = (
    *("WEBAGENT_CHROMIUM", "WEBAGENT_BENCHMARKS", "WEBAGENT_RECORDED"),
    "WEBAGENT_VERIFIED_PYTHON",
)
"""What a tester may say about the machine; other settings of the user do not reach the tests."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A tier, or one share of what the default tier leaves out."""

    tier: str = "all"
    share: int | None = None
    shares: int = 1

    def __str__(self) -> str:
        if self.share is None:
            return f"tier {self.tier}"
        return f"share {self.share + 1} of {self.shares} of what the default tier leaves out"

    def keep(self, items: Sequence[pytest.Item]) -> list[pytest.Item]:
        """Return the items that belong to this selection, in their order."""
        if self.share is not None:
            default = {id(item) for item in Selection("default").keep(items)}
            return [i for i in items if id(i) not in default and self._share_of(i) == self.share]
        if self.tier == "all":
            return list(items)
        marks = self._marks_left_out()
        return [i for i in sample(items) if not any(i.get_closest_marker(name) for name in marks)]

    def passes_over(self, path: Path, root: Path) -> bool:
        """Return whether it plays nothing of a file of tests, or of any in a folder, by what they
        load and by their marks as a whole; it need not be imported then."""
        if self.tier == "all":
            return False
        if path.is_dir():
            files = list(path.rglob("test_*.py"))
            return bool(files) and all(self.passes_over(file, root) for file in files)
        if self.tier == "fast" and path.relative_to(root).as_posix().startswith(WITH_TORCH):
            return True
        marked = _MARKED.search(path.read_text()) if path.name.startswith("test_") else None
        return marked is not None and any(
            f"pytest.mark.{name}" in marked[1] for name in self._marks_left_out()
        )

    def _marks_left_out(self) -> tuple[str, ...]:
        return NOT_FAST if self.tier == "fast" else ("very_slow",)

    def _share_of(self, item: pytest.Item) -> int:
        # Cases of a sampled table are spread over the shares; other tests stay with their file,
        # whose fixtures are made once then.
        is_case = item.get_closest_marker("sample") is not None
        key = item.nodeid if is_case else item.nodeid.partition("::")[0]
        return zlib.crc32(key.encode()) % self.shares


def read_share(text: str) -> Selection:
    """Read `K/N`, counted from 1; raise a usage error for anything else."""
    number, _, of = text.partition("/")
    if not (number.isdigit() and of.isdigit() and 1 <= int(number) <= int(of)):
        raise pytest.UsageError(f"--share is {text!r}; write K/N with K from 1 to N, as in 2/4")
    return Selection("all", int(number) - 1, int(of))


def sample(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the items without those cases that their function's `sample(n)` leaves out."""
    seen: Counter[str] = Counter()
    kept = []
    for item in items:
        mark = item.get_closest_marker("sample")
        name = item.nodeid.partition("[")[0]
        if mark is None or seen[name] % mark.args[0] == 0:
            kept.append(item)
        seen[name] += 1
    return kept


def move_home() -> Path:
    """Point HOME and the XDG folders into a new folder, forget the user's settings; return it.

    What is only costly to make again stays where it is: the browser, pip's cache, and the
    environments of the official scorers.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    for variable, folder in (
        ("PLAYWRIGHT_BROWSERS_PATH", playwright_folder()),
        ("PIP_CACHE_DIR", cache / "pip"),
        ("WEBAGENT_TESTS_CACHE", cache / "webagent-tests"),
    ):
        os.environ.setdefault(variable, str(folder))
    for name in list(os.environ):
        if name.startswith("XDG_") or (
            name.startswith("WEBAGENT_") and name not in (*KEPT_VARIABLES, "WEBAGENT_TESTS_CACHE")
        ):
            del os.environ[name]
    home = Path(tempfile.mkdtemp(prefix="webagent-tests-home-"))
    os.environ["HOME"] = str(home)
    os.environ["WEBAGENT_SCORERS"] = os.environ["WEBAGENT_TESTS_CACHE"]
    os.environ["HF_HUB_OFFLINE"] = "1"  # no test waits for a hub that it does not need
    return home


def remove_home(home: Path) -> None:
    """Remove what tests left in their home."""
    shutil.rmtree(home, ignore_errors=True)
