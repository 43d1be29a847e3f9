"""What the tools do: calls of assistants turned into acts on sessions, and pages into replies."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass

from mcp_types import CallToolResult, ImageContent

from apps.mcp import arguments as args
from apps.mcp import page as pages
from apps.mcp.errands import Errands
from apps.mcp.reply import refused, reply
from apps.mcp.sessions import Sessions
from apps.mcp.settings import McpConfig
from webagent.action import ACTIONS, Action, format_action, parse_action
from webagent.action.actions import Goto
from webagent.errors import CallError
from webagent.records import Observation

_NAMES = {cls: name for name, cls in ACTIONS.items()}


@dataclass(frozen=True, slots=True)
class Call:
    """Who calls."""

    who: str = ""
    """The client's name, as it gave it."""


class Desk:
    """Serves every assistant; each reply is a page within a bound, or says what to do instead."""

    def __init__(
        self, config: McpConfig, sessions: Sessions, errands: Errands | None = None
    ) -> None:
        """With `errands` whole tasks can be given."""
        self._config = config
        self._sessions = sessions
        self._errands = errands

    async def open(self, asked: args.OpenSession, call: Call) -> CallToolResult:
        """A session, with its first page where one was named."""
        session = await self._sessions.open(asked.goal, call.who)
        said = f"session: {session.name}"
        if not asked.url:
            return reply(f"{said}\nIts page is empty; open one with goto.")
        page, is_done = await session.act(Goto(asked.url))
        text = f"{said}\n{pages.whole(page, self._config.max_tokens)}"
        return reply(text) if is_done else refused(page, text)

    async def observe(self, asked: args.Observe, call: Call) -> CallToolResult:
        """The page as it is now."""
        page = await self._sessions.find(asked.session).look()
        bound = self._bound(asked.max_tokens)
        if asked.start:
            return reply(pages.read_on(page, asked.start, bound))
        return reply(pages.whole(page, bound))

    async def find(self, asked: args.Find, call: Call) -> CallToolResult:
        """Lines of the page that hold a text."""
        page = await self._sessions.find(asked.session).look()
        return reply(pages.find(page, asked.text, self._bound(asked.max_tokens)))

    async def act(self, name: str, action: Action) -> CallToolResult:
        """Do one action."""
        session = self._sessions.find(name)
        before = session.page
        page, is_done = await session.act(action)
        text = self._news(before, page)
        return reply(text) if is_done else refused(page, text)

    async def act_all(self, asked: args.Act, call: Call) -> CallToolResult:
        """Do several actions until one cannot be done or leads elsewhere."""
        session = self._sessions.find(asked.session)
        actions = [self._offered(parse_action(text)) for text in asked.actions]
        before, done, is_done = session.page, 0, True
        page = before
        for action in actions:
            page, is_done = await session.act(action)
            done += is_done
            if not is_done or page.url != before.url or page.over:
                break
        text = f"{_counted(actions, done, is_done)}\n{self._news(before, page)}"
        return reply(text) if is_done else refused(page, text)

    async def screenshot(self, asked: args.Screenshot, call: Call) -> CallToolResult:
        """What is in view, as a picture."""
        image = await self._sessions.find(asked.session).screenshot()
        picture = ImageContent(data=b64encode(image).decode(), mime_type="image/png")
        return CallToolResult(content=[picture])

    async def close(self, asked: args.CloseSession, call: Call) -> CallToolResult:
        """Close the session; what came of it is kept with its record."""
        session = self._sessions.find(asked.session)
        await session.close(asked.answer, asked.failed)
        kept = f" It is kept as {session.episode}." if self._config.store else ""
        return reply(f"The session is closed after {session.steps - 1} actions.{kept}")

    async def run_task(self, asked: args.RunTask, call: Call) -> CallToolResult:
        """Have a whole task done."""
        if self._errands is None:
            raise CallError("nobody is there to do tasks; the server needs --model for that")
        return await self._errands.run(asked, call.who)

    def _news(self, before: Observation, page: Observation) -> str:
        return pages.news(before, page, self._config.max_tokens)

    def _bound(self, asked: int) -> int:
        wanted = asked or self._config.max_tokens
        return min(max(wanted, pages.LEAST_TOKENS), pages.MOST_TOKENS)

    def _offered(self, action: Action) -> Action:
        name = _NAMES[type(action)]
        if name not in self._config.actions:
            raise CallError(f"{name} is not offered here; {', '.join(self._config.actions)} are")
        return action


def _counted(actions: Sequence[Action], done: int, is_done: bool) -> str:
    if done == len(actions):
        return f"All {done} actions were done."
    left = actions[done:]
    why = "the page went to another address" if is_done else f"{format_action(left[0])} was not"
    return f"{done} of {len(actions)} actions were done: {why}; the rest were left."
