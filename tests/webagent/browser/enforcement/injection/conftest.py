"""The sites, the policy that opens some of them, and a browser with and one without a guard."""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.webagent.browser.enforcement.injection.sites import (
    EVIL,
    NAMES,
    OTHER,
    PASSWORD,
    SHOP,
    Datagrams,
    Sites,
)
from webagent.browser import Browser, find_chromium
from webagent.browser.chromium import Chromium
from webagent.guard import (
    ActionRule,
    Guard,
    GuardPolicy,
    Secret,
    SiteRule,
    UploadLimits,
    parse_site,
)
from webagent.guard.secret import Secrets


@pytest.fixture(scope="session")
async def listening() -> AsyncIterator[Sites]:
    """The servers, once for all tests."""
    with socket.socket() as free, socket.socket() as side:
        free.bind((SHOP, 0))
        side.bind((SHOP, 0))
        sites = Sites(free.getsockname()[1], side.getsockname()[1])
    servers = [
        await asyncio.start_server(sites.serve, address, sites.port)
        for address in (SHOP, OTHER, EVIL)
    ]
    servers.append(await asyncio.start_server(sites.serve, SHOP, sites.side_port))
    loop = asyncio.get_running_loop()
    datagrams, _ = await loop.create_datagram_endpoint(
        lambda: Datagrams(sites), local_addr=(EVIL, sites.port)
    )
    yield sites
    datagrams.close()
    for server in servers:
        server.close()


@pytest.fixture
def sites(listening: Sites) -> Sites:
    """The servers, with nothing arrived yet."""
    listening.arrivals.clear()
    return listening


@pytest.fixture(scope="session")
def outbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The only folder open for uploads; beside it lies a key, and in it a link to that."""
    folder = tmp_path_factory.mktemp("user") / "outbox"
    folder.mkdir()
    (folder.parent / "key.txt").write_text("PRIVATE KEY")
    (folder / "letter.txt").symlink_to(folder.parent / "key.txt")
    return folder


@pytest.fixture(scope="session")
def policy(listening: Sites, outbox: Path) -> GuardPolicy:
    """The shop and one other site are open, but for the shop's administration; buying is asked."""
    shop, other = (parse_site(f"http://{host}:{listening.port}") for host in (SHOP, OTHER))
    admin = parse_site(f"http://{SHOP}:{listening.port}/admin")
    return GuardPolicy(
        sites=(
            SiteRule(shop, methods=("GET", "POST")),
            SiteRule(other, methods=("GET", "POST")),
            SiteRule(admin, "deny"),
            SiteRule(parse_site(f"http://rebound.test:{listening.port}")),
        ),
        actions=(
            ActionRule(
                "ask",
                ("click", "dblclick", "mouse_click", "press"),
                when={"properties": {"name": {"pattern": "(?i)buy"}}, "required": ["name"]},
            ),
        ),
        hosts={name: ip for name, ip in NAMES.items() if name != "rebound.test"},
        uploads=UploadLimits((outbox,)),
        secrets={"shop_password": Secret((shop,), env="UNUSED")},
    )


@pytest.fixture(scope="session")
def guard(policy: GuardPolicy) -> Guard:
    """The policy at work, with a name server that answers as the attacker likes."""

    async def resolve(host: str, port: int) -> list[str]:
        if host not in NAMES:
            raise OSError(f"no such name: {host}")
        return [NAMES[host]]

    return Guard(policy, Secrets({"shop_password": PASSWORD}), resolve=resolve)


@pytest.fixture(scope="session")
async def guarded(guard: Guard) -> AsyncIterator[Browser]:
    """A browser that holds every episode to the policy."""
    async with Browser(guard=guard) as running:
        yield running


@pytest.fixture(scope="session")
async def unguarded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    """A browser without limits, which finds the attacker's names, too."""
    rules = ", ".join(f"MAP {name} {NAMES[name]}, MAP {name}. {NAMES[name]}" for name in NAMES)
    script = tmp_path_factory.mktemp("browser") / "chromium-headless-shell"
    script.write_text(
        f'#!/bin/sh\nexec "{find_chromium().path}" "$@" --host-resolver-rules="{rules}"\n'
    )
    script.chmod(0o755)
    async with Browser(chromium=Chromium(script, "headless shell", "test")) as running:
        yield running
