"""One task under way, with everything a person needs to watch it and take over."""

import asyncio
import logging
import shlex
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apps.live.settings import RunConfig, actor_of, agent_of, may_ask, prompt_settings, schema_in
from apps.live.steering import HELP, HELP_UNSEEN, Control, PersonActions, SteeredEpisode
from apps.live.terminal import KeyReader, Terminal, event_facts, plain
from loop.console.output import SIGNALS, KeyboardPerson, Status, emit
from loop.world_models import open_lookahead
from webagent.agent import Asking, Event, Result, Stop
from webagent.agent.actor import name_of
from webagent.browser import BrowserWorld
from webagent.guard.writes import explain_unverified
from webagent.models.endpoint.model import ASKED
from webagent.policy.policy import Policy
from webagent.records import PERSON, Ending, Provenance
from webagent.rollout.world import World
from webagent.store import Store

PHASE = "run"
_QUIT = 130


class Live:
    """Does the task of the settings; `run` it once."""

    def __init__(self, config: RunConfig, folder: Path, store: Store, display: Terminal) -> None:
        self.interrupted = 0
        """The exit status of an interruption; 0 without one."""
        self._config, self._folder = config, folder
        self._store, self.display = store, display
        self._control = Control(has_window=config.headed, say=display.say)
        self._help = HELP if config.headed else HELP_UNSEEN
        display.awaited = self._control.awaited
        self._stop = Stop()

    async def run(self) -> Result:
        """Return the result; cancelled by a second signal.

        Raises `SetupError` and `ModelError` before the task starts.
        """
        config = self._config
        who = actor_of(config)
        place = who.rpartition("/")[2] if isinstance(who, str) else type(who).__name__
        (prompt_settings(config) or Asking()).note(self._store)

        def tell(event: Event) -> None:
            self.display.show(event)
            emit(event_facts(event))

        def steer(policy: Policy, world: BrowserWorld, stop: Stop) -> tuple[Policy, World]:
            person = PersonActions(world, self._store, self.display.say)
            steered = SteeredEpisode(policy, world, stop, self._control, person)
            return steered, steered

        with self._signals(), _shown_retries(self.display), KeyReader(self._press) as keys:
            person = KeyboardPerson(self.display.say, keys.take) if keys.is_heard else None
            approver = _UncountedPerson(person, self._stop) if person else None
            self.display.say(f"run folder: {self._folder}")
            if keys.is_heard:
                self.display.say(self._help)
            elif may_ask(config):
                self.display.say(
                    "no terminal to ask at: actions that need approval will be refused"
                )
            agent = agent_of(config, self._folder, self._store, approver)
            agent.handover = person if config.headed else None
            ahead = open_lookahead(config.lookahead, self._store.images.get)
            async with ahead as agent.lookahead, agent:
                return await agent.run(
                    config.task,
                    url=config.url,
                    schema=schema_in(config),
                    listen=tell,
                    stop=self._stop,
                    between=steer,
                    provenance=Provenance(
                        run=self._folder.name, arm=name_of(who) or place, phase=PHASE
                    ),
                )

    def _press(self, key: str) -> None:
        if key in ("p", " "):
            self._control.toggle_pause()
        elif key == "t":
            self._control.take_over()
        elif key in ("\n", "\r", "r"):
            self._control.go_on()
        elif key == "q":
            self._interrupt(_QUIT, "stopped by q")
        else:
            self.display.say(self._help)

    def _interrupt(self, status: int, reason: str) -> None:
        self.interrupted = status
        self._stop.end(reason)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Have Ctrl-C and SIGTERM end the task in order, a second one at once; SIGUSR1 pauses and
        goes on, SIGUSR2 takes over and hands back."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def end(number: int) -> None:
            if self.interrupted:
                task.cancel()
            self._interrupt(128 + number, f"interrupted by {signal.Signals(number).name}")

        for number in SIGNALS:
            loop.add_signal_handler(number, end, number)
        loop.add_signal_handler(signal.SIGUSR1, self._control.toggle_pause)
        loop.add_signal_handler(signal.SIGUSR2, self._control.toggle_person)
        try:
            yield
        finally:
            for each in (*SIGNALS, signal.SIGUSR1, signal.SIGUSR2):
                loop.remove_signal_handler(each)


@contextmanager
def _shown_retries(display: Terminal) -> Iterator[None]:
    """Show each repeated request to a model, which would otherwise look like thinking."""
    logger = logging.getLogger(ASKED)
    level = logger.level

    def tell(record: logging.LogRecord) -> bool:
        display.say(plain(record.getMessage()))
        return False

    logger.addFilter(tell)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeFilter(tell)
        logger.setLevel(level)


