"""Everything a task declares beside its expressions, captured while the pages are there."""

from collections.abc import Callable
from contextlib import nullcontext

from tasks.task import Json, Task
from webagent.browser.evidence.acted import ActedElements
from webagent.browser.evidence.missing import Uncaptured
from webagent.browser.evidence.probes import Probes
from webagent.browser.tabs import Tabs

KNOWN_RECORDS = ("network", "elements")


async def capture(
    task: Task,
    tabs: Tabs,
    acted: ActedElements | None,
    keep_image: Callable[[bytes], str] | None,
) -> dict[str, Json]:
    """The task's records and what its probes find, by name; under `uncaptured`, if anything is, why
    a name is not there. Raises `WorldError` when the browser is gone."""
    found: dict[str, Json] = {}
    uncaptured: dict[str, Json] = {}
    for name in task.records:
        try:
            found[name] = await _record(name, tabs, acted)
        except Uncaptured as reason:
            uncaptured[name] = str(reason)
    network = tabs.recording.network if tabs.recording else None
    if task.probes:
        probes = Probes(task, tabs, keep_image)
        with network.paused() if network else nullcontext():
            await probes.run()
        found, uncaptured = found | probes.found, uncaptured | probes.uncaptured
    return {**found, "uncaptured": uncaptured} if uncaptured else found


async def _record(name: str, tabs: Tabs, acted: ActedElements | None) -> list[Json]:
    if name == "network" and tabs.recording and tabs.recording.network:
        log = tabs.recording.network
        events = await log.events(tabs.context)
        if log.missed:
            raise Uncaptured(f"the log is cut: {log.missed}")
        return events
    if name == "elements" and acted is not None:
        if acted.missed:
            raise Uncaptured(acted.missed)
        return list(acted.entries)
    if name in KNOWN_RECORDS:
        raise Uncaptured("it was not noted: the task did not ask for it when its episode began")
    raise Uncaptured(f"a browser keeps no such record; it keeps {', '.join(KNOWN_RECORDS)}")
