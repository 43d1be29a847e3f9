"""A site that starts here says who is there and what its tables are."""

import shutil
from pathlib import Path

import pytest

from loop.proposers.material import visit_pages
from loop.proposers.settings import ProposeConfig
from loop.proposers.site import open_site, read_local_scope
from webagent.errors import SetupError

needs_fossil = pytest.mark.skipif(not shutil.which("fossil"), reason="fossil is not installed")


@pytest.mark.slow
@needs_fossil
def test_fossil_is_known_by_its_accounts_and_tables() -> None:
    scope = read_local_scope(ProposeConfig(site="fossil"))
    assert (scope.name, scope.site, scope.address) == ("fossil", "fossil@1", "http://fossil.test/")
    assert "admin" in scope.accounts and scope.is_reset
    assert {"title", "status", "priority"} <= set(scope.tables["ticket"])
    assert "attachment" not in scope.tables, "a table without rows is not told"
    assert "changes_are" in scope.rules


@needs_fossil
def test_an_account_that_is_not_there_is_named() -> None:
    with pytest.raises(SetupError, match="has the accounts admin"):
        read_local_scope(ProposeConfig(site="fossil", login="nobody"))


def test_a_site_that_nobody_knows_is_named() -> None:
    with pytest.raises(SetupError, match="no site is called 'fosil'; there is fossil@1"):
        read_local_scope(ProposeConfig(site="fosil"))


@pytest.mark.browser
@needs_fossil
async def test_a_local_site_is_visited() -> None:
    async with open_site(ProposeConfig(site="fossil", login="developer", concurrency=1)) as place:
        seen = await visit_pages(place.open_world, place.start, place.scope, 4)
    assert len(seen) == 4 and all(page.url.startswith("http://fossil.test/") for page in seen)
    assert len({page.title for page in seen}) > 1


def described(folder: Path, reset: str) -> str:
    """A file with one hosted site."""
    path = folder / "sites.toml"
    path.write_text(
        f'[sites."shop@1"]\nhosted = "http://localhost:7770"\naddress = "http://shop.test"\n{reset}\n'
    )
    return str(path)


def test_a_site_of_a_file_is_live_unless_it_can_be_reset(tmp_path: Path) -> None:
    never = read_local_scope(ProposeConfig(site=described(tmp_path, 'reset = "never"')))
    assert (never.site, never.address, never.is_reset) == ("shop@1", "http://shop.test/", False)
    assert read_local_scope(ProposeConfig(site=described(tmp_path, 'reset = "true"'))).is_reset


def test_a_file_of_several_sites_asks_which(tmp_path: Path) -> None:
    path = Path(described(tmp_path, 'reset = "never"'))
    path.write_text(path.read_text() + path.read_text().replace("shop@1", "forum@1"))
    with pytest.raises(SetupError, match="describes shop@1, forum@1; list the file in"):
        read_local_scope(ProposeConfig(site=str(path)))
