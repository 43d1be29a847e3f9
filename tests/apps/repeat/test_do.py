"""`webagent do` through its real entry point, on a help desk that has faults."""

import asyncio
import csv
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from apps.repeat.rows import JOURNAL, Journal, key_rows
from recipes import cli
from tasks.task import Task
from tests.fakes.desk import Desk, desk
from webagent.action import Action, Answer
from webagent.action.actions import Click, Fill
from webagent.browser import Browser
from webagent.policy.policy import ScriptedPolicy
from webagent.policy.program import read_program
from webagent.records import Observation, Provenance
from webagent.rollout import run_episode
from webagent.store import Store

Move = Callable[[Observation], Action]


def on(name: str, text: str = "", row: str = "") -> Move:
    """Click what has a name, in a row, or fill it with a text."""

    def move(seen: Observation) -> Action:
        marks = [node.mark for node in seen.nodes if node.mark and node.name == name]
        titles = [node.name for node in seen.nodes if " | " in node.name]
        at = next((i for i, each in enumerate(titles) if each.startswith(f"{row} |")), 0)
        return Fill(marks[0], text) if text else Click(marks[at])

    return move


def record(run: Path, url: str, demonstrations: Sequence[tuple[str, Sequence[Move]]]) -> None:
    """Store what a person does as recordings."""

    async def play() -> None:
        with Store.open(run, create=True) as store:
            async with Browser() as browser:
                world = await browser.world()
                for index, (goal, moves) in enumerate(demonstrations):
                    policy = ScriptedPolicy(
                        lambda past, seen, moves=(*moves, lambda _: Answer()): moves[
                            len(past.steps)
                        ](seen)
                    )
                    task = Task(f"recorded/desk-{index}@1", url, goal)
                    await run_episode(
                        task, policy, world, provenance=Provenance(index=index), recorder=store
                    )
                await world.close()

    asyncio.run(play())


def adding(title: str, customer: str) -> tuple[str, list[Move]]:
    """Someone adds a ticket."""
    moves = [on("New ticket"), on("Title", title), on("Customer", customer), on("Save")]
    return f'Add the ticket "{title}" of "{customer}".', moves


def closing(title: str, customer: str) -> tuple[str, list[Move]]:
    """Someone closes a ticket."""
    return f'Close the ticket "{title}" of "{customer}".', [on("Close", row=title)]


