"""Tables of rows by `webagent do`: learned from recordings, killed twice, and counted in the
site's own database.

    python perf/repeat.py notes fossil oscar faults --rows 100 --out repeat.json
"""

import argparse
import asyncio
import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.fossil.oracles.steps import (  # noqa: E402
    ALL_TICKETS,
    cells,
    choose,
    fill_unnamed,
    find_ticket,
)
from benchmarks.oracles import Moves, View, fill, press, push  # noqa: E402
from benchmarks.oscar.oracles.dashboard import menu  # noqa: E402
from benchmarks.oscar.oracles.steps import open_product  # noqa: E402
from benchmarks.sites import Instance, RemoteSite, find_site  # noqa: E402
from tasks.task import Task  # noqa: E402
from tests.fakes.desk import desk  # noqa: E402
from webagent.action import Action, Answer, Wait  # noqa: E402
from webagent.action.actions import Goto, SelectOption  # noqa: E402
from webagent.browser import Browser  # noqa: E402
from webagent.browser.sessions.login import Logins  # noqa: E402
from webagent.errors import PolicyError  # noqa: E402
from webagent.policy.policy import ScriptedPolicy  # noqa: E402
from webagent.policy.program import read_program  # noqa: E402
from webagent.records import Observation, Provenance, Trajectory  # noqa: E402
from webagent.rollout import run_episode  # noqa: E402
from webagent.store import Store  # noqa: E402

WEBAGENT = str(Path(sys.executable).with_name("webagent"))
SITES = ROOT / "docs/example/sites.toml"
ADJECTIVES = ("Blue", "Loose", "Broken", "Old", "Silent", "Heavy", "Green", "Bent", "Warm", "Tiny")
NOUNS = ("lamp", "chair", "shelf", "door", "window", "printer", "heater", "ladder", "desk", "tap")
TITLES = [f"{one} {other}" for one in ADJECTIVES for other in NOUNS]
SEVERITIES = ("Critical", "Severe", "Important", "Minor", "Cosmetic")
MEDICAL_FAULTS = (
    *("ok", "partial", "optimistic", "timeout", "session", "stale", "double", "idempotent"),
    *("wrong_record", "no_persist"),
)
FAULTS = ("", "!dropped", "!doubled", "!error", "!session", "!partial")
TRIES, PAUSE_MS = 20, 300

Row = tuple[str, ...]
Shown = tuple[str, Moves]
"""A goal, and how it is done."""


@dataclass(frozen=True)
class Job:
    """A task: who shows it how, its rows, and what counts a row in the site's database."""

    name: str
    demonstrations: Sequence[Shown]
    rows: Sequence[Row]
    count: Callable[[Row], int]
    """How often the row has been written; for one that is to be refused, 0 is right."""
    refused: frozenset[Row] = frozenset()
    """Rows that fit twice."""
    damaging: frozenset[Row] = frozenset()
    """Rows whose save removes somebody else's record, so that none of them is right."""
    outputs: dict[str, str] = field(default_factory=dict)
    """What is to be read, by the row's first value."""
    path: str = ""
    """The page of the site on which it begins."""

    def limit(self, most: int) -> "Job":
        """Return it with so many demonstrations."""
        return replace(self, demonstrations=self.demonstrations[:most])


def follow(moves: Moves) -> Callable[[Trajectory, Observation], Action]:
    """Return a script that makes these moves, each as soon as the page has what it needs."""
    left, tries = list(moves), TRIES

    def script(past: Trajectory, page: Observation) -> Action:
        nonlocal tries
        while left:
            try:
                action = left[0](View.of(past, page))
            except PolicyError:
                tries -= 1
                if not tries:
                    raise
                return Wait(PAUSE_MS)
            left.pop(0)
            if action is not None:
                return action
        return Answer("")

    return script


async def record(run: Path, url: str, job: Job, login: str) -> None:
    """Store the demonstrations as recordings."""
    with Store.open(run, create=True) as store:
        async with Browser() as browser:
            world = await browser.world(logins=Logins(run.parent))
            for index, (goal, moves) in enumerate(job.demonstrations):
                name = f"recorded/{job.name}-{index}@1"
                task = Task(name, url, goal, clock="real", max_steps=60, login=login)
                place = Provenance(run=run.name, arm="person", index=index)
                policy = ScriptedPolicy(follow(moves))
                done = await run_episode(task, policy, world, provenance=place, recorder=store)
                if done.error:
                    raise SystemExit(f"{job.name}: {done.error}")
            await world.close()


