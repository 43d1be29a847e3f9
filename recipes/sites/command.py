"""The command `webagent site`: what there is, started, reset, kept, stopped, looked at."""

import json
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from recipes.config import resolve
from recipes.sites.control import Control, Note, tell
from tasks.sites import SITES, Instance, RemoteSite, SiteError, site_named
from tasks.sites.building import Build, built, cache_folder, digest
from tasks.sites.changes import changes
from tasks.sites.instance import first_state
from tasks.sites.registry import AnySite, described_sites
from tasks.sites.state import FIRST
from webagent.errors import SetupError, unknown_name

_RESETS = 20


@dataclass(frozen=True)
class SiteConfig:
    """Start, reset, keep and stop the sites that tasks are played on."""

    action: Annotated[str, tyro.conf.Positional] = "list"
    """`list`, `start`, `reset`, `snapshot`, `stop` or `check`."""
    name: Annotated[str, tyro.conf.Positional] = ""
    """Id of the site, as `fossil@1` or `fossil`."""
    port: int = 0
    """To serve it on; 0: one that is free."""
    state: str = ""
    """Saved state to start in or to reset to, or the name that a snapshot gets; empty: `first`."""
    detach: bool = False
    """Start it and come back; `stop` ends it."""
    files: tuple[Path, ...] = ()
    """TOML files that describe more sites, besides those in WEBAGENT_SITE_FILES."""
    json: bool = False
    """Print JSON instead of lines."""


def main(argv: Sequence[str]) -> int:
    """Do it; 0 when it worked, 1 when a check found something."""
    config = resolve(SiteConfig, "site", argv)
    if config.action not in ACTIONS:
        raise unknown_name("action", config.action, ACTIONS)
    if config.action != "list" and not config.name:
        raise SetupError(f"expected a site: webagent site {config.action} NAME")
    try:
        return ACTIONS[config.action](config)
    except SiteError as error:
        raise SetupError(str(error)) from error


def _list(config: SiteConfig) -> int:
    sites = [site_named(name, config.files) for name in [*SITES, *described_sites(config.files)]]
    facts = [_facts(site) for site in sites]
    if config.json:
        print(json.dumps(facts, indent=1))
        return 0
    for each in facts:
        print(f"{each['site']:<12} {each['address']:<24} {each['is']}")
        for role, account in each["accounts"].items():
            print(f"{'':<12} {role}: {account['name']} / {account['password']}  {account['can']}")
    return 0


def _facts(site: AnySite) -> dict[str, Any]:
    if isinstance(site, RemoteSite):
        way = "reset by its own means" if site.is_reset else "never reset"
        condition = f"hosted at {site.hosted}, {way}"
    elif missing := site.missing():
        condition = f"missing: {missing}"
    elif note := Note.find(site.id):
        condition = f"running at {note.base}"
    else:
        build = Build(site, cache_folder() / site.id / digest(site))
        condition = "built" if build.is_good(time.time()) else "built when it is first started"
    accounts = {
        role: {"name": account.name, "password": account.password, "can": account.can}
        for role, account in site.accounts.items()
    }
    return {"site": site.id, "address": site.address, "is": condition, "accounts": accounts}


def _start(config: SiteConfig) -> int:
    site = site_named(config.name, config.files)
    if isinstance(site, RemoteSite):
        raise SiteError(f"{site.id} is hosted at {site.hosted}; it is started there")
    if note := Note.find(site.id):
        raise SiteError(f"{site.id} runs already at {note.base}; webagent site stop {site.id}")
    if config.detach:
        return _detached(config, site.id)
    build = built(site, first_state)
    with Instance.of(build, config.port, config.state or FIRST) as running:
        reset = running.reset(config.state or FIRST)
        facts = {
            **_facts(site),
            "is": f"running at {running.base}",
            "base": running.base,
            "state": str(running.state),
            "build_seconds": round(build.seconds, 3),
            "start_seconds": round(running.seconds, 3),
            "reset_seconds": round(reset, 4),
        }
        with Control(running) as control:
            _tell_started(facts, config.json)
            signal.signal(signal.SIGTERM, lambda *_: control.stopped.set())
            while not control.stopped.wait(1.0):
                running.check()
    return 0


