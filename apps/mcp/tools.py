"""The tools: every action that is offered, and what a session needs besides."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from mcp_types import CallToolResult, Tool, ToolAnnotations

from apps.mcp.arguments import Act, CloseSession, Find, Observe, OpenSession, RunTask, Screenshot
from apps.mcp.desk import Call, Desk
from apps.mcp.schema import read_arguments, schema_of
from apps.mcp.settings import McpConfig
from webagent.action import ACTIONS, make_action
from webagent.errors import CallError

Run: TypeAlias = Callable[[Desk, Any, Call], Awaitable[CallToolResult]]


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as it is listed, and what a call of it does."""

    name: str
    cls: type[Any]
    run: Run | None = None
    """None for an action, which is made from its class."""
    reads_only: bool = False

    @property
    def tool(self) -> Tool:
        """As it is listed."""
        return Tool(
            name=self.name,
            description=str(self.cls.__doc__),
            input_schema=schema_of(self.cls, in_session=self.run is None),
            annotations=ToolAnnotations(read_only_hint=self.reads_only, open_world_hint=True),
        )

    async def __call__(self, desk: Desk, given: Mapping[str, Any], call: Call) -> CallToolResult:
        """Do it. Raises `CallError` and `ActionError` for arguments that are wrong."""
        if self.run is not None:
            return await self.run(desk, read_arguments(self.name, self.cls, given), call)
        arguments = dict(given)
        session = arguments.pop("session", None)
        if not isinstance(session, str):
            raise CallError(f"{self.name} lacks session; call open_session for one")
        return await desk.act(session, make_action(self.name, arguments))


def offers(
    config: McpConfig, *, has_pictures: bool = True, has_errands: bool = True
) -> dict[str, Offer]:
    """Every tool of a server with these settings, by name."""
    every = [
        Offer("open_session", OpenSession, Desk.open),
        Offer("observe", Observe, Desk.observe, reads_only=True),
        Offer("find", Find, Desk.find, reads_only=True),
        *(Offer(name, ACTIONS[name]) for name in config.actions),
        Offer("act", Act, Desk.act_all),
        *([Offer("screenshot", Screenshot, Desk.screenshot, reads_only=True)] * has_pictures),
        Offer("close_session", CloseSession, Desk.close),
        *([Offer("run_task", RunTask, Desk.run_task)] * has_errands),
    ]
    return {each.name: each for each in every}
