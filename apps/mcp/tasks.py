"""Whole tasks, given to the policy or model that the server was started with."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from itertools import count

from mcp_types import CallToolResult

from apps.mcp.approval import under_way
from apps.mcp.sessions import SOURCE, Sessions, SessionStore
from apps.mcp.settings import McpConfig
from apps.mcp.tools import RunTask, failure, reply
from tasks.task import Task
from webagent.action import format_action
from webagent.action.actions import Goto
from webagent.agent import Acting, Agent, Decided, Event, Stop
from webagent.browser import Browser
from webagent.browser.sessions.profile import Profile
from webagent.models import load_endpoint
from webagent.models.prompt import fence, shorten
from webagent.policy.policy import Policy
from webagent.records import Decision, Observation, Provenance, Trajectory

_PHASE = "run"
_BLANK = "about:blank"
_LONGEST_ACTION = 120


class FirstGoto:
    """The policy, once the page was opened that the task begins on.

    As an action: so that the guard judges the address, which an assistant may have from a page,
    and does not take it for one that its owner has chosen.
    """

    def __init__(self, policy: Policy, url: str) -> None:
        self._policy, self._url = policy, url

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Return the policy's, but for the first."""
        if not trajectory.steps:
            return Decision(Goto(self._url), source=SOURCE)
        return await self._policy.act(trajectory, observation)

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """Return the policy's, but for the first."""
        if not trajectory.steps:
            return [await self.act(trajectory, observation)]
        return await self._policy.propose(trajectory, observation, n)


class TaskRunner:
    """Runs tasks; the model is opened with the first and kept until `close`."""

    def __init__(
        self,
        config: McpConfig,
        browser: Browser,
        profile: Profile,
        kept: SessionStore,
        sessions: Sessions,
    ) -> None:
        """Raises `SetupError` for a model or a cap that cannot be."""
        self._config = config
        self._sessions = sessions
        self._run = kept.run
        self._numbers = count()
        self._held = AsyncExitStack()
        self._is_open = False
        self._agent = Agent(
            actor_of(config),
            browser=browser,
            profile=profile,
            max_cost=config.max_cost,
            max_tokens_total=config.max_tokens_total,
            max_minutes=config.max_minutes,
            vision=config.images,
            store=kept.store,
            screenshots=config.store_screenshots and kept.store is not None,
        )

    async def run(self, request: RunTask, who: str) -> CallToolResult:
        """Do a task and say how it ended; it is stopped when the call is cancelled."""
        stop, work = Stop(), under_way()
        most = min(request.max_steps or self._config.max_steps, self._config.max_steps) + 1
        if work is not None:
            work.when_left(lambda: stop.end("the assistant has cancelled it"))

        def report(event: Event) -> None:
            if work is not None and isinstance(event, Decided):
                action = shorten(format_action(event.decision.action), _LONGEST_ACTION)
                work.tell(event.number, most, action)

        async with self._sessions.place():
            if not self._is_open:
                self._is_open = True
                await self._held.enter_async_context(self._agent)
            result = await self._agent.run(
                Task("mcp/task@1", _BLANK, goal=request.task, max_steps=most, clock="real"),
                schema=request.schema,
                listen=report,
                stop=stop,
                between=lambda policy, world, stop: (FirstGoto(policy, request.url), world),
                provenance=Provenance(
                    run=self._run, arm=who or "assistant", phase=_PHASE, index=next(self._numbers)
                ),
            )
        answer = result.answer or result.reason or "(no answer)"
        facts = [
            f"ending: {result.ending}",
            f"steps: {len(result.steps)}",
            f"cost: {result.cost}",
            *([f"kept as: {result.trajectory.id}"] if self._agent.store is not None else []),
        ]
        url = f"{shorten(result.url)}\n\n" if result.url else ""
        text = "\n".join([*facts, fence("answer", f"{url}{answer}")])
        return reply(text) if result.is_answered and not result.misfit else failure(text)

    async def close(self) -> None:
        """Let go of the model."""
        await self._held.aclose()


def actor_of(config: McpConfig) -> Acting:
    """Return who does the tasks. Raises `SetupError`."""
    return load_endpoint(config.endpoint) if config.endpoint else config.model
