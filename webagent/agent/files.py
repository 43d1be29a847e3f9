"""Files of this machine, which an agent opens only where its task begins among them."""

import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import unquote, urlsplit

from tasks.task import Json, Task
from webagent.action import Action
from webagent.action.actions import Goto
from webagent.records import Observation
from webagent.rollout.world import World

_LOCAL = re.compile(r"\s*(view-source:\s*)?(?=(file|filesystem):)", re.IGNORECASE)
_REFUSED = (
    "refused: files of this machine are opened only where the task begins in their folder, or by a"
    " guard that allows them"
)


class WorldWithoutFiles:
    """A world in which addresses of files outside the task's folder are refused.

    What a page says cannot have the agent read this machine's files and send them on. A guard has
    rules of its own for that.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._start = ""
        self._seen: Observation | None = None

    async def reset(self, task: Task) -> Observation:
        """Call the world."""
        self._start = task.start_url
        self._seen = await self._world.reset(task)
        return self._seen

    async def step(self, action: Action) -> Observation:
        """Call the world, or return the page as it was with why it was not called."""
        url = action.url if isinstance(action, Goto) else ""
        if self._seen and _LOCAL.match(url) and not is_beside(url, self._start):
            return replace(self._seen, outcome=_REFUSED)
        self._seen = await self._world.step(action)
        return self._seen

    async def evidence(self, task: Task) -> Mapping[str, Json]:
        """Call the world."""
        return await self._world.evidence(task)

    async def close(self) -> None:
        """Call the world."""
        await self._world.close()


def is_beside(url: str, start: str) -> bool:
    """Whether the file at `url` lies in the folder of the file at `start`, or below it."""
    found, begun = (urlsplit(_LOCAL.sub("", each).strip()) for each in (url, start))
    folder = unquote(begun.path).rpartition("/")[0]
    path = unquote(found.path)
    is_plain = found.scheme == begun.scheme == "file" and "/../" not in f"{path}/"
    return is_plain and found.netloc == begun.netloc and path.startswith(f"{folder}/")