class _UncountedPerson:
    """A person whose time to answer does not count."""

    def __init__(self, person: KeyboardPerson, stop: Stop) -> None:
        self._person, self._stop = person, stop

    async def approve(self, question: str) -> bool:
        """Return the person's answer."""
        with self._stop.held():
            return await self._person.approve(question)


_ADVICE: Mapping[Ending, str] = {
    Ending.STEP_LIMIT: "allow more with --max-steps",
    Ending.POLICY_UNREADABLE: "docs/failures.md says what helps where replies are no action",
    Ending.GUARD_REFUSED: "the guard's file says what is open: docs/guard.md",
    Ending.CAPTCHA: "pass it yourself with --headed, or save a login with webagent login",
    Ending.WORLD_FAILED: "check the address, and webagent doctor",
}


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a task."""

    outcome: str
    """How it ended: `answered`, `gave up`, `step limit`, `stopped`, `policy unreadable`, `guard
    refused`, `world failed`, `model failed` or `captcha`."""
    answer: str
    """What the agent answered; empty where it did not."""
    value: Any
    """The answer as data, where a schema was given."""
    reason: str
    """Why there is no answer; empty where there is one."""
    verified: bool | None
    """Whether pages opened anew show all that was sent; null where it was not asked."""
    steps: int
    """Actions taken, a person's included."""
    steps_of_person: int
    """Those of a person who took over."""
    steps_of_student: int
    """Those of the small model in front of the large one."""
    seconds: float
    """From the first page to the end."""
    tokens: int
    """Read and written by the model."""
    cost: float | None
    """Money; null where it is not known, and `cost_unknown` says why."""
    currency: str
    """Of the cost."""
    cost_unknown: str
    """Why the cost is not known."""
    url: str
    """Where it ended; empty where the page was lost."""
    episode: str
    """Id of the episode in the run folder."""
    run: str
    """The run folder."""
    downloads: list[str]
    """Files that pages handed out."""
    trace: list[str]
    """Playwright traces that were kept."""


def status_of(result: Result) -> Status:
    """Return the exit status that stands for how it ended."""
    if result.ending in (Ending.ANSWERED, Ending.TASK_OVER):
        return Status.DONE
    if result.ending is Ending.STOPPED:
        return Status.STOPPED
    return Status.SETUP if result.ending.is_infrastructure else Status.FAILED


def facts_of(result: Result, folder: Path) -> RunResult:
    """Return everything that a program may want to know."""
    cost, steps = result.cost, result.steps
    return RunResult(
        outcome=str(result.ending),
        answer=result.answer,
        value=result.value,
        reason=result.reason,
        verified=result.verified,
        steps=len(steps),
        steps_of_person=sum(step.decision.weights == PERSON for step in steps),
        steps_of_student=sum(step.decision.source == "student" for step in steps),
        seconds=round(result.trajectory.seconds, 2),
        tokens=cost.tokens,
        cost=cost.money,
        currency=cost.currency,
        cost_unknown=cost.unknown,
        url=result.url,
        episode=result.trajectory.id,
        run=str(folder),
        downloads=[str(each) for each in _files(folder / "downloads")],
        trace=[str(each) for each in _files(folder / "trace")],
    )


def last_lines(result: Result, config: RunConfig, folder: Path) -> list[str]:
    """Return the last lines: the answer or why there is none, what it took, what to do next."""
    text = result.answer or result.reason or "done"
    lines = [plain(line) for line in text.splitlines() or [""]]
    lines[0] = f"{result.ending}: {lines[0]}"
    if result.verified:
        lines.append("verified: pages opened anew show all that was sent")
    elif reason := explain_unverified(result.trajectory):
        lines.append(plain(f"not verified: {reason}"))
    lines += [f"kept {each}" for name in ("downloads", "trace") for each in _files(folder / name)]
    advice = _ADVICE.get(result.ending, "")
    if result.ending is Ending.MODEL_FAILED and config.model.policy == "endpoint":
        model = config.model
        named = {"--endpoint": str(model.endpoint or ""), "--model": model.model}
        words = [word for flag, value in named.items() if value for word in (flag, value)]
        doctor_line = shlex.join(["webagent", "doctor", *words])
        advice = f"{doctor_line} asks the model one question"
    next_step = f"look at it with: webagent view {folder}"
    count = len(result.steps)
    took = f"{count} step{'s' * (count != 1)}, {result.cost}, {result.trajectory.seconds:.1f} s"
    parts = [f"{result.ending} in {took}", f"kept in {folder}", advice, next_step]
    return [*lines, "; ".join(part for part in parts if part)]


def _files(folder: Path) -> list[Path]:
    """Return whole files in a folder, those that are still coming in left out."""
    found = folder.rglob("*") if folder.is_dir() else ()
    return sorted(
        each
        for each in found
        if each.is_file() and not any(p.startswith(".") for p in each.relative_to(folder).parts)
    )
