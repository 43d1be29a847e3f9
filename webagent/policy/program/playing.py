"""A program as a policy: one row of a table, played and read back."""

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import urljoin

from webagent.action import Action, Answer, Wait
from webagent.action import actions as act
from webagent.errors import PolicyError
from webagent.guard.writes import NOT_SENT, SENT_ALREADY
from webagent.policy.finding import describe_element, find_nearest, has_all, plain, rebase
from webagent.policy.policy import propose_certain
from webagent.policy.program.listing import ListedPage, read_more_rows
from webagent.policy.program.program import (
    NAMED,
    PAGE,
    SHOWN,
    Program,
    ProgramStep,
    Record,
    count_rows,
    expand,
    filled,
    find_all,
    find_rows,
    list_records,
    make_step_action,
    same_page,
    shows_all,
    without_numbers,
)
from webagent.policy.program.reading import read_value
from webagent.records import Decision, Node, Observation, Trajectory

SOURCE = "program"
PATIENCE, WAIT_MS = 3, 500
"""Times that a page is given another moment before an element counts as missing, and how long."""
_MOST_OF_EACH = 200
"""Elements of one page that a step is done for."""
_MOST_PAGES, _MOST_READINGS = 2000, 3
"""Pages of a list, and how often it is read until two readings in turn agree."""

Play: TypeAlias = Generator[Action, Observation, Observation]


