"""Tables of rows by `webagent do`: learned from three recordings, killed twice, and counted in the
site's own database.

    python perf/repeat.py notes fossil faults --rows 100 --out repeat.json
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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
from benchmarks.oracles import Move, View, fill, press, push  # noqa: E402
from tasks.task import Task  # noqa: E402
from tests.fakes.desk import desk  # noqa: E402
from webagent.action import Action, Answer, Wait  # noqa: E402
from webagent.action.actions import Click, Goto, SelectOption  # noqa: E402
from webagent.browser import Browser  # noqa: E402
from webagent.browser.sessions.login import Logins  # noqa: E402
from webagent.errors import PolicyError  # noqa: E402
from webagent.policy.policy import ScriptedPolicy  # noqa: E402
from webagent.records import Observation, Provenance, Trajectory  # noqa: E402
from webagent.rollout import run_episode  # noqa: E402
from webagent.store import Store  # noqa: E402

WEBAGENT = Path(sys.executable).with_name("webagent")
ADJECTIVES = ("Blue", "Loose", "Broken", "Old", "Silent", "Heavy", "Green", "Bent", "Warm", "Tiny")
NOUNS = ("lamp", "chair", "shelf", "door", "window", "printer", "heater", "ladder", "desk", "tap")
TITLES = [f"{one} {other}" for one in ADJECTIVES for other in NOUNS]
MEDICAL_FAULTS = (
    *("ok", "partial", "optimistic", "timeout", "session", "stale", "double", "idempotent"),
    *("wrong_record", "no_persist"),
)
FAULTS = ("", "!dropped", "!doubled", "!error", "!session", "!partial")


@dataclass(frozen=True)
class Job:
    """A task: who shows it how, its rows, and what counts a row in the site's database."""

    name: str
    url: str
    demonstrations: Sequence[tuple[str, Sequence[Move]]]
    rows: Sequence[tuple[str, ...]]
    count: Callable[[tuple[str, ...]], int]
    """How often the row has been written; for one that is to be refused, 0 is right."""
    refused: frozenset[tuple[str, ...]] = frozenset()
    """Rows that fit twice."""
    outputs: dict[str, str] = field(default_factory=dict)
    """What is to be read, by the row's first value."""
    logins: Path | None = None
    """Folder with the login `desk`."""

    @property
    def login(self) -> str:
        """The login's name."""
        return "desk" if self.logins else ""


def record(run: Path, job: Job) -> None:
    """Store the demonstrations as recordings."""

    def scripted(moves: Sequence[Move]) -> Callable[[Trajectory, Observation], Action]:
        left, tries = list(moves), [0]

        def script(past: Trajectory, page: Observation) -> Action:
            while left:
                try:
                    action = left[0](View.of(past, page))
                except PolicyError:
                    tries[0] += 1
                    if tries[0] > 20:
                        raise
                    return Wait(300)
                left.pop(0)
                if action is not None:
                    return action
            return Answer("")

        return script

    async def play() -> None:
        with Store.open(run, create=True) as store:
            async with Browser() as browser:
                world = await browser.world(logins=Logins(job.logins))
                for index, (goal, moves) in enumerate(job.demonstrations):
                    task = Task(
                        f"recorded/{job.name}-{index}@1",
                        job.url,
                        goal,
                        clock="real",
                        max_steps=60,
                        login=job.login,
                    )
                    place = Provenance(run=run.name, arm="person", index=index)
                    policy = ScriptedPolicy(scripted(moves))
                    done = await run_episode(task, policy, world, provenance=place, recorder=store)
                    if done.error:
                        raise SystemExit(f"{job.name}: {done.error}")
                await world.close()

    asyncio.run(play())


