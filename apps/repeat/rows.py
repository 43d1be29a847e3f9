"""The rows of a table, each played once: a journal, what came of each, and a table as output."""

import csv
import hashlib
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from apps.replay.recordings import PlaceSettings, worlds
from tasks.task import Task
from webagent.errors import StoreError, UsageError
from webagent.guard import Guard
from webagent.observation.variants import ObservationVariant
from webagent.policy.program import Program, ProgramPolicy
from webagent.policy.program.listing import ListedPage
from webagent.policy.program.program import expand, filled
from webagent.records import Ending, Provenance, Trajectory
from webagent.rollout import run_episode
from webagent.rollout.world import World
from webagent.store import Store

JOURNAL = "journal.jsonl"
VERIFIED, DONE, REFUSED = "verified", "done", "refused"
UNVERIFIED, SKIPPED = "unverified", "skipped"
OUR_COLUMNS = ("result", "why", "episode")
ARM, PHASE = "program", "do"
_SPARE_STEPS, _MOST_STEPS = 40, 20_000
_MOST_LOST = 3
"""Rows in turn that are sent and not read back; before any was verified, one ends the table."""
LISTS = ObservationVariant("lists", capture=lambda page: page.lists())


def read_rows(path: Path, program: Program) -> list[dict[str, str]]:
    """Return the rows of a CSV file. Raises `UsageError` for a column or value that is missing."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            names, *lines = [line for line in csv.reader(file) if line] or [[]]
    except UnicodeDecodeError as error:
        raise UsageError(f"--table {path} is no CSV file in UTF-8; save it as one") from error
    except (OSError, csv.Error) as error:
        raise UsageError(f"--table {path} cannot be read: {error}") from error
    if not lines:
        raise UsageError(f"--table {path} has no rows")
    names = [name.strip() for name in names]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise UsageError(f"--table {path} has two columns {twice[0]!r}")
    rows = []
    for number, line in enumerate(lines, 1):
        where = f"--table {path}, row {number}"
        if len(line) > len(names):
            what = "has more values than there are columns"
            raise UsageError(f'{where} {what}; put a value with a comma into "quotation marks"')
        values = [value.strip() for value in line] + [""] * (len(names) - len(line))
        rows.append(dict(zip(names, values, strict=True)))
        check_values(rows[-1], program, where)
    return rows


def check_values(row: Mapping[str, str], program: Program, where: str) -> None:
    """Raise `UsageError` where a row lacks a value that the program needs."""
    missing = [name for name in program.parameters if name not in row]
    if missing:
        raise UsageError(f"{where} has no column {missing[0]!r}; it has {', '.join(row)}")
    empty = [n for n in program.parameters if not row[n] and n not in program.optional]
    if empty:
        raise UsageError(f"{where} has no value for {empty[0]!r}")


@dataclass(frozen=True, slots=True)
class RowResult:
    """What came of a row."""

    row: int
    """Counted from 1."""
    result: str
    """`verified`: the site shows what was written; `done`: read, nothing to write; `refused`:
    nothing was sent; `unverified`: something was sent and is not shown as it should be; `skipped`:
    it was there before."""
    why: str = ""
    episode: str = ""
    outputs: Mapping[str, str] | None = None
    records: Sequence[Mapping[str, str]] = ()
    """The rows of a list that was read."""
    seconds: float = 0.0
    lost: str = ""
    """What the page showed before and does not show any more, of something else."""


class Journal:
    """What was about to be sent and what came of it, on the disk before anything else happens."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.row = ""
        """The key of the row that is being played."""
        self.sent = 0
        """How many requests it has sent that may change something."""
        self.policy: ProgramPolicy | None = None

    def read(self) -> dict[str, list[dict[str, Any]]]:
        """Return the entries of each row; what a kill has cut off is left out."""
        found: dict[str, list[dict[str, Any]]] = {}
        with suppress(FileNotFoundError):
            for line in self._path.read_text(encoding="utf-8").splitlines():
                with suppress(ValueError):
                    entry = json.loads(line)
                    found.setdefault(entry["row"], []).append(entry)
        return found

    def add(self, **entry: Any) -> None:
        """Write an entry of the row; it is on the disk once this returns. Raises `StoreError`."""
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"row": self.row, **entry}) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreError(f"{self._path} cannot be written: {error.strerror}") from error

    def note_write(self, method: str, url: str) -> None:
        """Take in what is about to be sent."""
        if self.policy and self.policy.is_looking:
            return  # signs in to look
        self.sent += 1
        parts = list(self.policy.parts) if self.policy else []
        self.add(event="sending", method=method, url=url, parts=parts)


