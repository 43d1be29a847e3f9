"""Whole tasks: done, told step by step, held to the guard and its caps, and stopped."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from mcp_types import ElicitResult

from apps.mcp import tasks as errands
from apps.mcp.approval import ByClient
from apps.mcp.handlers import ToolHandlers, make_tools
from apps.mcp.server import Tools, server_of
from apps.mcp.sessions import Sessions, SessionStore
from apps.mcp.settings import McpConfig
from apps.mcp.tasks import TaskRunner
from tests.apps.mcp.conftest import SECRET, Assistant, Says, assistant, text_of
from tests.fakes.policy import says
from tests.fakes.site import Site
from webagent.browser import Browser
from webagent.browser.sessions.profile import Profile
from webagent.guard import Guard, read_policy
from webagent.models import CannedModel
from webagent.records import Ending
from webagent.store import Store

pytestmark = pytest.mark.browser

Serve = Callable[..., AbstractAsyncContextManager[Assistant]]


@pytest.fixture(scope="module")
async def held(guard: Path) -> AsyncIterator[Browser]:
    """A browser held to the tests' guard, which asks the client's user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEBAGENT_TEST_SECRET", SECRET)
        async with Browser(guard=Guard.of(read_policy(guard), ByClient())) as browser:
            yield browser


@pytest.fixture
def serve(held: Browser, store: Store, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """An assistant at a server in this process whose model replies as a test says."""

    @asynccontextmanager
    async def serving(
        model: CannedModel, mode: str = "auto", user: Says | None = None, **settings: object
    ) -> AsyncIterator[Assistant]:
        monkeypatch.setattr(errands, "actor_of", lambda config: model)
        config, kept = McpConfig(**settings), SessionStore(store, "mcp-test")  # type: ignore[arg-type]
        async with Sessions(config, held, Profile(), kept) as sessions:
            done = TaskRunner(config, held, Profile(), kept, sessions)
            tools = Tools(ToolHandlers(config, sessions, done), make_tools(config))
            async with assistant(server_of(tools), mode, user) as found:
                yield found
            await tools.close()
            await done.close()

    return serving


async def test_a_task_is_done_and_every_step_is_told(serve, site, store):
    told: list[tuple[float, float | None, str | None]] = []

    async def progress(step: float, most: float | None, what: str | None) -> None:
        told.append((step, most, what))

    asked = {"task": "What does the blue kayak cost?", "url": f"{site.address}/", "max_steps": 5}
    async with serve(says('answer("420 euros")')) as found:
        result = await found.client.call_tool("run_task", asked, progress_callback=progress)
    said = text_of(result)
    assert not result.is_error and "ending: answered" in said and "420 euros" in said
    assert said.splitlines()[-1].startswith("answer ")
    assert [step for step, _, _ in told] == [1, 2]
    assert told[0][2] == f'goto("{site.address}/")' and told[1] == (2, 6, 'answer("420 euros")')
    (episode,) = store.trajectories("any", phase="run")
    assert episode.goal == asked["task"] and episode.id in said


async def test_a_task_begins_nowhere_that_the_guard_closes(serve: Serve) -> None:
    asked = {"task": "Read it", "url": "http://127.0.0.1:9/admin"}
    async with serve(says('give_up("refused")')) as found:
        result = await found.client.call_tool("run_task", asked)
    assert result.is_error and "about:blank" in text_of(result)


async def test_an_answer_is_held_to_a_schema(serve: Serve, site: Site) -> None:
    schema = {"type": "object", "properties": {"euros": {"type": "integer"}}, "required": ["euros"]}
    asked = {"task": "The price?", "url": f"{site.address}/", "schema": schema}
    reply = json.dumps(json.dumps({"euros": 420}))
    async with serve(says(f"answer({reply})")) as found:
        result = await found.client.call_tool("run_task", asked)
    assert not result.is_error and '{"euros": 420}' in text_of(result)


async def test_a_task_ends_at_its_limit_and_says_so(serve: Serve, site: Site) -> None:
    asked = {"task": "Wait", "url": f"{site.address}/", "max_steps": 50}
    async with serve(says("wait(1)"), max_steps=3) as found:
        result = await found.client.call_tool("run_task", asked)
    assert result.is_error and "ending: step limit" in text_of(result)
    assert "steps: 4" in text_of(result)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_person_is_asked_in_the_middle_of_a_task(mode, serve, site):
    asked: list[str] = []

    def yes(question: str) -> ElicitResult:
        asked.append(question)
        return ElicitResult(action="accept", content={"allow": True})

    task = {"task": "Buy the kayak", "url": f"{site.address}/"}
    async with serve(says("click(1)", 'answer("bought")'), mode, yes) as found:
        result = await found.client.call_tool("run_task", task)
    assert "bought" in text_of(result) and not result.is_error
    assert len(asked) == 1 and "buying needs a person's yes" in asked[0]


async def test_a_task_that_is_cancelled_stops_and_is_kept_as_stopped(serve, site, store):
    begun = asyncio.Event()

    async def progress(step: float, most: float | None, what: str | None) -> None:
        if step >= 3:
            begun.set()

    asked = {"task": "Wait for ever", "url": f"{site.address}/"}
    async with serve(says("wait(50)"), "legacy", max_steps=10_000) as found:
        running = asyncio.create_task(
            found.client.call_tool("run_task", asked, progress_callback=progress)
        )
        await begun.wait()
        running.cancel()
        await asyncio.wait({running})
        async with asyncio.timeout(10):
            while not store.ids("any", phase="run") or any(
                each.ending is None for each in store.entries("any", phase="run")
            ):
                await asyncio.sleep(0.02)
    (entry,) = store.entries("any", phase="run")
    assert entry.ending is Ending.STOPPED and "cancelled" in entry.error