def work(
    job: Job, folder: Path, kills: int = 2, change: tuple[str, str] = ("", "")
) -> dict[str, Any]:
    """Learn the task and do its table, killed on the way; return what came of it."""
    run, program, table = folder / "recordings", folder / "task.toml", folder / "rows.csv"
    record(run, job)
    learn = [str(WEBAGENT), "do", "--learn", str(run), "--out", str(program)]
    subprocess.run(learn, check=True, stdout=subprocess.DEVNULL)
    program.write_text(program.read_text().replace(*change) if change[0] else program.read_text())
    from webagent.policy.program import read_program

    columns = list(read_program(program).parameters)
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *job.rows])
    out, place = folder / "out.csv", folder / "runs" / "do"
    command = [str(WEBAGENT), "do", str(program), "--table", str(table), "--out", str(out)]
    command += ["--login", job.login, "--logins", str(job.logins)] if job.logins else []
    journal, began = place / "journal.jsonl", time.monotonic()
    for number in range(kills + 1):
        more = ["--resume", str(place)] if place.exists() else []
        more = more or ["--runs", str(place.parent), "--name", place.name]
        with (folder / f"log-{number}").open("w") as log:
            running = subprocess.Popen(
                [*command, *more], stdout=log, stderr=log, start_new_session=True
            )
            after = len(job.rows) * (number + 1) // (kills + 1)
            while running.poll() is None:
                time.sleep(0.05)
                text = journal.read_text() if journal.exists() else ""
                # Right after a request has left: the worst moment.
                if (
                    number < kills
                    and text.count('"ended"') >= after
                    and '"sending"' in (text.splitlines() or [""])[-1]
                ):
                    os.killpg(running.pid, signal.SIGKILL)
                    running.wait()
    seconds = time.monotonic() - began
    return {
        "task": job.name,
        **judge(job, out),
        "kills": kills,
        "seconds_a_row": round(seconds / len(job.rows), 2),
        "model_calls": 0,
    }


def judge(job: Job, out: Path) -> dict[str, Any]:
    """Count the rows by their result, and those of which the database says something else."""
    wrong, silent, needless, results = list[str](), 0, 0, Counter[str]()
    done = list(csv.DictReader(out.read_text().splitlines()))
    for row, given in zip(done, job.rows, strict=True):
        results[row["result"]] += 1
        times = job.count(given)
        is_claimed = row["result"] in ("verified", "done")
        is_right = times == (0 if given in job.refused else 1)
        if job.outputs and is_claimed:
            is_right = row["answer"] == job.outputs[given[0]]
        silent += is_claimed and not is_right
        needless += is_right and not is_claimed and given not in job.refused
        if not is_right:
            wrong.append(f"{given}: {row['result']}, {times} times, {row['why']}")
    return {
        "rows": len(done),
        "results": dict(results),
        "silent_wrong": silent,
        "needless": needless,
        "wrong": wrong,
    }