@dataclass(slots=True)
class ProgramPolicy:
    """Plays a program for one row; what it cannot do for certain it refuses with `PolicyError`."""

    program: Program
    values: Mapping[str, str]
    base: str = ""
    """The address that the program is played at instead of its own; empty: its own."""
    outputs: dict[str, str] = field(default_factory=dict)
    shown: int | None = None
    """In how many places the page has what is wanted, as it was read last; None: not read."""
    shown_before: int | None = None
    """The same before anything was entered."""
    parts: tuple[int, ...] = ()
    """In how many rows each of the texts of the check stood before anything was entered."""
    is_in_doubt: bool = False
    """Whether the row may have been sent before."""
    parts_sent: tuple[int, ...] = ()
    """The same when the row was sent before; empty where it was not."""
    proposal: str = ""
    """What may be meant by an element that is missing."""
    lost: str = ""
    """A record of the page that shows what was written that was there before and is gone."""
    is_looking: bool = False
    """Whether it is only on its way to the page that shows what was written."""
    readings: list[list[ListedPage]] = field(default_factory=lambda: [[]])
    """The pages of a list, by reading; the last one goes on where it was interrupted."""
    on_page: Callable[[int, int, ListedPage], None] = lambda reading, at, page: None
    """Called after each page, with the number of its reading and its own."""
    _records: tuple[str, list[Record]] = ("", [])
    """That page before anything was entered: its address, and its records."""
    _overwritten: set[str] = field(default_factory=set)
    """What the fields held that were filled in."""
    _playing: Play | None = None

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Return the next action. Raises `PolicyError` where a step cannot be done for certain."""
        try:
            if self._playing is None:
                self._playing = self._play(observation)
                action = next(self._playing)
            else:
                action = self._playing.send(observation)
        except StopIteration:
            action = Answer("; ".join(self.outputs.values()))
        return Decision(action, source=SOURCE, weights=SOURCE)

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """Return the one action that the program has."""
        return propose_certain(await self.act(trajectory, observation), n)

    def rebase(self, url: str) -> str:
        """Return an address of the program's site where that is played at another one."""
        whole = urljoin(self.program.url, expand(url, self.values))
        return rebase(whole, self.program.url, self.base)

    def _play(self, page: Observation) -> Play:
        check = self.program.check
        if check.url and (check.shows or check.gone):
            page = yield from self._look_before(page)
            if not same_page(page.url, self.rebase(self.program.url)):
                page = yield act.Goto(self.rebase(self.program.url))
        page = yield from self._take(self.program.steps, page)
        if check.shows or check.gone:
            page = yield from self._read_back(page)
        return page

    def _take(self, steps: Sequence[ProgramStep], page: Observation) -> Play:
        """Do these first steps of the program."""
        check = self.program.check
        for number, step in enumerate(steps, 1):
            if step.when not in ("", SHOWN) and not expand(step.when, self.values):
                continue
            if step.do == "read":
                page = yield from self._read(number, step, page)
                continue
            if step.do == "list":
                page = yield from self._read_list(number, step, page)
                continue
            if step.do in ("fill", "select_option") and check.in_place:
                self._compare_before(page)
            page = yield from self._do(number, step, page)
        return page

    def _look_before(self, page: Observation) -> Play:
        """Read the page that shows what is written, before it is; where its address alone does not
        lead there, by the program's last steps."""
        check, url = self.program.check, self.rebase(self.program.check.url)
        if not same_page(page.url, url):
            page = yield act.Goto(url)
        if not shows_all(page, check.beside):
            self.is_looking = True
            page = yield from self._sign_in(page)
            self.is_looking = False
            lacking = [text for text in check.beside if not shows_all(page, (text,))]
            if check.known_before and lacking:
                raise PolicyError(f"the site has changed: {url} does not show {lacking[0]!r}")
        if check.shows:
            self._compare_before(page)
        if same_page(page.url, url) and shows_all(page, check.beside):
            self._records = page.url, list_records(page)
        return page

    def _sign_in(self, page: Observation) -> Play:
        """Take the program's last steps, if the same for every row and sending only a password."""
        steps = self.program.steps
        first = len(steps)
        while first and not NAMED.search(str(steps[first - 1])) and steps[first - 1].do != "read":
            first -= 1
        starts = (at for at in range(first, len(steps)) if steps[at].do == "goto")
        for number, step in enumerate(steps[next(starts, len(steps)) :], 1):
            found = find_all(step, page, self.values) if step.role else []
            is_safe = step.do in ("goto", "fill") or (
                step.do == "click"
                and (step.role == "link" or any(n.kind.endswith("password") for n in page.nodes))
            )
            if not is_safe or (step.role and len(found) != 1):
                break
            page = yield from self._do(number, step, page)
        return page

    def _read_back(self, page: Observation) -> Play:
        """Open the page that shows it anew, twice where it does not yet."""
        check = self.program.check
        url = self.rebase(check.url) if check.url else page.url
        for _ in range(2):
            page = yield act.Goto(url)
            self.shown = self._count(page)
            for _ in range(PATIENCE):
                if self.shown == 1:
                    self.lost = self._find_lost(page)
                    return page
                page = yield Wait(WAIT_MS)
                self.shown = self._count(page)
        return page

    def _find_lost(self, page: Observation) -> str:
        """Return a record that the page showed before and does not show any more, although it is
        not the one that was to be changed; empty where there is none."""
        check, (url, before) = self.program.check, self._records
        own = filled(check.shows, self.values)
        wanted = check.shows
        if check.gone:
            step = self.program.steps[check.gone - 1]
            wanted = (step.name, *step.row)
        values = filled([text for text in wanted if NAMED.search(text)], self.values)
        if url != page.url or check.anywhere or not values:
            return ""
        mine = find_rows(page, own) if own else []
        changed = [each for each in before if has_all([*map(plain, values)], each.texts)]
        kinds = {each.kind for each in (*mine, *changed)}
        then, now = ([e for e in rows if e.kind in kinds] for rows in (before, list_records(page)))
        left = Counter(each.key for each in now)
        left.subtract(each.key for each in mine)
        gone = []
        for each in then:
            left[each.key] -= 1
            is_edited = mine and {*each.key} - {*mine[0].key} <= self._overwritten
            if left[each.key] < 0 and each not in changed and not is_edited:
                gone.append(each)
        is_cut = check.newest and len(gone) == 1 and len(now) == len(then)
        return "" if not gone or is_cut else " | ".join(gone[0].texts)

    def _count(self, page: Observation) -> int:
        """Return in how many places a page shows what is wanted; 1 where what has to be gone is."""
        check = self.program.check
        if check.gone and not shows_all(page, check.beside):
            return 0
        if check.gone:
            return int(not find_all(self.program.steps[check.gone - 1], page, self.values))
        wanted = filled(check.shows, self.values)
        return int(shows_all(page, wanted)) if check.anywhere else count_rows(page, wanted)

    def _compare_before(self, page: Observation) -> None:
        if self.shown_before is None:
            if self.is_in_doubt and not shows_all(page, self.program.check.beside):
                raise PolicyError(f"the page that would tell is not at {page.url}")
            self.shown_before = self._count(page)
            texts = filled(self.program.check.shows, self.values)
            self.parts = tuple(count_rows(page, (text,)) for text in texts)
            if self.shown_before:
                raise PolicyError("it is there already")
            if any(now > then for now, then in zip(self.parts, self.parts_sent, strict=False)):
                raise PolicyError("it was sent before, and a part of it is there")

    def _do(self, number: int, step: ProgramStep, page: Observation) -> Play:
        if not step.role:
            action = make_step_action(step, 0, self.values)
            if isinstance(action, act.Goto):
                action = act.Goto(self.rebase(step.text))
            page = yield action
            return self._after(number, step, page)
        done = 0
        while True:
            found, page = yield from self._find(number, step, page)
            if not found:
                return page
            if step.do in ("fill", "select_option"):
                self._overwritten.add(without_numbers(plain(found[0].value)))
            page = yield make_step_action(step, found[0].mark, self.values)
            page = self._after(number, step, page)
            done += 1
            if not step.each:
                return page
            if done >= _MOST_OF_EACH:
                raise PolicyError(f"step {number}: {done} elements were taken, and more are there")
            left = len(find_all(step, page, self.values))
            if left >= len(found):
                raise PolicyError(f"step {number}: {step.describe()} does not become fewer")

    def _after(self, number: int, step: ProgramStep, page: Observation) -> Observation:
        """Return the page after a step. Raises `PolicyError` where it could not be done."""
        reason = page.outcome
        if SENT_ALREADY in reason:
            return page  # what is shown in the end tells
        if NOT_SENT in reason or reason.startswith(("refused", "no element", "element ")):
            raise PolicyError(f"step {number}, {step.describe()}: {reason}")
        return page

    def _find(
        self, number: int, step: ProgramStep, page: Observation
    ) -> Generator[Action, Observation, tuple[list[Node], Observation]]:
        """Return the element of a step, all if it is done for each; none if it may be missing."""
        found = find_all(step, page, self.values)
        for _ in range(PATIENCE * (step.when != SHOWN)):
            if found or step.each:
                break
            page = yield Wait(WAIT_MS)
            found = find_all(step, page, self.values)
        what = f"step {number}, {expand(step.describe(), self.values)}"
        if step.place and found:
            if len(found) != step.of:
                raise PolicyError(f"{what}: {len(found)} elements fit in place of {step.of}")
            return [found[step.place - 1]], page
        if not found and (step.each or step.when == SHOWN):
            return [], page
        check = self.program.check
        is_gone = self.is_in_doubt and number == check.gone and shows_all(page, check.beside)
        if not found and is_gone:
            self.shown_before = 1
            raise PolicyError("it is gone already")
        if not found:
            nearest = find_nearest(page, step.role, expand(step.name or step.after, self.values))
            if nearest:
                self.proposal = f"step {number}: {describe_element(nearest)}"
            raise PolicyError(f"{what}: it is not on the page {page.url}")
        if len(found) > 1 and not step.each:
            raise PolicyError(
                f"{what}: {len(found)} elements fit, and nothing tells which is meant"
            )
        return found, page

    def _read(self, number: int, step: ProgramStep, page: Observation) -> Play:
        for _ in range(PATIENCE):
            texts = {
                read_value(step, node, page, self.values)
                for node in find_all(step, page, self.values)
            } - {""}
            if texts:
                break
            page = yield Wait(WAIT_MS)
        if len(texts) != 1:
            fit = f"{len(texts)} values fit" if texts else "there is no such value"
            raise PolicyError(f"step {number}, {step.describe()}: {fit} on {page.url}")
        self.outputs[step.into] = texts.pop()
        return page

    @property
    def is_stable(self) -> bool:
        """Whether the last two readings of the list agree."""
        last = [[page.rows for page in reading] for reading in self.readings[-2:]]
        return len(last) == 2 and last[0] == last[1]

    def _read_list(self, number: int, step: ProgramStep, page: Observation) -> Play:
        """Read a list over all of its pages, until two readings agree."""
        while True:
            page = yield from self._read_pages(number, step, page)
            if self.is_stable or len(self.readings) == _MOST_READINGS:
                return page
            self.readings.append([])
            page = yield act.Goto(self.rebase(self.program.url))
            page = yield from self._take(self.program.steps[: number - 1], page)

    def _read_pages(self, number: int, step: ProgramStep, page: Observation) -> Play:
        """Read the list's pages that were not read yet, until there is none that shows more."""
        read = self.readings[-1]
        if read:  # where the address does not lead to the last one it begins anew
            page = yield act.Goto(read[-1].url)
            if read_more_rows(step.columns, page, read[:-1]).rows != read[-1].rows:
                read.clear()
                page = yield act.Goto(self.rebase(self.program.url))
                page = yield from self._take(self.program.steps[: number - 1], page)
        if not read:
            page = yield from self._add_page(step, page)
        while control := self._find_next(number, step, page):
            count = len(read)
            page = self._after(number, step, (yield act.Click(control.mark)))
            page = yield from self._add_page(step, page)
            if len(read) == count:
                break
        return page

    def _add_page(self, step: ProgramStep, page: Observation) -> Play:
        """Read what a page has that the pages before it do not have, as soon as it shows it."""
        read, beside = self.readings[-1], self.program.check.beside
        for tried in range(PATIENCE + 1):
            is_known = bool(read) and shows_all(page, beside)
            added = read_more_rows(step.columns, page, read, may_be_empty=is_known)
            if added.rows or tried == PATIENCE:
                break
            page = yield Wait(WAIT_MS)
        if added.rows or not read:
            read.append(added)
            self.on_page(len(self.readings) - 1, len(read) - 1, added)
        return page

    def _find_next(self, number: int, step: ProgramStep, page: Observation) -> Node | None:
        """Return what leads to the next page; None on the last one."""
        count = len(self.readings[-1])
        values = {**self.values, PAGE: str(count + 1)}
        found = find_all(step, page, values) if step.role else []
        if not found or "disabled" in found[max(step.place - 1, 0)].states:
            return None
        what = f"step {number}, {expand(step.describe(), values)}"
        if len(found) != max(step.of, 1):
            raise PolicyError(f"{what}: {len(found)} elements fit in place of {max(step.of, 1)}")
        if count == _MOST_PAGES:
            raise PolicyError(f"{what}: {count} pages were read, and more are there")
        return found[max(step.place - 1, 0)]