def work(
    job: Job,
    folder: Path,
    url: str,
    kills: int = 2,
    change: tuple[str, str] = ("", ""),
    state: Any = None,
) -> dict[str, Any]:
    """Learn the task and do its table, killed on the way; return what came of it. `state` is a
    login that it begins with."""
    folder.mkdir()
    run, program, table = folder / "recordings", folder / "task.toml", folder / "rows.csv"
    login = "user" if state else ""
    (folder / "user.json").write_text(json.dumps(state))
    asyncio.run(record(run, url, job, login))
    learn = [WEBAGENT, "do", "--learn", str(run), "--out", str(program)]
    subprocess.run(learn, check=True, stdout=subprocess.DEVNULL)
    program.write_text(program.read_text().replace(*change) if change[0] else program.read_text())
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([list(read_program(program).parameters), *job.rows])
    out, place = folder / "out.csv", folder / "runs" / "do"
    command = [WEBAGENT, "do", str(program), "--table", str(table), "--out", str(out)]
    command += ["--login", login, "--logins", str(folder)] if login else []
    began = time.monotonic()
    for number in range(kills + 1):
        where = ["--resume", str(place)] if place.exists() else ["--runs", str(place.parent)]
        where += [] if place.exists() else ["--name", place.name]
        after = len(job.rows) * (number + 1) // (kills + 1) if number < kills else None
        with (folder / f"log-{number}").open("w") as log:
            running = subprocess.Popen(
                [*command, *where], stdout=log, stderr=log, start_new_session=True
            )
            kill_at_a_write(running, place / "journal.jsonl", after)
    seconds = round((time.monotonic() - began) / len(job.rows), 2)
    more = {"kills": kills, "seconds_a_row": seconds, "model_calls": 0}
    return {"task": job.name, **judge(job, out), **more}


def kill_at_a_write(running: subprocess.Popen[bytes], journal: Path, after: int | None) -> None:
    """Wait for a command; kill it once so many rows have ended, right after a request has left:
    the worst moment. A task that writes nothing is killed within a row."""
    while running.poll() is None:
        time.sleep(0.05)
        lines = journal.read_text().splitlines() if journal.exists() else []
        ended = sum('"ended"' in line for line in lines)
        is_writing = not any('"sending"' in line for line in lines) or '"sending"' in lines[-1]
        if after is not None and ended >= after and is_writing:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()


def judge(job: Job, out: Path) -> dict[str, Any]:
    """Count the rows by their result, and those of which the database says something else."""
    wrong, silent, needless, results = list[str](), 0, 0, Counter[str]()
    done = list(csv.DictReader(out.read_text().splitlines()))
    for row, given in zip(done, job.rows, strict=True):
        results[row["result"]] += 1
        times = job.count(given)
        is_claimed = row["result"] in ("verified", "done")
        is_right = times == (given not in job.refused) and given not in job.damaging
        if job.outputs and is_claimed:
            is_right = row["answer"] == job.outputs[given[0]]
        silent += is_claimed and not is_right
        needless += is_right and not is_claimed and given not in job.refused
        if not is_right:
            wrong.append(f"{given}: {row['result']}, {times} times, {row['why']}")
    facts = {"silent_wrong": silent, "needless": needless, "wrong": wrong}
    return {"rows": len(done), "results": dict(results), **facts}


def counting(database: Path, sql: str) -> Callable[[Row], int]:
    """Return what counts a row by a query with its values."""

    def count(row: Row) -> int:
        with closing(sqlite3.connect(database)) as connection:
            return int(connection.execute(sql, row).fetchone()[0])

    return count


