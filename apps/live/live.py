"""One task at work, with everything by which a person can watch it and step in."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from apps.live.desk import HELP, HELP_UNSEEN, Desk
from apps.live.display import Terminal, told
from apps.live.hands import Hands
from apps.live.keys import Keys
from apps.live.settings import RunConfig, acting, agent_of, asking, may_ask, schema_in
from apps.live.steering import Steering
from loop.console.outcome import SIGNALS
from loop.console.output import emit
from loop.console.person import KeyboardPerson
from webagent.agent import Asking, Event, Result, Stop
from webagent.agent.actor import name_of
from webagent.browser import BrowserWorld
from webagent.policy.policy import Policy
from webagent.records import Provenance
from webagent.rollout.world import World
from webagent.store import Store

PHASE = "run"
_QUIT = 130


class Live:
    """Does the task of the settings; `run` it once."""

    def __init__(self, config: RunConfig, folder: Path, store: Store, display: Terminal) -> None:
        self.interrupted = 0
        """The exit status of whoever interrupted it; 0 while nobody did."""
        self._config, self._folder = config, folder
        self._store, self.display = store, display
        self._desk = Desk(has_window=config.headed, say=display.say)
        display.awaited = self._desk.awaited
        self._stop = Stop()

    async def run(self) -> Result:
        """What came of it. Raises `SetupError` and `ModelError` before anything was begun, and is
        cancelled by a second signal."""
        config = self._config
        (asking(config) or Asking()).note(self._store)
        with self._signals(), Keys(self._press) as keys:
            person = KeyboardPerson(self.display.say, keys.take) if keys.is_heard else None
            self.display.say(f"run folder: {self._folder}")
            if keys.is_heard:
                self.display.say(HELP if self._config.headed else HELP_UNSEEN)
            elif may_ask(self._config):
                self.display.say(
                    "no terminal to ask at: what the guard wants a yes for will be refused"
                )
            agent = agent_of(
                config, self._folder, self._store, _Patient(person, self._stop) if person else None
            )
            agent.handover = person if config.headed else None
            async with agent:
                return await agent.run(
                    config.task,
                    url=config.url,
                    schema=schema_in(config),
                    listen=self._tell,
                    stop=self._stop,
                    between=self._steered,
                    provenance=self._provenance(),
                )

    def _tell(self, event: Event) -> None:
        self.display.show(event)
        emit(told(event))

    def _steered(self, policy: Policy, world: BrowserWorld, stop: Stop) -> tuple[Policy, World]:
        hands = Hands(world, self._store, self.display.say)
        steering = Steering(policy, world, stop, self._desk, hands)
        return steering, steering

    def _provenance(self) -> Provenance:
        who = acting(self._config)
        arm = name_of(who) or str(who).rpartition("/")[2]
        return Provenance(run=self._folder.name, arm=arm, phase=PHASE)

    def _press(self, key: str) -> None:
        if key in ("p", " "):
            self._desk.toggle_pause()
        elif key == "t":
            self._desk.take_over()
        elif key in ("\n", "\r", "r"):
            self._desk.go_on()
        elif key == "q":
            self._interrupt(_QUIT, "stopped by q")
        else:
            self.display.say(HELP if self._config.headed else HELP_UNSEEN)

    def _interrupt(self, status: int, reason: str) -> None:
        self.interrupted = status
        self._stop.end(reason)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Ctrl-C and SIGTERM end the task in order, a second one at once; SIGUSR1 pauses and goes
        on, SIGUSR2 takes over and hands back."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def end(number: int) -> None:
            if self.interrupted:
                task.cancel()
            self._interrupt(128 + number, f"interrupted by {signal.Signals(number).name}")

        for number in SIGNALS:
            loop.add_signal_handler(number, end, number)
        loop.add_signal_handler(signal.SIGUSR1, self._desk.toggle_pause)
        loop.add_signal_handler(signal.SIGUSR2, self._desk.toggle_person)
        try:
            yield
        finally:
            for each in (*SIGNALS, signal.SIGUSR1, signal.SIGUSR2):
                loop.remove_signal_handler(each)


class _Patient:
    """A person whose time to answer does not count."""

    def __init__(self, person: KeyboardPerson, stop: Stop) -> None:
        self._person, self._stop = person, stop

    async def approve(self, question: str) -> bool:
        """As the person's."""
        with self._stop.held():
            return await self._person.approve(question)
