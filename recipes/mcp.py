"""`webagent mcp`: serve the browser to assistants until the client disconnects or a signal."""

import gc
import secrets
from collections.abc import Sequence
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass
from typing import Any

from apps.mcp.settings import STEP_SECONDS, McpConfig
from loop.console.output import CommandResult, run_until_stopped
from loop.folder import RunFolder
from recipes.settings import resolve
from webagent.guard import Guard
from webagent.store import Store


@dataclass(frozen=True, slots=True)
class AssistantServed:
    """The tools of a server and its sessions."""

    tools: list[dict[str, Any]]
    """The tools as sent to clients, with `name`, `description` and `inputSchema`."""
    sessions: int
    """Number of opened sessions; 0 with --describe."""
    store: str
    """Folder of the run that stores them; empty if they are not stored."""


def main(argv: Sequence[str]) -> CommandResult:
    """Serve until the client disconnects; raises `Stopped` after a signal."""
    config = resolve(McpConfig, "mcp", argv)
    config.check()
    if config.describe:
        from apps.mcp.handlers import reference

        print(reference(config))
        return CommandResult(_served(config, 0))
    folder = None
    if config.store is not None and (config.store / "run.json").is_file():
        folder = RunFolder.open(config.store)
        folder.note_origin()
    elif config.store is not None:
        folder = RunFolder.create(config.store, config, ["webagent", "mcp", *argv])
    try:
        with folder.store() if folder else nullcontext() as store:
            opened = run_until_stopped(_serve(config, store))
    finally:
        # The process ends now, and a client waits two seconds for that before it kills it; looking
        # through all that the libraries have made for garbage would take longer on a busy machine.
        gc.freeze()
    return CommandResult(_served(config, opened))


def _served(config: McpConfig, sessions: int) -> AssistantServed:
    from apps.mcp.handlers import make_tools

    tools = [offer.tool.model_dump(by_alias=True) for offer in make_tools(config).values()]
    shown = ("name", "description", "inputSchema")
    listed = [{name: tool[name] for name in shown} for tool in tools]
    return AssistantServed(listed, sessions, str(config.store or ""))


async def _serve(config: McpConfig, store: Store | None) -> int:
    from apps.mcp.approval import ByClient
    from apps.mcp.handlers import ToolHandlers, make_tools
    from apps.mcp.server import Tools, serve_http, serve_stdio, server_of
    from apps.mcp.sessions import Sessions, SessionStore
    from apps.mcp.tasks import TaskRunner
    from webagent.browser import Browser, BrowserLimits

    guard = Guard.of(config.policy(), ByClient())
    profile = config.profile()
    limits = BrowserLimits(lease_seconds=60 * config.idle_minutes + STEP_SECONDS)
    headless = not profile.headed
    browser = Browser(headless=headless, guard=guard, limits=limits, pages=config.max_sessions)
    kept = SessionStore(store, f"mcp-{secrets.token_hex(4)}")
    async with AsyncExitStack() as undo:
        sessions = await undo.enter_async_context(Sessions(config, browser, profile, kept))
        runner = None
        if config.has_model:
            runner = TaskRunner(config, browser, profile, kept, sessions)
            undo.push_async_callback(runner.close)
        listed = make_tools(
            config, has_pictures=not config.held(guard), has_tasks=runner is not None
        )
        tools = Tools(ToolHandlers(config, sessions, runner), listed)
        undo.push_async_callback(tools.close)
        if config.http is None:
            await serve_stdio(server_of(tools))
        else:
            await serve_http(server_of(tools), config)
        return sessions.opened
