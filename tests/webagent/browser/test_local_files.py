"""Files of this machine are opened only where the task begins in their folder."""

import pytest

from tasks.task import Task
from webagent.action.actions import Click, Goto
from webagent.browser.failures import refuse_file

START = "file:///home/ada/site/index.html"


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
def test_a_file_elsewhere_is_refused(start: str, url: str) -> None:
    assert refuse_file(Goto(url), start).startswith("refused: files of this machine")


@pytest.mark.parametrize(
    "action",
    [
        Goto("file:///home/ada/site/b/c.html"),
        Goto("https://shop.example/?q=file:///etc/passwd"),
        Click(1),
    ],
)
def test_what_is_beside_the_first_page_and_what_is_no_file_is_allowed(action) -> None:
    assert refuse_file(action, START) == ""


@pytest.mark.browser
async def test_any_world_of_a_browser_without_a_guard_keeps_to_it(world, tmp_path):
    """As `benchmark`, `collect` and `improve` play in."""
    (tmp_path / "site").mkdir()
    for name in ("site/first.html", "site/second.html", "secret.html"):
        (tmp_path / name).write_text(f"<title>{name}</title><p>{name}</p>", encoding="utf-8")
    await world.reset(Task("a/b@1", (tmp_path / "site/first.html").as_uri(), goal="x"))
    beside = await world.step(Goto((tmp_path / "site/second.html").as_uri()))
    refused = await world.step(Goto((tmp_path / "secret.html").as_uri()))
    assert (beside.title, beside.outcome) == ("site/second.html", "")
    assert refused.title == "site/second.html"
    assert refused.outcome.startswith("refused: files of this machine")
