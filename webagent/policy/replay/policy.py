"""A stored episode as a policy: it does again what was done, without a model."""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from webagent.action import Action, Answer, Wait, format_action, is_final
from webagent.errors import PolicyError
from webagent.policy.finding import plain
from webagent.policy.policy import propose_certain
from webagent.policy.replay.elements import GOOD, STRICT
from webagent.policy.replay.steps import ReplayedStep, StepReplay
from webagent.records import Decision, Ending, Observation, Trajectory

SOURCE, WAITING = "replay", "replay waits"
PATIENCE = 3
"""Times that a page on the real clock is given another moment before an element counts as gone."""
WAIT_MS = 700
_NOT_DONE = re.compile(r"no element|element \d+|there is nothing|the point")
"""How an outcome begins where an action could not be done; others are notes."""


@dataclass(slots=True)
class ReplayPolicy:
    """Plays one recording; `accounts` says step by step what came of it.

    What cannot be done reliably is refused with `PolicyError`, which ends the episode.
    """

    recording: Trajectory
    strict: bool = False
    secrets: frozenset[str] = frozenset()
    """Names of secrets that the guard fills in."""
    accounts: list[ReplayedStep] = field(default_factory=list)

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Return what was done at this point. Raises `PolicyError` where that is unknown."""
        start = time.monotonic()
        if not trajectory.steps:
            self.accounts.clear()
        done = sum(step.decision.source == SOURCE for step in trajectory.steps)
        try:
            action, account = self._replay_next(done, trajectory, observation)
        except PolicyError as refused:
            sources = [step.decision.source for step in trajectory.steps[-PATIENCE:]]
            if trajectory.task.clock == "real" and sources != [WAITING] * PATIENCE:
                # The page may only be slow.
                return Decision(Wait(WAIT_MS), str(refused), WAITING, weights="replay")
            steps, recorded = self.recording.steps, "the end"
            if done < len(steps):
                recorded = format_action(steps[done].decision.action)
            account = ReplayedStep(done + 1, recorded, refusal=str(refused))
            self.accounts.append(account)
            raise PolicyError(account.describe()) from refused
        self.accounts.append(account)
        seconds = time.monotonic() - start
        return Decision(action, account.describe(), SOURCE, weights="replay", seconds=seconds)

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """Return the one action that was recorded."""
        return propose_certain(await self.act(trajectory, observation), n)

    def _replay_next(
        self, done: int, trajectory: Trajectory, page: Observation
    ) -> tuple[Action, ReplayedStep]:
        then, now = self.recording.task, trajectory.task
        goal, goal_now = self.recording.goal or then.goal, page.goal or trajectory.goal
        if (then.id, then.seed) != (now.id, now.seed) or plain(goal_now or goal) != plain(goal):
            raise PolicyError(
                f"the recording is of {then.id} with the goal {goal!r}, and this is {now.id} with"
                f" {goal_now!r}; for other values there is `webagent do`"
            )
        steps = self.recording.steps
        after = steps[done].observation if done < len(steps) else self.recording.last
        if done and after is not None and not is_final(steps[done - 1].decision.action):
            if _NOT_DONE.match(page.outcome) and not _NOT_DONE.match(after.outcome):
                raise PolicyError(f"step {done} did not go as recorded: {page.outcome}")
            if self.strict and page.outcome == "no effect" and not after.outcome:
                raise PolicyError(f"step {done} had no effect, and it had one when recorded")
        if done < len(steps):
            least, moved = STRICT if self.strict else GOOD, (then.start_url, now.start_url)
            return StepReplay(steps[done], page, least, self.secrets, moved).replay(done + 1)
        if self.recording.ending is Ending.TASK_OVER:
            raise PolicyError("all steps were done, and the page has not ended the task as it did")
        return Answer(""), ReplayedStep(done + 1, "the recording has ended", taken='answer("")')