def notes_jobs(url: str, database: Path, rows: int) -> list[Job]:
    """Add notes, mark them as done, delete them."""

    def ask(sql: str) -> Callable[[tuple[str, ...]], int]:
        def count(row: tuple[str, ...]) -> int:
            with sqlite3.connect(database) as connection:
                return int(connection.execute(sql, row).fetchone()[0])

        return count

    def add(text: str, name: str) -> tuple[str, list[Move]]:
        return f'Put "{text}" on the list "{name}".', [
            fill("New note", text),
            lambda view: SelectOption(view.find("combobox").mark, name),
            push("Add"),
        ]

    def button(verb: str, text: str) -> list[Move]:
        return [lambda view: Click(view.find("button", name=f"{verb}: {text}").mark)]

    names = ("Home", "Work", "Errands")
    added = [(title, names[i % 3]) for i, title in enumerate(TITLES[:rows])]
    twice = [(f"Look-alike {number}",) for number in range(rows // 10)]
    with sqlite3.connect(database) as connection:
        for (text,) in twice:
            for name in names[:2]:
                connection.execute(
                    "INSERT INTO note (list, text, done) VALUES (?, ?, 0)", (name, text)
                )
    texts = [*((title,) for title, _ in added[len(twice) :]), *twice]
    return [
        Job(
            "notes: add",
            url,
            [add("Buy milk", "Errands"), add("Call Anna", "Work"), add("Mow the lawn", "Home")],
            added,
            ask("SELECT count(*) FROM note WHERE text = ? AND list = ?"),
        ),
        Job(
            "notes: mark as done",
            url,
            [
                (f'Mark "{t}" as done.', button("Mark as done", t))
                for t in ("Fix the tap", "Call the printer", "Buy stamps")
            ],
            texts,
            ask("SELECT count(*) FROM note WHERE text = ? AND done = 1"),
            frozenset(twice),
        ),
        Job(
            "notes: delete",
            url,
            [
                (f'Delete "{t}".', button("Delete", t))
                for t in ("Feed the rabbit", "Send the invoice", "Call the dentist")
            ],
            [(title,) for title, _ in added],
            ask("SELECT 1 - count(*) FROM note WHERE text = ?"),
        ),
    ]


def fossil_jobs(url: str, state: Path, rows: int, logins: Path) -> list[Job]:
    """Enter tickets, and look up a field of each."""
    database = next(path for path in state.glob("*.fossil") if _has_tickets(path))
    severities = ("Critical", "Severe", "Important", "Minor", "Cosmetic")

    def count(row: tuple[str, ...]) -> int:
        with sqlite3.connect(database) as connection:
            sql = (
                "SELECT count(*) FROM ticket t WHERE title = ? AND severity = ? AND EXISTS"
                " (SELECT 1 FROM ticketchng c WHERE c.tkt_id = t.tkt_id AND c.icomment LIKE ?)"
            )
            found = connection.execute(sql, (row[0], row[1], f"%{row[2]}%"))
            return int(found.fetchone()[0])

    def add(title: str, severity: str, text: str) -> tuple[str, list[Move]]:
        goal = f'Enter the ticket "{title}" of severity "{severity}": "{text}".'
        return goal, [
            press("Tickets"),
            press("Reports"),
            press("New ticket"),
            fill("Enter a one-line summary of the ticket:", title),
            choose("Severity:", severity),
            fill_unnamed(text),
            push("Preview"),
            push("Submit"),
            *ALL_TICKETS,
        ]

    def look(title: str) -> tuple[str, list[Move]]:
        return f'What is the severity of the ticket "{title}"?', [
            *find_ticket(title),
            lambda view: Answer(cells(view, "Severity:")),
        ]

    added = [
        (title, severities[i % 5], f"Seen on floor {i} at noon")
        for i, title in enumerate(TITLES[:rows])
    ]
    shown = [
        ("Crooked mirror", "Minor", "It hangs askew"),
        ("Wet carpet", "Severe", "Rain came in"),
        ("Stuck drawer", "Cosmetic", "It opens half"),
    ]
    with sqlite3.connect(database) as connection:
        sql = "SELECT title, severity FROM ticket GROUP BY title HAVING count(*) = 1"
        there = {title: severity for title, severity in connection.execute(sql) if severity}
    return [
        Job(
            "fossil: enter a ticket",
            url,
            [add(*each) for each in shown],
            added,
            count,
            logins=logins,
        ),
        Job(
            "fossil: look up a severity",
            url,
            [look(title) for title in list(there)[:3]],
            [(title,) for title in list(there)[3 : rows + 3]],
            lambda row: 1,
            outputs=there,
            logins=logins,
        ),
    ]


def _has_tickets(path: Path) -> bool:
    with sqlite3.connect(path) as connection:
        sql = "SELECT count(*) FROM sqlite_master WHERE name = 'ticket'"
        return bool(connection.execute(sql).fetchone()[0])


def run_notes(rows: int, folder: Path) -> list[dict[str, Any]]:
    """Serve the notes and work on their tables."""
    script, state = ROOT / "docs/example/notes.py", folder / "state"
    state.mkdir()
    subprocess.run([sys.executable, script, "build", state], check=True)
    port = "28417"
    server = subprocess.Popen(
        [sys.executable, script, "serve", state, port], stderr=subprocess.DEVNULL
    )
    time.sleep(1)
    try:
        jobs = notes_jobs(f"http://127.0.0.1:{port}/", state / "notes.db", rows)
        return _work_all(jobs, folder)
    finally:
        server.kill()
        server.wait()


def _work_all(jobs: Sequence[Job], folder: Path) -> list[dict[str, Any]]:
    found = []
    for number, job in enumerate(job for job in jobs if os.environ["ONLY"] in job.name):
        place = folder / f"job-{number}"
        place.mkdir()
        found.append(work(job, place))
        print(json.dumps(found[-1]), flush=True)
    return found


def run_fossil(rows: int, folder: Path) -> list[dict[str, Any]]:
    """Start the project's site, log in and work on its tables."""
    start = [str(WEBAGENT), "site", "start", "fossil", "--detach", "--json"]
    site = json.loads(subprocess.run(start, check=True, capture_output=True, text=True).stdout)
    logins = folder / "logins"
    logins.mkdir()
    account = site["accounts"]["developer"]

    async def log_in() -> None:
        async with Browser() as browser:
            world = await browser.world()
            page = await world.reset(Task("log/in@1", f"{site['base']}/login", clock="real"))
            view = View("", page)
            for name, text in (("User ID:", account["name"]), ("Password:", account["password"])):
                action = fill(name, text)(view)
                assert action is not None
                page = await world.step(action)
            await world.step(view.click("button", name="Login"))
            state = await world.tabs().active.page.context.storage_state()
            (logins / "desk.json").write_text(json.dumps(state))
            await world.close()

    asyncio.run(log_in())
    try:
        return _work_all(fossil_jobs(f"{site['base']}/", Path(site["state"]), rows, logins), folder)
    finally:
        subprocess.run([str(WEBAGENT), "site", "stop", "fossil"], check=True, capture_output=True)


def run_faults(rows: int, folder: Path) -> list[dict[str, Any]]:
    """Work on a table of which most rows meet a fault."""
    with desk(("Lamp", "Ann")) as site:

        def count(row: tuple[str, ...]) -> int:
            return [ticket[:2] for ticket in site.tickets].count([*row])

        def add(title: str, customer: str) -> tuple[str, list[Move]]:
            moves = [
                press("New ticket"),
                fill("Title", title),
                fill("Customer", customer),
                push("Save"),
            ]
            return f'Add the ticket "{title}" of "{customer}".', moves

        shown = [add("Desk", "Ben"), add("Old chair", "Cleo"), add("Shelf", "Dan")]
        given = [(TITLES[i % 100] + FAULTS[i % len(FAULTS)], f"Guest {i}") for i in range(rows)]
        return _work_all([Job("faults: add", site.url, shown, given, count)], folder)


def run_mockmed(rows: int, folder: Path) -> list[dict[str, Any]]:
    """Work on openadapt-flow's application with each fault of its server; its wheel is on
    PYTHONPATH."""
    from openadapt_flow.mockmed.chart_pages import READER_PASSWORD, READER_USERNAME
    from openadapt_flow.mockmed.fault_server import serve

    url, database, stop = serve()

    def goto(path: str) -> Move:
        return lambda view: Goto(f"{url}{path}")

    def chart(note: str) -> tuple[str, list[Move]]:
        return f'Chart the triage "{note}" of Jane Sample.', [
            fill("Username", "nurse"),
            fill("Password", "any"),
            push("Sign In"),
            push("Open"),
            push("New Encounter"),
            fill("Note", note),
            push("Save Encounter"),
            lambda view: Wait(200) if view.all("button", name="Save Encounter") else None,
            goto("chart/signin"),
            fill("User name", READER_USERNAME),
            fill("Password", READER_PASSWORD),
            push("Sign in"),
            goto("chart/patient/p1"),
        ]

    found = []
    try:
        shown = [chart(note) for note in ("Sore knee", "Light fever", "Short of breath")]
        for fault in (each for each in MEDICAL_FAULTS if os.environ["ONLY"] in each):
            database.reset(seed_concurrent=fault == "stale")
            place = folder / fault
            place.mkdir()

            def count(row: tuple[str, ...], fault: str = fault) -> int:
                kept = database.snapshot()["records"]
                mine = [each for each in kept if each["note"] == row[0]]
                is_other_lost = fault == "stale" and not any(e["source"] == "other" for e in kept)
                return (
                    len(mine)
                    if all(e["patient_id"] == "p1" for e in mine) and not is_other_lost
                    else 0
                )

            given = [(f"Visit {number} of the ward",) for number in range(1, rows + 1)]
            job = Job(f"mockmed: {fault}", f"{url}?fault=ok", shown, given, count)
            found.append(work(job, place, kills=0, change=("fault=ok", f"fault={fault}")))
            print(json.dumps(found[-1]), flush=True)
    finally:
        stop()
    return found


RUNS = {"notes": run_notes, "fossil": run_fossil, "faults": run_faults, "mockmed": run_mockmed}


def main() -> None:
    """Measure what is named and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["notes", "fossil", "faults"])
    parser.add_argument("--only", default="", help="tasks whose name has this")
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("repeat.json"))
    given = parser.parse_args()
    os.environ["ONLY"] = given.only
    found = []
    for name in given.parts:
        with tempfile.TemporaryDirectory(prefix="repeat-", ignore_cleanup_errors=True) as folder:
            found += RUNS[name](given.rows, Path(folder))
        given.out.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
