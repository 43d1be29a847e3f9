"""`webagent do` on lists that go over several pages, through its real entry point."""

import csv
from pathlib import Path

import pytest

from apps.repeat.rows import JOURNAL
from recipes import cli
from tests.apps.repeat.test_do import on, record
from tests.fakes.desk import Desk, desk
from webagent.policy.program import read_program

GOAL = "Read the list of tickets."
NAMES = ("Ann", "", "Ben", "Cleo, of <Lund> & Sons")
TICKETS = [(f"Lamp {number}", NAMES[number % 4]) for number in range(23)]


@pytest.fixture(scope="module")
def listing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of reading the tickets, learned from two recordings."""
    folder = tmp_path_factory.mktemp("learned")
    with desk(*((f"Sofa {number}", "Ida") for number in range(11))) as site:
        site.size = 4
        record(folder / "run", site.url, [(GOAL, [on("Next")] * 2), (GOAL, [on("Next")])])
    task = folder / "list.toml"
    assert cli.main(["do", "--learn", str(folder / "run"), "--out", str(task)]) == 0
    return task


def read(task: Path, site: Desk, folder: Path, *more: str) -> list[dict[str, str]]:
    """Run the command; return the rows that it has written."""
    out = folder / "out.csv"
    where = more or ("--runs", str(folder / "runs"), "--name", "run")
    cli.main(["do", str(task), "--out", str(out), "--url", site.url, *where])
    return list(csv.DictReader(out.read_text().splitlines()))


def titles(rows: list[dict[str, str]]) -> list[str]:
    """Return the first column."""
    return [row["Title"] for row in rows]


@pytest.mark.browser
@pytest.mark.very_slow
def test_all_pages_are_read_cell_by_cell_and_a_kill_goes_on_where_it_was(listing, tmp_path):
    assert read_program(listing).steps[0].columns == ("Title", "Customer", "State")
    with desk(*TICKETS) as site:
        site.size, site.always_next, shown = 5, True, list[int]()
        site.on_page = shown.append
        rows = read(listing, site, tmp_path)
        assert [(row["Title"], row["Customer"]) for row in rows] == TICKETS
        assert {(row["State"], row["result"]) for row in rows} == {("open", "done")}
        assert site.writes == 0
        # As a kill leaves it in the second reading: four of the first reading's pages are known.
        journal, pages = tmp_path / "runs" / "run" / JOURNAL, shown.index(6)
        journal.write_text("\n".join(journal.read_text().splitlines()[: 1 + 4]) + "\n")
        shown.clear()
        again = read(listing, site, tmp_path, "--resume", str(journal.parent))
        assert titles(again) == titles(rows) and pages == 5
        assert shown[:3] == [1, 4, 5], "the pages in between are not read again"


@pytest.mark.browser
@pytest.mark.very_slow
def test_a_list_that_changes_while_it_is_read_is_read_again_or_reported(listing, tmp_path, capsys):
    with desk(*TICKETS) as site:
        site.size = 8

        def add(page: int) -> None:
            if page == 2 and len(site.tickets) < most:
                site.tickets.insert(0, [f"New {len(site.tickets)}", "Ann", "open"])

        site.on_page, most = add, 24
        rows = read(listing, site, tmp_path)
        assert titles(rows) == ["New 23", *(title for title, _ in TICKETS)]
        most = 99
        rows = read(listing, site, tmp_path, "--name", "other", "--runs", str(tmp_path / "runs"))
        assert {row["result"] for row in rows} == {"unverified"}
        assert "the list changed each time that it was read" in rows[0]["why"]
        assert len({*titles(rows)}) == len(rows), "no row stands there twice"
