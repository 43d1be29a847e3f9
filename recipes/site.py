"""`webagent site`: list, start, reset, stop and check sites."""

import json
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

import tyro

from benchmarks.sites import SITES, Instance, RemoteSite, SiteError, UnknownSiteError, find_site
from benchmarks.sites.changes import find_changes
from benchmarks.sites.control import RunningSite, SiteControl, send_command
from benchmarks.sites.described import AnySite, described_sites
from benchmarks.sites.instance import first_state
from benchmarks.sites.state import Build, cache_folder, digest, ensure_built
from benchmarks.sites.writes import compare_writes, find_write
from loop.console.output import CommandResult, Status, emit
from recipes.settings import resolve
from webagent.errors import SetupError, UsageError, unknown_name

_RESETS = 20


@dataclass(frozen=True)
class SiteConfig:
    """List, start, reset, stop and check the sites that tasks are played on."""

    action: Annotated[str, tyro.conf.Positional] = "list"
    """The action: `list`, `start`, `reset`, `stop` or `check`."""
    name: Annotated[str, tyro.conf.Positional] = ""
    """Id of the site, such as `fossil@1` or `fossil`."""
    port: int = 0
    """Port to serve it on; 0 for any free one."""
    detach: bool = False
    """Start the site in the background; `stop` ends it."""
    files: tuple[Path, ...] = ()
    """TOML files that describe additional sites, in addition to those in WEBAGENT_SITE_FILES."""


class SiteFacts(TypedDict, total=False):
    """The output of `list`, under `sites`, or of another action for one site."""

    sites: list[dict[str, Any]]
    """Of `list`: all sites, each with the keys below."""
    site: str
    """Its id."""
    address: str
    """The address that tasks use."""
    accounts: dict[str, dict[str, str]]
    """Name, password and rights, by role; of `check` only the roles."""
    base: str
    """Where the site runs; `start` prints it on a separate line before it serves."""
    state: str
    """The folder of the running instance."""
    build_seconds: float
    start_seconds: float
    reset_seconds: float
    healthy: bool
    """Of `check`, like all that follow: whether the site responds."""
    files: int
    bytes: int
    left_by_reset: list[str]
    """What a reset did not restore."""
    writes: str
    """The form that two episodes submitted, with a reset between them; empty if no form that
    changes the state was found."""
    unlike_fresh: list[str]
    """Differences between the second episode and the same one in a new process."""


def main(argv: Sequence[str]) -> CommandResult:
    """Perform the action; failed if a check found a problem."""
    config = resolve(SiteConfig, "site", argv)
    if config.action == "snapshot":
        raise UsageError(
            "webagent site snapshot is gone; a site is reset to its first state, so describe one"
            " that begins in the other state (docs/sites.md)"
        )
    if config.action not in ACTIONS:
        raise unknown_name("action", config.action, ACTIONS)
    if config.action != "list" and not config.name:
        raise UsageError(f"expected a site: webagent site {config.action} NAME")
    try:
        return ACTIONS[config.action](config)
    except UnknownSiteError as error:
        raise UsageError(str(error)) from error
    except SiteError as error:
        raise SetupError(str(error)) from error


def _list(config: SiteConfig) -> CommandResult:
    sites = [find_site(name, config.files) for name in [*SITES, *described_sites(config.files)]]
    facts = [_facts(site) for site in sites]
    for each in facts:
        print(f"{each['site']:<12} {each['address']:<24} {each['is']}")
        for role, account in each["accounts"].items():
            print(f"{'':<12} {role}: {account['name']} / {account['password']}  {account['can']}")
    return CommandResult({"sites": facts})


def _facts(site: AnySite) -> dict[str, Any]:
    if isinstance(site, RemoteSite):
        way = "reset by its own means" if site.is_reset else "never reset"
        condition = f"hosted at {site.hosted}, {way}"
    elif missing := site.missing():
        condition = f"missing: {missing}"
    elif note := RunningSite.find(site.id):
        condition = f"running at {note.base}"
    else:
        build = Build(site, cache_folder() / site.id / digest(site))
        condition = "built" if build.is_good(time.time()) else "built when it is first started"
    accounts = {
        role: {"name": account.name, "password": account.password, "can": account.can}
        for role, account in site.accounts.items()
    }
    return {"site": site.id, "address": site.address, "is": condition, "accounts": accounts}


def _start(config: SiteConfig) -> CommandResult:
    site = find_site(config.name, config.files)
    if isinstance(site, RemoteSite):
        raise SiteError(f"{site.id} is hosted at {site.hosted}; it is started there")
    if note := RunningSite.find(site.id):
        raise SiteError(
            f"{site.id} is already running at {note.base}; webagent site stop {site.id}"
        )
    if config.detach:
        return _detached(config, site.id)
    build = ensure_built(site, first_state)
    with Instance.of(build, config.port) as running:
        reset = running.reset()
        facts = {
            **_facts(site),
            "is": f"running at {running.base}",
            "base": running.base,
            "state": str(running.state),
            "build_seconds": round(build.seconds, 3),
            "start_seconds": round(running.seconds, 3),
            "reset_seconds": round(reset, 4),
        }
        control = SiteControl(running)
        # Before anybody can find the site, and with it the process to end.
        signal.signal(signal.SIGTERM, lambda *_: control.stopped.set())
        with control:
            emit(facts)
            _print_started(facts)
            while not control.stopped.wait(1.0):
                running.check()
    return CommandResult({"site": site.id})


