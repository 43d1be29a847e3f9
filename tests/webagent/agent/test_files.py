"""Files of this machine are opened only where the task begins in their folder."""

import pytest

from tasks.task import Task
from webagent.action import Action
from webagent.action.actions import Click, Goto
from webagent.agent.files import WorldWithoutFiles
from webagent.records import Observation

START = "file:///home/ada/site/index.html"


class Pages:
    """A world that opens whatever it is told to."""

    async def reset(self, task: Task) -> Observation:
        return Observation("", task.start_url, "", ())

    async def step(self, action: Action) -> Observation:
        return Observation("", getattr(action, "url", "clicked"), "", ())

    async def evidence(self, task: Task) -> dict[str, str]:
        return {"asked": task.id}

    async def close(self) -> None:
        pass


@pytest.mark.parametrize("start", ["https://shop.example/", START])
@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        " FILE:/etc/passwd",
        "view-source:file:///etc/passwd",
        "filesystem:http://shop.example/x",
        "file:///home/ada/site/../.ssh/id",
        "file:///home/ada/site/%2e%2e/.ssh/id",
        "file:///home/ada/site-two/x",
        "file://other/home/ada/site/x",
    ],
)
async def test_a_file_elsewhere_is_refused_and_the_page_stays(start: str, url: str) -> None:
    world = WorldWithoutFiles(Pages())
    seen = await world.reset(Task("a/b@1", start, goal="x"))
    after = await world.step(Goto(url))
    assert after.url == seen.url and after.outcome.startswith("refused: files of this machine")


async def test_what_is_beside_the_first_page_and_what_is_no_file_opens() -> None:
    world = WorldWithoutFiles(Pages())
    await world.reset(Task("a/b@1", START, goal="x"))
    for url in ("file:///home/ada/site/b/c.html", "https://shop.example/?q=file:///etc/passwd"):
        assert (await world.step(Goto(url))).url == url
    assert (await world.step(Click(1))).url == "clicked"
