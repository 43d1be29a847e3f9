"""Handle tool calls: act on a session and reply with its page, bounded and fenced."""

import json
from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, TypeAlias

from mcp_types import CallToolResult, ImageContent, Tool, ToolAnnotations

from apps.mcp import tools
from apps.mcp.sessions import Sessions
from apps.mcp.settings import McpConfig
from apps.mcp.tasks import TaskRunner
from apps.mcp.tools import (
    LEAST_TOKENS,
    MOST_TOKENS,
    Act,
    CloseSession,
    Find,
    Observe,
    OpenSession,
    RunTask,
    Screenshot,
    read_arguments,
    refused,
    reply,
    schema_of,
)
from webagent.action import ACTIONS, Action, format_action, make_action, parse_action
from webagent.action.actions import Goto
from webagent.errors import CallError
from webagent.models.prompt import estimate_tokens, fence, shorten
from webagent.observation import render, render_node
from webagent.observation.render import find_changes
from webagent.records import Observation

_FENCE_TOKENS = 30
_LONGEST_LINE = 400
_LONGEST_TITLE = 60
_ALL = 1 << 40


def whole(page: Observation, max_tokens: int, before: Observation | None = None) -> str:
    """Return the page, or what of it matters most; lines new since `before` begin with `*`."""
    page = _neat(page)
    room = max_tokens - estimate_tokens(_heading(page)) - _FENCE_TOKENS
    text = render(page, room, before=before)
    message = fence("page", f"{_heading(page)}\n\n{text}")
    if text == render(page, _ALL, before=before):
        return message
    return (
        f"{message}\nNot all of the page's {len(page.nodes)} lines fit. Call observe with start=1"
        " to read it from the top, or find to search it."
    )


def news(before: Observation, page: Observation, max_tokens: int) -> str:
    """Return what an action has changed, where that is less than the page; else the page.

    Marks stay with their elements, so what was shown before is still good to act on.
    """
    # The difference is enough for a reader who knows the first page.
    compared = [(one.url, one.active_tab, one.scroll, len(one.tabs)) for one in (before, page)]
    if compared[0] != compared[1]:
        return whole(page, max_tokens)
    new = find_changes(before, page)
    left = {node.mark for node in page.nodes}
    gone = [f"[{node.mark}]" for node in before.nodes if node.mark and node.mark not in left]
    if 2 * (len(new) + len(gone)) > len(page.nodes):
        return whole(page, max_tokens, before)
    lines = [f"*{_line(page, index)}" for index in sorted(new)]
    shown = _within(lines, max_tokens)
    missing = len(lines) - len(shown)
    parts = [
        _heading(_neat(page)),
        *([""] if shown or gone else []),
        *shown,
        *([f"... {missing} more changed lines left out"] if missing else []),
        *([shorten(f"gone: {', '.join(gone)}")] if gone else []),
    ]
    as_before = len(page.nodes) - len(new)
    return f"{fence('page', chr(10).join(parts))}\n{as_before} other lines are as before."


def read_on(page: Observation, start: int, max_tokens: int) -> str:
    """Return the lines in their order from number `start`, counted from 1."""
    lines = [_line(page, index) for index in range(len(page.nodes))][start - 1 :]
    if not lines:
        return f"The page has {len(page.nodes)} lines; there is no line {start}."
    shown = _within(lines, max_tokens) or lines[:1]
    last = start + len(shown) - 1
    message = fence("page", "\n".join([_heading(_neat(page)), "", *shown]))
    end = (
        f"Call observe with start={last + 1} to read on." if last < len(page.nodes) else "The end."
    )
    return f"{message}\nLines {start} to {last} of {len(page.nodes)}. {end}"


