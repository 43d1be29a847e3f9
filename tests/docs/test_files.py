"""What pages show of files can be read by whoever reads such files; links lead somewhere."""

import json
import re
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path

import pytest

from benchmarks import own
from benchmarks.catalogue import Options
from benchmarks.proposed import suite
from benchmarks.sites.described import read_sites
from perf.documentation import ROOT, Block, blocks, name_of, pages
from tests.docs.treated import HISTORY
from webagent.browser.sessions.profile import read_profile
from webagent.guard import Guard
from webagent.models import load_endpoint, read_prices
from webagent.policy.program import read_program

READERS: dict[tuple[str, str], Callable[[Path], object]] = {
    ("docs/collecting.md", "[tasks."): lambda file: own.suite(Options(files=file)),
    ("docs/cost.md", "[models."): read_prices,
    ("docs/guard.md", "on_refusal"): Guard.read,
    ("docs/guard.md", "fossil@1/setup"): Guard.read,
    ("docs/howto/own-model.md", "[endpoint]"): load_endpoint,
    ("docs/repeating.md", "[check]"): read_program,
    ("docs/sites.md", "notes@1"): read_sites,
    ("docs/sites.md", "kanboard"): read_sites,
    ("docs/sites.md", "hosted ="): read_sites,
    ("docs/models.md", "[endpoint]"): load_endpoint,
    ("docs/sites.md", "[sites.shop]"): lambda file: read_profile(file, "shop"),
}
PATH = re.compile(r"`((?:\w[\w-]*/)+[\w.-]*)`")
PATTERNS = ("recipes/NAME.py",)
"""What stands for many files."""
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
TOML = [b for page in pages() for b in blocks(page) if b.language == "toml"]


@pytest.mark.parametrize("block", TOML, ids=attrgetter("place"))
def test_a_toml_file_of_a_page_can_be_read(block, tmp_path, monkeypatch):
    monkeypatch.setenv("WEBAGENT_LOGINS", str(tmp_path))
    monkeypatch.setenv("SHOP_PASSWORD", "kept from the model")
    [read] = [r for (page, w), r in READERS.items() if page == block.page and w in block.text]
    file = tmp_path / "file.toml"
    file.write_text(block.text.replace('login = "shop"', "#"))
    assert read(file) is not None


def test_the_tasks_that_are_shown_are_tasks(tmp_path: Path) -> None:
    shown = [b for page in pages() for b in blocks(page) if b.language == "json"]
    found = [block for block in shown if '"source"' in block.text and '"task"' in block.text]
    assert found
    for number, block in enumerate(found):
        file = tmp_path / f"{number}.jsonl"
        file.write_text(json.dumps(json.loads(block.text)) + "\n")
        assert suite(Options(files=file)).names
    example = suite(Options(files=ROOT / "docs/example/tasks.jsonl"))
    assert example.names == ("add", "finish", "count")


def test_files_and_folders_that_are_named_are_there() -> None:
    """Those of the repository's own folders; ids of Gymnasium, `webagent/…-v1`, look like them."""
    folders = {each.parent.name for each in ROOT.glob("*/__init__.py")} | {"docs", "perf", "tests"}
    named = [
        (name_of(page), path)
        for page in pages()
        if not name_of(page).startswith(HISTORY)
        for path in PATH.findall(page.read_text(encoding="utf-8"))
        if path.partition("/")[0] in folders
        if path not in PATTERNS and not re.search(r"-v\d+$", path)
    ]
    assert len(named) > 20
    assert [(page, path) for page, path in named if not (ROOT / path).exists()] == []


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    linked = {(ROOT / "docs" / link).resolve() for link in LINK.findall(index)}
    written = [page for page in pages() if not name_of(page).startswith(HISTORY)]
    own = {ROOT / "docs/README.md", ROOT / "AGENTS.md"}
    assert [name_of(page) for page in written if page not in linked | own] == []


def test_the_architecture_page_draws_the_floors_that_the_linter_holds() -> None:
    import tomllib

    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    drawn = [drawing(block) for block in blocks(ROOT / "docs/architecture.md")][1:3]
    held = [
        [
            sorted(part.strip().rpartition(".")[2] for part in layer.split("|"))
            for layer in each["layers"]
        ]
        for each in tool["importlinter"]["contracts"][1:3]
    ]
    assert drawn == held


def drawing(block: Block) -> list[list[str]]:
    """The names at the beginning of each line."""
    starts = [re.split(r" {2,}", line)[0] for line in block.text.splitlines()]
    return [sorted(part.strip() for part in start.split("|")) for start in starts]


def test_guides_are_short() -> None:
    guides = [page for page in pages() if name_of(page).startswith("docs/")]
    guides = [page for page in guides if not name_of(page).startswith(HISTORY)]
    assert sum(count_words(page) for page in guides) <= 30_000
    assert sum(count_words(ROOT / name) for name in NEWCOMER) <= 9_000


NEWCOMER = (
    "README.md",
    *("docs/tutorial.md", "docs/running.md", "docs/benchmarks.md", "docs/improving.md"),
    *("docs/howto/own-model.md", "docs/sites.md", "docs/architecture.md"),
)
"""The pages that a newcomer reads first."""


def count_words(page: Path) -> int:
    return len(page.read_text(encoding="utf-8").split())
