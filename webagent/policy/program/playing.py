"""A program as a policy: one row of a table, played and read back."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import urljoin, urlsplit, urlunsplit

from webagent.action import Action, Answer, Wait
from webagent.action import actions as act
from webagent.errors import PolicyError
from webagent.guard.writes import NOT_SENT, SENT_ALREADY
from webagent.policy.policy import propose_certain
from webagent.policy.program.program import (
    SHOWN,
    Program,
    ProgramStep,
    count_rows,
    expand,
    filled,
    find_all,
    find_nearest,
    make_step_action,
    same_page,
    shows_all,
)
from webagent.policy.program.reading import read_value
from webagent.policy.replay.surroundings import describe_element
from webagent.records import Decision, Node, Observation, Trajectory

SOURCE = "program"
PATIENCE, WAIT_MS = 3, 500
"""Times that a page is given another moment before an element counts as missing, and how long."""
_MOST_OF_EACH = 200
"""Elements of one page that a step is done for."""

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
    """In how many places the page that shows it has what is wanted, as it was read last; None
    where it has not been read."""
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
        ours, theirs = urlsplit(self.program.url), urlsplit(self.base)
        parts = urlsplit(urljoin(self.program.url, expand(url, self.values)))
        if not self.base or (parts.scheme, parts.netloc) != (ours.scheme, ours.netloc):
            return parts.geturl()
        return urlunsplit(parts._replace(scheme=theirs.scheme, netloc=theirs.netloc))

    def _play(self, page: Observation) -> Play:
        check = self.program.check
        if check.url and check.shows:
            if not same_page(page.url, self.rebase(check.url)):
                page = yield act.Goto(self.rebase(check.url))
            self._compare_before(page)
            if not same_page(page.url, self.rebase(self.program.url)):
                page = yield act.Goto(self.rebase(self.program.url))
        for number, step in enumerate(self.program.steps, 1):
            if step.when not in ("", SHOWN) and not expand(step.when, self.values):
                continue
            if step.do == "read":
                page = yield from self._read(number, step, page)
                continue
            if step.do in ("fill", "select_option") and check.in_place:
                self._compare_before(page)
            page = yield from self._do(number, step, page)
        if check.shows or check.gone:
            page = yield from self._read_back(page)
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
                    return page
                page = yield Wait(WAIT_MS)
                self.shown = self._count(page)
        return page

    def _count(self, page: Observation) -> int:
        """Return in how many places a page shows what is wanted; for what has to be gone, 1 where
        it is."""
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
        """Return the one element of a step, all where it is done for each; none where it may be
        missing."""
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
            nearest = find_nearest(step, page, self.values)
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