def read_pages(entries: Sequence[Mapping[str, Any]]) -> list[list[ListedPage]]:
    """Return the pages of a list that were read since a row ended last, by reading."""
    readings: list[list[ListedPage]] = [[]]
    for each in entries:
        if each["event"] == "ended":
            readings = [[]]
        if each["event"] == "page":
            readings += [[] for _ in range(each["reading"] + 1 - len(readings))]
            page = ListedPage(each["url"], each["place"], tuple(each["rows"]))
            readings[each["reading"]][each["at"] :] = [page]
    return readings


def key_rows(rows: Sequence[Mapping[str, str]], names: Sequence[str]) -> list[str]:
    """Return a key for each row, by its values and how often they have come before."""
    seen, keys = Counter[str](), list[str]()
    for row in rows:
        text = json.dumps([row.get(name, "") for name in names], ensure_ascii=False)
        seen[text] += 1
        keys.append(f"{hashlib.sha256(text.encode()).hexdigest()[:16]}-{seen[text]}")
    return keys


@dataclass(slots=True)
class TableRun:
    """A table that is worked through; `play` it once."""

    program: Program
    rows: Sequence[Mapping[str, str]]
    store: Store
    journal: Journal
    out: Path | None
    base: str = ""
    login: str = ""

    async def play(self, settings: PlaceSettings, guard: Guard) -> list[RowResult]:
        """Play every row that is not verified yet, and return what came of each.

        Raises `SetupError` where there is no browser, and `StoreError`.
        """
        self.write_table([])  # which ends it where it cannot be written
        keys, known = key_rows(self.rows, list(self.program.parameters)), self.journal.read()
        results, was_verified, lost_rows = list[RowResult](), False, 0
        guard = replace(guard, on_write=self.journal.note_write)
        task = Task("do/program@1", self.base or self.program.url, login=self.login)
        variant = LISTS if self.program.is_list else None
        async with worlds(settings, [task], guard, variant=variant) as open_world:
            world = await open_world()
            for number, (row, key) in enumerate(zip(self.rows, keys, strict=True), 1):
                earlier = known.get(key, [])
                ended = next((e for e in reversed(earlier) if e["event"] == "ended"), None)
                is_final = ended and ended["result"] in (VERIFIED, DONE, SKIPPED)
                if ended and (is_final or ended.get("lost")):
                    kept = ("result", "why", "episode", "outputs", "records")
                    found = RowResult(number, *(ended.get(name, ()) for name in kept))
                elif losing := next((each.row for each in results if each.lost), 0):
                    why = f"not begun, as row {losing} took away what was there"
                    found = RowResult(number, REFUSED, why)
                elif lost_rows >= (_MOST_LOST if was_verified else 1):
                    why = "not begun, as what was sent last is not shown: has the site changed?"
                    found = RowResult(number, REFUSED, why)
                else:
                    attempt = 1 + sum(e["event"] == "began" for e in earlier)
                    found = await self._play_row(world, number, key, attempt, earlier)
                    self._show(found, row)
                    is_lost = found.result == UNVERIFIED and self.journal.sent
                    lost_rows = lost_rows + 1 if is_lost else 0
                was_verified |= found.result == VERIFIED
                results.append(found)
                self.write_table(results)
            await world.close()
        return results

    def _show(self, found: RowResult, row: Mapping[str, str]) -> None:
        first = next(iter(row.values()), "")
        why = f"  {found.why}" if found.why else ""
        print(
            f"{found.row}/{len(self.rows)}  {found.result}  {first}  {found.seconds:.1f} s{why}",
            file=sys.stderr,
            flush=True,
        )

    async def _play_row(
        self,
        world: World,
        number: int,
        key: str,
        attempt: int,
        earlier: Sequence[Mapping[str, Any]],
    ) -> RowResult:
        sending = [] if self.program.is_list else [e for e in earlier if e["event"] == "sending"]
        check, started = self.program.check, time.monotonic()
        self.journal.row, self.journal.sent = key, 0
        self.journal.add(event="began")
        values = {name: self.rows[number - 1].get(name, "") for name in self.program.parameters}
        can_tell = bool(check.shows and (check.url or check.in_place)) or bool(check.gone)
        if sending and not can_tell:
            why = "it may have been sent before, and no page tells; look, and leave the row out"
            return self._end(RowResult(number, UNVERIFIED, why))
        parts = tuple(sending[-1]["parts"]) if sending else ()
        policy = ProgramPolicy(
            self.program, values, self.base, is_in_doubt=bool(sending), parts_sent=parts
        )
        policy.readings, policy.on_page = read_pages(earlier), self._note_page
        self.journal.policy = policy
        task = Task(
            f"do/row-{number}@1",
            policy.rebase(self.program.url),
            expand(self.program.task, values),
            max_steps=_MOST_STEPS * self.program.is_list
            or 3 * len(self.program.steps) + _SPARE_STEPS,
            clock="real",
            dialogs=self.program.dialogs,
            login=self.login,
        )
        provenance = Provenance(self.store.folder.name, arm=ARM, phase=PHASE, index=number)
        provenance = replace(provenance, run=self.store.folder.name, world="browser")
        played = await run_episode(
            task, policy, world, provenance=provenance, attempt=attempt, recorder=self.store
        )
        result, why = self._judge(policy, played, bool(sending))
        if result == DONE and self.program.is_list and not policy.is_stable:
            result, why = UNVERIFIED, "the list changed each time that it was read"
        if policy.proposal and result != VERIFIED:
            why += f"; nearest, if you want it in the program: {policy.proposal}"
        seconds = time.monotonic() - started
        # Of a list that changed, a row that two pages show counts once.
        rows = [row for page in policy.readings[-1] for row in page.rows]
        records = list(rows if policy.is_stable else {str(row): row for row in rows}.values())
        records = records if result in (DONE, UNVERIFIED) else []
        done = RowResult(number, result, why, played.id, policy.outputs, records, seconds)
        wanted = filled(check.shows, values)
        return self._end(replace(done, lost=policy.lost), wanted=wanted, shown=policy.shown)

    def _note_page(self, reading: int, at: int, page: ListedPage) -> None:
        self.journal.add(event="page", reading=reading, at=at, **asdict(page))
        print(f"reading {reading + 1}, page {at + 1}: {len(page.rows)} rows", file=sys.stderr)

    def _end(self, found: RowResult, **read_back: Any) -> RowResult:
        self.journal.add(
            **read_back,
            event="ended",
            result=found.result,
            why=found.why,
            episode=found.episode,
            outputs=dict(found.outputs or {}),
            records=list(found.records),
            lost=found.lost,
        )
        return found

    def _judge(
        self, policy: ProgramPolicy, played: Trajectory, is_in_doubt: bool
    ) -> tuple[str, str]:
        """Return the result of a row, and why it is that."""
        sent, check = self.journal.sent, self.program.check
        times = policy.shown_before if policy.shown_before else policy.shown
        if policy.lost:
            return UNVERIFIED, f"the page does not show {policy.lost[:100]!r} any more"
        if policy.shown_before and not is_in_doubt:
            return SKIPPED, "the site has it already"
        if times and times > 1:
            return UNVERIFIED, f"it is there {times} times"
        if policy.shown_before:
            return VERIFIED, "found there after an interruption"
        if played.ending is not Ending.ANSWERED:
            why = played.error or str(played.ending)
            if sent or is_in_doubt:
                return UNVERIFIED, f"something was sent{' before' * (not sent)}; {why}"
            return REFUSED, why
        if policy.shown == 1:
            return _judge_unchecked(check.unchecked, played)
        if not sent:
            return (REFUSED, "nothing was sent") if check.shows or check.gone else (DONE, "")
        if not check.shows and not check.gone:
            return UNVERIFIED, "something was sent, and nothing says how to read it back"
        return UNVERIFIED, "it was sent, and the page opened anew does not show it"

    def write_table(self, results: Sequence[RowResult]) -> None:
        """Write the table with what came of the rows so far. Raises `StoreError`."""
        if self.out is None:
            return
        read = [name for each in results for record in each.records[:1] for name in record]
        columns = list(dict.fromkeys([*self.rows[0], *self.program.outputs, *read, *OUR_COLUMNS]))
        draft = self.out.with_name(f".{self.out.name}.{os.getpid()}")
        try:
            with draft.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, columns)
                writer.writeheader()
                for each in results:
                    row = {**self.rows[each.row - 1], **(each.outputs or {})}
                    ours = {"result": each.result, "why": each.why, "episode": each.episode}
                    for record in each.records or [{}]:
                        writer.writerow({**row, **record, **ours})
            draft.replace(self.out)
        except OSError as error:
            raise StoreError(f"--out {self.out} cannot be written: {error.strerror}") from error


def _judge_unchecked(unchecked: Sequence[str], played: Trajectory) -> tuple[str, str]:
    """Return the result of a row of which all but this is shown; the guard may have read that."""
    if not unchecked:
        return VERIFIED, ""
    guard = played.evidence.get("guard")
    writes: Any = guard.get("writes") if isinstance(guard, dict) else None
    fields = [each for each in writes or [] if each["fields"]]
    if fields and all(each["verified"] is True for each in fields):
        return VERIFIED, f"not shown by itself: {', '.join(unchecked)}"
    return UNVERIFIED, f"no page shows {', '.join(unchecked)}"