def find(page: Observation, text: str, max_tokens: int) -> str:
    """Return the lines that hold the text, whatever its case, with their numbers."""
    wanted = " ".join(text.split()).casefold()
    every = (render_node(node).strip() for node in page.nodes)
    hits = [index for index, line in enumerate(every) if wanted in line.casefold()]
    if not hits:
        return f"None of the page's {len(page.nodes)} lines holds that text. Try less of it."
    lines = [f"{index + 1}: {_line(page, index, wanted).strip()}" for index in hits]
    shown = _within(lines, max_tokens) or lines[:1]
    left = f"; {len(hits) - len(shown)} more are left out, search for more" * (
        len(shown) < len(hits)
    )
    return (
        f"{fence('found', chr(10).join(shown))}\n{len(hits)} of {len(page.nodes)} lines{left}."
        " Call observe with start at a line's number for what follows it."
    )


def _heading(page: Observation) -> str:
    outcome = [f"outcome: {shorten(page.outcome)}"] if page.outcome else []
    return "\n".join([*outcome, shorten(page.title, 200) or "(no title)", shorten(page.url)])


def _neat(page: Observation) -> Observation:
    """Return it with short titles of tabs, which are words of pages and can be of any length."""
    return replace(page, tabs=tuple(shorten(title, _LONGEST_TITLE) for title in page.tabs))