def _tell_started(facts: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(facts), flush=True)
        return
    print(f"{facts['site']} is at {facts['base']}, in tasks {facts['address']}")
    for role, account in facts["accounts"].items():
        print(f"  {role}: {account['name']} / {account['password']}  {account['can']}")
    print(f"  state: {facts['state']}")
    built_in = f"built in {facts['build_seconds']:.1f} s, " if facts["build_seconds"] else ""
    print(
        f"  {built_in}started in {facts['start_seconds']:.2f} s,"
        f" reset in {1000 * facts['reset_seconds']:.0f} ms",
        flush=True,
    )


def _detached(config: SiteConfig, site: str) -> int:
    """The same command in a process of its own; it tells when it is there."""
    log = Note.path(site).with_suffix(".log")
    log.parent.mkdir(parents=True, exist_ok=True)
    argv = [sys.executable, "-m", "recipes.cli", "site", "start", site]
    argv += ["--port", str(config.port), "--state", config.state]
    argv += ["--files", *map(str, config.files)] * bool(config.files)
    argv += ["--json"] * config.json
    with log.open("wb") as output:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    while Note.find(site) is None:
        if process.poll() is not None:
            said = log.read_text(encoding="utf-8", errors="replace").strip()
            raise SiteError(said.removeprefix("webagent: ") or f"{site} did not start")
        time.sleep(0.05)
    time.sleep(0.05)
    print(log.read_text(encoding="utf-8").strip())
    return 0


def _reset(config: SiteConfig) -> int:
    site = site_named(config.name, config.files)
    if isinstance(site, RemoteSite):
        if not site.is_reset:
            raise SiteError(f"{site.id} has no way to be reset; say one in the file it is in")
        seconds = site.start().reset()
    else:
        seconds = tell(_running(site), "reset", config.state or FIRST)
    said = f"{site.id} is reset, in {1000 * seconds:.0f} ms"
    print(json.dumps({"site": site.id, "reset_seconds": seconds}) if config.json else said)
    return 0


def _snapshot(config: SiteConfig) -> int:
    if not config.state:
        raise SetupError("expected a name for the state: webagent site snapshot NAME --state STATE")
    note = _running(site_named(config.name, config.files))
    path = tell(note, "snapshot", config.state)
    said = f"kept as {config.state!r} in {path}; webagent site reset {note.site} --state NAME"
    print(json.dumps({"site": note.site, "folder": path}) if config.json else said)
    return 0


def _stop(config: SiteConfig) -> int:
    note = _running(site_named(config.name, config.files))
    tell(note, "stop")
    while Note.path(note.site).exists():
        time.sleep(0.05)
    said = f"{note.site} is stopped"
    print(json.dumps({"site": note.site}) if config.json else said)
    return 0


def _running(site: AnySite) -> Note:
    note = Note.find(site.id)
    if note is None:
        raise SiteError(f"{site.id} does not run; webagent site start {site.id} --detach")
    return note


def _check(config: SiteConfig) -> int:
    """Start another instance, look at it, and end it."""
    site = site_named(config.name, config.files)
    if missing := site.missing():
        raise SiteError(f"{site.id}: {missing}")
    if isinstance(site, RemoteSite):
        facts: dict[str, Any] = {"site": site.id, "healthy": True}
    else:
        facts = _examined(built(site, first_state))
    if config.json:
        print(json.dumps(facts, indent=1))
    else:
        for name, value in facts.items():
            print(f"{name.replace('_', ' '):<18} {value}")
    return 0 if facts["healthy"] and not facts.get("left_by_reset") else 1


def _examined(build: Build) -> dict[str, Any]:
    with Instance.of(build) as running:
        seconds = [running.reset() for _ in range(_RESETS)]
        database, saved = running.database, running.saved_database
        left: list[str] = []
        if database and saved:
            left = sorted(changes(saved, database, build.site.passing))
        files = [path for path in running.state.rglob("*") if path.is_file()]
        return {
            "site": build.site.id,
            "healthy": running.is_healthy(),
            "accounts": sorted(build.site.accounts),
            "files": len(files),
            "bytes": sum(path.stat().st_size for path in files),
            "build_seconds": round(build.seconds, 2),
            "start_seconds": round(running.seconds, 3),
            "reset_seconds": round(statistics.median(seconds), 4),
            "left_by_reset": left,
        }


ACTIONS: dict[str, Callable[[SiteConfig], int]] = {
    "list": _list,
    "start": _start,
    "reset": _reset,
    "snapshot": _snapshot,
    "stop": _stop,
    "check": _check,
}