def write_table(path: Path, *rows: tuple[str, ...], columns: Sequence[str]) -> Path:
    """Write a CSV file."""
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    return path


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of adding a ticket, learned from two recordings."""
    folder = tmp_path_factory.mktemp("learned")
    with desk(("Lamp", "Ann")) as site:
        record(folder / "run", site.url, [adding("Desk", "Ben"), adding("Old chair", "Cleo")])
        task = folder / "task.toml"
        assert cli.main(["do", "--learn", str(folder / "run"), "--out", str(task)]) == 0
    return task


def do(task: Path, site: Desk, table: Path, folder: Path, *more: str) -> list[dict[str, str]]:
    """Run the command; return the rows of its table."""
    out = folder / "out.csv"
    where = ("--url", site.url, "--runs", str(folder / "runs"), "--name", "run")
    cli.main(["do", str(task), "--table", str(table), "--out", str(out), *where, *more])
    return list(csv.DictReader(out.read_text().splitlines()))


@pytest.mark.browser
@pytest.mark.very_slow
def test_every_row_is_written_once_and_read_back_whatever_the_site_does(program, tmp_path):
    columns = ("title", "customer")
    faults = ("", "!dropped", "!doubled", "!error", "!session", "!partial")
    table = write_table(tmp_path / "t.csv", *((f"Rug{f}", "Dan") for f in faults), columns=columns)
    with desk(("Lamp", "Ann")) as site:
        rows = do(program, site, table, tmp_path)
        assert {row["title"]: row["result"] for row in rows} == {
            "Rug": "verified",
            "Rug!dropped": "unverified",
            "Rug!doubled": "unverified",
            "Rug!error": "verified",
            "Rug!session": "unverified",
            "Rug!partial": "unverified",
        }
        assert "2 times" in rows[2]["why"] and site.writes == len(faults)
        with Store.open(tmp_path / "runs" / "run") as store:
            assert len(store.ids(phase="do")) == len(faults)
        # Gone on with: what is there is not repeated, what is not is.
        before = [ticket[0] for ticket in site.tickets]
        resumed = do(program, site, table, tmp_path, "--resume", str(tmp_path / "runs" / "run"))
        after = [ticket[0] for ticket in site.tickets]
        assert after.count("Rug") == after.count("Rug!error") == 1
        for fault in ("doubled", "partial"):
            assert before.count(f"Rug!{fault}") == after.count(f"Rug!{fault}")
        assert resumed[0]["result"] == "verified" and "a part" in resumed[5]["why"]


@pytest.mark.browser
@pytest.mark.very_slow
def test_a_save_that_removes_somebody_elses_record_is_reported_and_ends_the_table(
    program, tmp_path
):
    titles = [("Rug", "Dan"), ("Bed!stale", "Eve"), ("Box", "Fay")]
    table = write_table(tmp_path / "t.csv", *titles, columns=("title", "customer"))
    with desk(("Lamp", "Ann")) as site:
        rows = do(program, site, table, tmp_path)
        assert [row["result"] for row in rows] == ["verified", "unverified", "refused"]
        assert "lamp" in rows[1]["why"] and "row 2" in rows[2]["why"] and site.writes == 2
        rows = do(program, site, table, tmp_path, "--resume", str(tmp_path / "runs" / "run"))
        assert [row["result"] for row in rows] == ["verified", "unverified", "verified"]
        assert site.writes == 3


@pytest.mark.browser
@pytest.mark.very_slow
def test_a_row_that_was_being_sent_at_a_kill_is_read_back_before_it_is_repeated(program, tmp_path):
    table = write_table(
        tmp_path / "t.csv", ("Rug", "Dan"), ("Bed", "Eva"), columns=("title", "customer")
    )
    with desk(("Lamp", "Ann"), ("Rug", "Dan")) as site:
        # A journal as a kill leaves it: the first has reached the site, the second has not.
        done = do(
            program,
            site,
            write_table(tmp_path / "n.csv", ("X", "Y"), columns=("title", "customer")),
            tmp_path,
        )
        assert done[0]["result"] == "verified"
        keys = key_rows(
            [{"title": "Rug", "customer": "Dan"}, {"title": "Bed", "customer": "Eva"}],
            ["title", "customer"],
        )
        for key in keys:
            journal = Journal(tmp_path / "runs" / "run" / JOURNAL)
            journal.row = key
            journal.add(event="began")
            journal.note_write("POST", site.url)
        rows = do(program, site, table, tmp_path, "--resume", str(tmp_path / "runs" / "run"))
        assert [row["result"] for row in rows] == ["verified", "verified"]
        assert rows[0]["why"] == "found there after an interruption"
        assert sorted(ticket[0] for ticket in site.tickets) == ["Bed", "Lamp", "Rug", "X"]


@pytest.mark.browser
@pytest.mark.slow
def test_a_row_that_fits_twice_is_refused_and_nothing_is_written(tmp_path):
    tickets = [("Lamp", "Ann"), ("Lamp", "Ben"), ("Rug", "Ann"), ("Bed", "Ann"), ("Bed", "Ann")]
    with desk(*tickets, ("Sofa", "Ida"), ("Desk", "Jon")) as site:
        record(tmp_path / "rec", site.url, [closing("Sofa", "Ida"), closing("Desk", "Jon")])
        task = tmp_path / "task.toml"
        assert cli.main(["do", "--learn", str(tmp_path / "rec"), "--out", str(task)]) == 0
        writes = site.writes
        names = list(read_program(task).parameters)
        rows = [("Lamp", "Ben"), ("Bed", "Ann"), ("Couch", "Ann")]
        done = do(task, site, write_table(tmp_path / "t.csv", *rows, columns=names), tmp_path)
        assert [row["result"] for row in done] == ["verified", "refused", "refused"]
        assert "2 elements fit" in done[1]["why"] and "not on the page" in done[2]["why"]
        assert site.writes == writes + 1
        assert [t[2] for t in site.tickets] == ["open", "closed", *["open"] * 3, "closed", "closed"]


@pytest.mark.browser
@pytest.mark.very_slow
def test_a_step_on_every_row_is_done_for_all_rows_that_are_there(tmp_path):
    run, task = tmp_path / "run", tmp_path / "task.toml"
    with desk() as site:
        site.is_closing_final = True
        for count in (3, 2):
            site.tickets[:] = [[f"Lamp {number}", "Ann", "open"] for number in range(count)]
            record(run / str(count), site.url, [("Close all tickets.", [on("Close")] * count)])
    assert cli.main(["do", "--learn", str(run / "3"), str(run / "2"), "--out", str(task)]) == 0
    with desk(*[(f"Chair {number}", "Eve") for number in range(5)]) as site:
        site.is_closing_final = True
        where = ("--url", site.url, "--runs", str(tmp_path / "runs"))
        assert cli.main(["do", str(task), *where]) == 0
        assert site.writes == 5 and {ticket[2] for ticket in site.tickets} == {"closed"}


@pytest.mark.browser
@pytest.mark.very_slow
def test_one_recording_whose_goal_quotes_what_differs_is_enough(tmp_path, capsys):
    task, columns = tmp_path / "task.toml", ("title", "customer")
    with desk(("Lamp", "Ann")) as site:
        record(tmp_path / "rec", site.url, [adding("Desk", "Ben")])
        assert cli.main(["do", "--learn", str(tmp_path / "rec"), "--out", str(task)]) == 0
        assert "one recording: title, customer may differ, and nothing" in capsys.readouterr().out
        rows = [("Rug", "Dan"), ("Desk", "Ben"), ("Bed!partial", "Eve")]
        done = do(task, site, write_table(tmp_path / "t.csv", *rows, columns=columns), tmp_path)
        assert [row["result"] for row in done] == ["verified", "skipped", "unverified"]
        assert site.writes == 3


CHANGES = {
    "a label is renamed": ({"<label>Title": "<label>Subject"}, "step 2, fill .*not on the page"),
    "a button is renamed": ({">Save<": ">Create<"}, 'step 4, click .*nearest.*button "Create"'),
    "a control has moved away": ({">New ticket<": ">Menu<"}, "does not show 'New ticket'"),
    "there are two": ({"<button>Save": "<button>Save</button><button>Save"}, "2 elements fit"),
    "the list is another": ({"<h1>Desk": "<h1>Archive"}, "does not show 'Desk'"),
}


@pytest.mark.browser
@pytest.mark.very_slow
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_site_is_noticed_before_anything_is_sent(program, tmp_path, change):
    changed, reason = CHANGES[change]
    table = write_table(tmp_path / "t.csv", ("Rug", "Dan"), columns=("title", "customer"))
    with desk(("Lamp", "Ann")) as site:
        site.changed = changed
        [row] = do(program, site, table, tmp_path)
        assert (row["result"], site.writes) == ("refused", 0) and re.search(reason, row["why"])


@pytest.mark.browser
@pytest.mark.very_slow
def test_a_further_step_before_it_is_saved_ends_the_table_with_nothing_saved(program, tmp_path):
    titles = [("Rug", "Dan"), ("Bed", "Eve"), ("Box", "Fay")]
    table = write_table(tmp_path / "t.csv", *titles, columns=("title", "customer"))
    with desk(("Lamp", "Ann")) as site:
        site.confirms = True
        rows = do(program, site, table, tmp_path)
        assert [row["result"] for row in rows] == ["unverified", "refused", "refused"]
        assert "has the site changed" in rows[1]["why"]
        assert (site.writes, len(site.tickets)) == (1, 1)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ("title\nRug\n", "no column 'customer'"),
        ("title,customer\nRug,\n", "row 1 has no value for 'customer'"),
        ("", "no rows"),
        ("title,customer,title\nRug,Dan,Bed\n", "two columns 'title'"),
        ("title,customer\nRug, blue,Dan\n", "row 1 has more values than"),
    ],
)
@pytest.mark.browser
def test_a_table_that_lacks_something_is_refused_before_anything_starts(
    program, tmp_path, capsys, table, reason
):
    path = tmp_path / "t.csv"
    path.write_text(table)
    assert cli.main(["do", str(program), "--table", str(path), "--runs", str(tmp_path / "r")]) == 2
    assert reason in capsys.readouterr().err and not (tmp_path / "r").exists()