def _print_started(facts: dict[str, Any]) -> None:
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


def _detached(config: SiteConfig, site: str) -> CommandResult:
    """The same command in a process of its own; it tells when it is there."""
    log, errors = (RunningSite.path(site).with_suffix(end) for end in (".started", ".log"))
    log.parent.mkdir(parents=True, exist_ok=True)
    argv = [sys.executable, "-m", "recipes.cli", "site", "start", site]
    argv += ["--port", str(config.port)]
    argv += ["--files", *map(str, config.files)] * bool(config.files)
    argv += ["--json"]
    with log.open("wb") as output, errors.open("wb") as problems:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=output, stderr=problems, start_new_session=True
        )
    while not (RunningSite.find(site) and log.read_text(encoding="utf-8").endswith("\n")):
        if process.poll() is not None:
            # With --json, a process ends with a document that holds the reason.
            try:
                error = str(json.loads(log.read_text(encoding="utf-8"))["error"])
            except (ValueError, KeyError, TypeError):
                error = ""
            raise SiteError(error or f"{site} did not start; {errors} may say why")
        time.sleep(0.05)
    facts = json.loads(log.read_text(encoding="utf-8"))
    _print_started(facts)
    return CommandResult(facts)


def _reset(config: SiteConfig) -> CommandResult:
    site = RunningSite.find(config.name) or find_site(config.name, config.files)
    if isinstance(site, RemoteSite):
        if not site.is_reset:
            raise SiteError(f"{site.id} cannot be reset; describe how in its file")
        name, seconds = site.id, site.start().reset()
    else:
        note = site if isinstance(site, RunningSite) else _running(site)
        name, seconds = note.site, send_command(note, "reset")
    print(f"{name} is reset, in {1000 * seconds:.0f} ms")
    return CommandResult({"site": name, "reset_seconds": seconds})


def _stop(config: SiteConfig) -> CommandResult:
    note = RunningSite.find(config.name) or _running(find_site(config.name, config.files))
    send_command(note, "stop")
    while RunningSite.path(note.site).exists():
        time.sleep(0.05)
    print(f"{note.site} is stopped")
    return CommandResult({"site": note.site})


def _running(site: AnySite) -> RunningSite:
    note = RunningSite.find(site.id)
    if note is None:
        raise SiteError(
            f"{site.id} is not running; start it with webagent site start {site.id} --detach"
        )
    return note


def _check(config: SiteConfig) -> CommandResult:
    """Start another instance, look at it, and end it."""
    site = find_site(config.name, config.files)
    if missing := site.missing():
        raise SiteError(f"{site.id}: {missing}")
    facts: dict[str, Any] = {"site": site.id, "healthy": True}
    if not isinstance(site, RemoteSite):
        build = ensure_built(site, first_state)
        with Instance.of(build) as running:
            found = find_write(running)
            seconds = [running.reset() for _ in range(_RESETS)]
            database, saved = running.database, running.saved_database
            left: list[str] = []
            if database and saved:
                left = sorted(find_changes(saved, database, build.site.passing))
            sizes = list(_measure_files(running.state))
            facts |= {
                "site": build.site.id,
                "healthy": running.is_healthy(),
                "accounts": sorted(build.site.accounts),
                "files": len(sizes),
                "bytes": sum(sizes),
                "build_seconds": round(build.seconds, 2),
                "start_seconds": round(running.seconds, 3),
                "reset_seconds": round(statistics.median(seconds), 4),
                "left_by_reset": left,
                "writes": f"{found.page} to {found.target}" if found else "",
                "unlike_fresh": compare_writes(build, found) if found else [],
            }
    for name, value in facts.items():
        print(f"{name.replace('_', ' '):<18} {value}")
    unlike = facts.get("unlike_fresh")
    if unlike:
        print(f"{site.id} keeps connections or cached data; set restart_on_reset = true for it")
    elif facts.get("writes") == "":
        print(f"no form that changes {site.id} was found; play one of your tasks twice instead")
    is_good = facts["healthy"] and not facts.get("left_by_reset") and not unlike
    return CommandResult(facts, Status.DONE if is_good else Status.FAILED)


def _measure_files(folder: Path) -> Iterator[int]:
    """Yield the size of each file; one that the running site has just removed is passed over."""
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            if path.is_file():
                yield path.stat().st_size


ACTIONS: dict[str, Callable[[SiteConfig], CommandResult]] = {
    "list": _list,
    "start": _start,
    "reset": _reset,
    "stop": _stop,
    "check": _check,
}