def _line(page: Observation, index: int, wanted: str = "") -> str:
    """Return one line, cut where it is very long: around the wanted text, else at its end."""
    text = render_node(page.nodes[index])
    if len(text) <= _LONGEST_LINE:
        return text
    place = max(text.casefold().find(wanted) - _LONGEST_LINE // 2, 0) if wanted else 0
    cut = text[place : place + _LONGEST_LINE]
    return f"{'…' * bool(place)}{cut}… ({len(text)} characters)"


def _within(lines: Sequence[str], max_tokens: int) -> list[str]:
    """Return the first lines, as many as fit."""
    spent = accumulate(map(estimate_tokens, lines))
    return [line for line, tokens in zip(lines, spent, strict=True) if tokens <= max_tokens]


_NAMES = {cls: name for name, cls in ACTIONS.items()}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls."""

    who: str = ""
    """The client's name, as it gave it."""


class ToolHandlers:
    """Serves every assistant; each reply is a page within a bound, or says what to do instead."""

    def __init__(
        self, config: McpConfig, sessions: Sessions, runner: TaskRunner | None = None
    ) -> None:
        """With `runner` whole tasks can be given."""
        self._config = config
        self._sessions = sessions
        self._runner = runner

    async def open(self, request: tools.OpenSession, call: Caller) -> CallToolResult:
        """Open a session, with its first page where one was named."""
        session = await self._sessions.open(request.goal, call.who)
        message = f"session: {session.name}"
        if not request.url:
            return reply(f"{message}\nIts page is empty; open one with goto.")
        page, is_done = await session.act(Goto(request.url))
        text = f"{message}\n{whole(page, self._config.max_tokens)}"
        return reply(text) if is_done else refused(page, text)

    async def observe(self, request: tools.Observe, call: Caller) -> CallToolResult:
        """Show the page as it is now."""
        page = await self._sessions.find(request.session).look()
        bound = self._bound(request.max_tokens)
        if request.start:
            return reply(read_on(page, request.start, bound))
        return reply(whole(page, bound))

    async def find(self, request: tools.Find, call: Caller) -> CallToolResult:
        """Show lines of the page that hold a text."""
        page = await self._sessions.find(request.session).look()
        return reply(find(page, request.text, self._bound(request.max_tokens)))

    async def act(self, name: str, action: Action) -> CallToolResult:
        """Do one action."""
        session = self._sessions.find(name)
        before = session.page
        page, is_done = await session.act(action)
        text = news(before, page, self._config.max_tokens)
        return reply(text) if is_done else refused(page, text)

    async def act_all(self, request: tools.Act, call: Caller) -> CallToolResult:
        """Do several actions until one cannot be done or leads elsewhere."""
        session = self._sessions.find(request.session)
        actions = [parse_action(text) for text in request.actions]
        for action in actions:
            if (name := _NAMES[type(action)]) not in self._config.actions:
                offered = ", ".join(self._config.actions)
                raise CallError(f"{name} is not offered here; {offered} are")
        before, done, is_done = session.page, 0, True
        page = before
        for action in actions:
            page, is_done = await session.act(action)
            done += is_done
            if not is_done or page.url != before.url or page.over:
                break
        message = f"All {done} actions were done."
        if done < len(actions):
            why = "the page went to another address"
            if not is_done:
                why = f"{format_action(actions[done])} was not"
            message = f"{done} of {len(actions)} actions were done: {why}; the rest were left."
        text = f"{message}\n{news(before, page, self._config.max_tokens)}"
        return reply(text) if is_done else refused(page, text)

    async def screenshot(self, request: tools.Screenshot, call: Caller) -> CallToolResult:
        """Show what is in view, as a picture."""
        image = await self._sessions.find(request.session).screenshot()
        picture = ImageContent(data=b64encode(image).decode(), mime_type="image/png")
        return CallToolResult(content=[picture])

    async def close(self, request: tools.CloseSession, call: Caller) -> CallToolResult:
        """Close the session; what came of it is kept with its record."""
        session = self._sessions.find(request.session)
        await session.close(request.answer, request.failed)
        kept = f" It is kept as {session.episode}." if self._config.store else ""
        return reply(f"The session is closed after {session.steps - 1} actions.{kept}")

    async def run_task(self, request: tools.RunTask, call: Caller) -> CallToolResult:
        """Have a whole task done."""
        if self._runner is None:
            raise CallError("there is no model to do tasks; start the server with --model")
        return await self._runner.run(request, call.who)

    def _bound(self, max_tokens: int) -> int:
        wanted = max_tokens or self._config.max_tokens
        return min(max(wanted, LEAST_TOKENS), MOST_TOKENS)


Run: TypeAlias = Callable[[ToolHandlers, Any, Caller], Awaitable[CallToolResult]]


@dataclass(frozen=True, slots=True)
class OfferedTool:
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

    async def __call__(
        self, handlers: ToolHandlers, given: Mapping[str, Any], call: Caller
    ) -> CallToolResult:
        """Do it. Raises `CallError` and `ActionError` for arguments that are wrong."""
        if self.run is not None:
            return await self.run(handlers, read_arguments(self.name, self.cls, given), call)
        arguments = dict(given)
        session = arguments.pop("session", None)
        if not isinstance(session, str):
            raise CallError(f"{self.name} lacks session; call open_session for one")
        return await handlers.act(session, make_action(self.name, arguments))


def make_tools(
    config: McpConfig, *, has_pictures: bool = True, has_tasks: bool = True
) -> dict[str, OfferedTool]:
    """Return every tool of a server with these settings, by name."""
    every = [
        OfferedTool("open_session", OpenSession, ToolHandlers.open),
        OfferedTool("observe", Observe, ToolHandlers.observe, reads_only=True),
        OfferedTool("find", Find, ToolHandlers.find, reads_only=True),
        *(OfferedTool(name, ACTIONS[name]) for name in config.actions),
        OfferedTool("act", Act, ToolHandlers.act_all),
        *(
            [OfferedTool("screenshot", Screenshot, ToolHandlers.screenshot, reads_only=True)]
            * has_pictures
        ),
        OfferedTool("close_session", CloseSession, ToolHandlers.close),
        *([OfferedTool("run_task", RunTask, ToolHandlers.run_task)] * has_tasks),
    ]
    return {each.name: each for each in every}


def reference(config: McpConfig) -> str:
    """Return a table of the tools with these settings."""
    rows = []
    for offer in make_tools(config).values():
        tool = offer.tool
        required = tool.input_schema.get("required", ())
        arguments = ", ".join(
            f"`{name}`"
            if name in required
            else f"`{name}={json.dumps(schema.get('default'), ensure_ascii=False)}`"
            for name, schema in tool.input_schema["properties"].items()
        )
        rows.append(f"| `{tool.name}` | {arguments} | {tool.description} |")
    return "\n".join(["| tool | arguments | what it does |", "| --- | --- | --- |", *rows])
