"""`webagent login` through its real entry point, with a person who only presses Enter."""

from collections.abc import AsyncIterator
from io import StringIO

import pytest

from recipes import cli
from recipes.login import main
from tests.fakes.site import Reply, Site, serving
from webagent.browser.sessions.login import LoginStore
from webagent.errors import SetupError


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A site that knows whoever comes."""
    async with serving() as running:
        headers = {"Set-Cookie": "who=ada; Max-Age=3600"}
        running.pages["/"] = lambda _: Reply("<title>In</title>", headers=headers)
        running.page("/none", "<title>Out</title>")
        yield running


@pytest.mark.browser
async def test_a_login_is_saved_listed_and_refused_when_there_is_none(
    site, tmp_path, monkeypatch, capsys
):
    import asyncio

    monkeypatch.setenv("WEBAGENT_LOGINS", str(tmp_path))
    monkeypatch.setenv("WEBAGENT_LOGINS_PASSPHRASE", "a passphrase")

    async def login(*arguments: str, pressed: str = "\n") -> int:
        monkeypatch.setattr("sys.stdin", StringIO(pressed))
        return await asyncio.to_thread(cli.main, ["login", *arguments])

    assert await login(f"{site.address}/", "--site", "shop", "--headless") == 0
    assert "saved 1 cookies" in capsys.readouterr().out
    assert LoginStore.default().load("shop").storage["cookies"][0]["value"] == "ada"
    assert await login("--list") == 0
    assert f"shop  {site.address}/  not expired" in capsys.readouterr().out
    monkeypatch.setenv("WEBAGENT_LOGINS_PASSPHRASE", "another")
    assert await login("--list") == 0
    assert "shop  the login 'shop' does not open" in capsys.readouterr().out
    monkeypatch.setenv("WEBAGENT_LOGINS_PASSPHRASE", "a passphrase")
    assert await login(f"{site.address}/none", "--site", "other", "--headless") == 3
    assert "nobody is logged in" in capsys.readouterr().err
    assert await login(f"{site.address}/", "--site", "x", "--headless", pressed="") == 3
    assert "needs someone at a terminal" in capsys.readouterr().err
    assert LoginStore.default().sites() == ("shop",)


def test_an_address_and_a_name_are_needed() -> None:
    with pytest.raises(SetupError, match="webagent login URL --site NAME"):
        main([])