def notes_jobs(database: Path, rows: int) -> Iterator[Job]:
    """Add notes, mark them as done, delete them."""

    def add(text: str, name: str) -> Shown:
        moves = (
            fill("New note", text),
            lambda view: SelectOption(view.find("combobox").mark, name),
            push("Add"),
        )
        return f'Put "{text}" on the list "{name}".', moves

    names = ("Home", "Work", "Errands")
    added = [(title, names[i % 3]) for i, title in enumerate(TITLES[:rows])]
    twice = [(f"Look-alike {number}",) for number in range(rows // 10)]
    with closing(sqlite3.connect(database)) as connection, connection:
        sql = "INSERT INTO note (list, text, done) VALUES (?, ?, 0)"
        connection.executemany(sql, [(name, text) for (text,) in twice for name in names[:2]])
    yield Job(
        "notes: add",
        [add("Buy milk", "Errands"), add("Call Anna", "Work"), add("Mow the lawn", "Home")],
        added,
        counting(database, "SELECT count(*) FROM note WHERE text = ? AND list = ?"),
    )
    yield Job(
        "notes: mark as done",
        [
            (f'Mark "{text}" as done.', (push(f"Mark as done: {text}"),))
            for text in ("Fix the tap", "Call the printer", "Buy stamps")
        ],
        [*((title,) for title, _ in added[len(twice) :]), *twice],
        counting(database, "SELECT count(*) FROM note WHERE text = ? AND done = 1"),
        frozenset(twice),
    )
    yield Job(
        "notes: delete",
        [
            (f'Delete "{text}".', (push(f"Delete: {text}"),))
            for text in ("Feed the rabbit", "Send the invoice", "Call the dentist")
        ],
        [(title,) for title, _ in added],
        counting(database, "SELECT 1 - count(*) FROM note WHERE text = ?"),
    )


def fossil_jobs(database: Path, rows: int) -> Iterator[Job]:
    """Enter tickets, and look up a field of each."""

    def add(title: str, severity: str, text: str) -> Shown:
        goal = f'Enter the ticket "{title}" of severity "{severity}": "{text}".'
        return goal, (
            press("Tickets"),
            press("Reports"),
            press("New ticket"),
            fill("Enter a one-line summary of the ticket:", title),
            choose("Severity:", severity),
            fill_unnamed(text),
            push("Preview"),
            push("Submit"),
            *ALL_TICKETS,
        )

    def look(title: str) -> Shown:
        moves = (*find_ticket(title), lambda view: Answer(cells(view, "Severity:")))
        return f'What is the severity of the ticket "{title}"?', moves

    with closing(sqlite3.connect(database)) as connection:
        sql = "SELECT title, severity FROM ticket GROUP BY title HAVING count(*) = 1"
        there = {title: severity for title, severity in connection.execute(sql) if severity}
    added = [
        (title, SEVERITIES[i % 5], f"Seen on floor {i} at noon")
        for i, title in enumerate(TITLES[:rows])
    ]
    yield Job(
        "fossil: enter a ticket",
        [
            add("Crooked mirror", "Minor", "It hangs askew"),
            add("Wet carpet", "Severe", "Rain came in"),
            add("Stuck drawer", "Cosmetic", "It opens half"),
        ],
        added,
        counting(
            database,
            "SELECT count(*) FROM ticket t WHERE title = ? AND severity = ? AND EXISTS"
            " (SELECT 1 FROM ticketchng c WHERE c.tkt_id = t.tkt_id"
            " AND c.icomment LIKE '%' || ? || '%')",
        ),
    )
    looked = {**there, **{title: severity for title, severity, _ in added}}
    yield Job(
        "fossil: look up a severity",
        [look(title) for title in list(there)[:3]],
        [(title,) for title in list(looked)[3 : rows + 3]],
        lambda row: 1,
        outputs=looked,
    )


def oscar_jobs(database: Path, rows: int) -> Iterator[Job]:
    """Create categories in the shop's dashboard, and look up prices in the shop."""

    def add(name: str) -> Shown:
        moves = (
            *menu("Catalogue", "Categories"),
            press("Create new category"),
            fill("Name *", name),
            push("Save"),
        )
        return f'Create the category "{name}".', moves

    def look(title: str) -> Shown:
        def read(view: View) -> Answer:
            shown = (each.name for each in view.page.nodes if each.name.startswith("£"))
            return Answer(next(shown))

        return f'What does the "{title}" cost?', (*open_product(title), read)

    yield Job(
        "oscar: create a category",
        [add(name) for name in ("Rain barrels", "Door mats", "Bird houses")],
        [(title,) for title in TITLES[:rows]],
        counting(database, "SELECT count(*) FROM catalogue_category WHERE name = ?"),
        path="dashboard/",
    )
    with closing(sqlite3.connect(database)) as connection:
        sql = (
            "SELECT p.title, s.price FROM catalogue_product p JOIN partner_stockrecord s"
            " ON s.product_id = p.id WHERE p.parent_id IS NULL AND p.is_public"
            " GROUP BY p.id HAVING count(*) = 1"
        )
        prices = {title: f"£{price:.2f}" for title, price in connection.execute(sql)}
    yield Job(
        "oscar: look up a price",
        [look(title) for title in list(prices)[:3]],
        [(title,) for title in list(prices)[3 : rows + 3]],
        lambda row: 1,
        outputs=prices,
    )


JOBS = {
    "notes": (notes_jobs, ""),
    "fossil": (fossil_jobs, "developer"),
    "oscar": (oscar_jobs, "staff"),
}
"""The tables of each site, and whose login they begin with."""


def run_site(name: str, rows: int, folder: Path, only: str, most: int) -> Iterator[dict[str, Any]]:
    """Serve a site and work on its tables."""
    jobs, role = JOBS[name]
    site = find_site(name, [SITES])
    assert not isinstance(site, RemoteSite), "it is not started here"
    running = Instance.start(site)
    try:
        state = running.login(role) if role else None
        assert running.database is not None
        for number, job in enumerate(jobs(running.database, rows)):
            if only in job.name:
                place = folder / f"job-{number}"
                yield work(job.limit(most), place, f"{running.base}/{job.path}", state=state)
    finally:
        running.stop()


def run_faults(rows: int, folder: Path, only: str, most: int) -> Iterator[dict[str, Any]]:
    """Work on a table of which most rows meet a fault, and on one with a save that destroys."""
    with desk(("Lamp", "Ann")) as site:

        def add(title: str, customer: str) -> Shown:
            moves = (press("New ticket"), fill("Title", title), fill("Customer", customer))
            return f'Add the ticket "{title}" of "{customer}".', (*moves, push("Save"))

        def count(row: Row) -> int:
            return [ticket[:2] for ticket in site.tickets].count([*row])

        shown = [add("Desk", "Ben"), add("Old chair", "Cleo"), add("Shelf", "Dan")]
        given = [(TITLES[i % 100] + FAULTS[i % len(FAULTS)], f"Guest {i}") for i in range(rows)]
        lost = [(f"{title}{'!stale' * (i == 4)}", "Zoe") for i, title in enumerate(TITLES[:10])]
        for job, kills in (
            (Job("faults: add", shown, given, count), 2),
            (Job("faults: destroy", shown, lost, count, damaging=frozenset(lost[4:5])), 0),
        ):
            if only in job.name:
                yield work(job.limit(most), folder / job.name, site.url, kills)


def run_mockmed(rows: int, folder: Path, only: str, most: int) -> Iterator[dict[str, Any]]:
    """Work on openadapt-flow's application with each fault of its server; its wheel is on
    PYTHONPATH."""
    from openadapt_flow.mockmed.chart_pages import READER_PASSWORD, READER_USERNAME
    from openadapt_flow.mockmed.fault_server import serve

    url, database, stop = serve()

    def chart(note: str) -> Shown:
        return f'Chart the triage "{note}" of Jane Sample.', (
            fill("Username", "nurse"),
            fill("Password", "any"),
            push("Sign In"),
            push("Open"),
            push("New Encounter"),
            fill("Note", note),
            push("Save Encounter"),
            lambda view: Wait(200) if view.all("button", name="Save Encounter") else None,
            lambda view: Goto(f"{url}chart/signin"),
            fill("User name", READER_USERNAME),
            fill("Password", READER_PASSWORD),
            push("Sign in"),
            lambda view: Goto(f"{url}chart/patient/p1"),
        )

    def count(row: Row) -> int:
        kept = database.snapshot()["records"]
        mine = [each for each in kept if each["note"] == row[0]]
        return len(mine) if all(each["patient_id"] == "p1" for each in mine) else 0

    shown = [chart(note) for note in ("Sore knee", "Light fever", "Short of breath")]
    given = [(f"Visit {number} of the ward",) for number in range(1, rows + 1)]
    try:
        for fault in (each for each in MEDICAL_FAULTS if only in each):
            database.reset(seed_concurrent=fault == "stale")
            damaging = frozenset(given[:1] if fault == "stale" else ())
            job = Job(f"mockmed: {fault}", shown, given, count, damaging=damaging)
            change = ("fault=ok", f"fault={fault}")
            yield work(job.limit(most), folder / fault, f"{url}?fault=ok", kills=0, change=change)
    finally:
        stop()


def main() -> None:
    """Measure what is named and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=[*JOBS, "faults"])
    parser.add_argument("--only", default="", help="tables whose name has this")
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--recordings", type=int, default=3, help="to learn a task from")
    parser.add_argument("--out", type=Path, default=Path("repeat.json"))
    given = parser.parse_args()
    found = []
    for name in given.parts:
        with tempfile.TemporaryDirectory(prefix="repeat-", ignore_cleanup_errors=True) as folder:
            run = {"faults": run_faults, "mockmed": run_mockmed}.get(name) or partial(
                run_site, name
            )
            results = run(given.rows, Path(folder), given.only, given.recordings)
            for result in results:
                print(json.dumps(result), flush=True)
                found.append(result)
                given.out.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
