"""Everything a task declares beside its expressions, captured while the pages are there."""

import asyncio
from collections.abc import Callable
from contextlib import nullcontext, suppress

from tasks.task import Json, Task
from webagent.action import Action, format_action
from webagent.action import actions as act
from webagent.browser.evidence.probe_page import Uncaptured
from webagent.browser.evidence.probes import ProbeRun
from webagent.browser.page.tab import Tab
from webagent.browser.tabs import Tabs
from webagent.errors import WorldError

MOST_ELEMENTS = 1000
"""With more of them the record counts as incomplete."""
_AFTER_SECONDS = 1.0
_KEYS = (act.KeyboardType, act.KeyboardInsertText, act.KeyboardDown, act.KeyboardUp)
_SETTING = (
    *(act.Fill, act.Clear, act.SelectOption, act.SelectOptions),
    *(act.KeyboardType, act.KeyboardInsertText),
)
"""What gives an element another value and leaves its page in place."""


class ActedElements:
    """Notes of one episode; `look` before each action, `keep` what it was done to."""

    def __init__(self) -> None:
        self.entries: list[Json] = []
        """In order; see `make_entry` for what each holds."""
        self.missed = ""
        """Why the notes are incomplete; empty while they are not."""
        self._step = -1

    async def look(self, action: Action, tabs: Tabs) -> list[dict[str, Json]]:
        """Return the elements the action is meant for. Raises `WorldError`."""
        self._step += 1
        tab = tabs.active
        found = await _find_elements(action, tab)
        name = format_action(action).partition("(")[0]
        url = tab.page.url
        return [make_entry(self._step, name, url, each) for each in found if each]

    def keep(self, entries: list[dict[str, Json]]) -> None:
        """Keep the entries of elements that the action was done to."""
        if len(self.entries) + len(entries) > MOST_ELEMENTS:
            self.missed = f"more than {MOST_ELEMENTS} elements were acted on"
        else:
            self.entries.extend(entries)

    async def keep_with_value(
        self, entries: list[dict[str, Json]], action: Action, tabs: Tabs
    ) -> None:
        """As `keep`; where the action set a value, that is noted beside the one before."""
        if entries and isinstance(action, _SETTING):
            entries[-1]["value_before"] = entries[-1]["value"]
            mark = getattr(action, "mark", 0)
            value: Json = None
            if not tabs.active.loading and not tabs.active.page.is_closed():
                with suppress(TimeoutError, WorldError):
                    async with asyncio.timeout(_AFTER_SECONDS):
                        value = await tabs.active.ask_about(mark, "actedValue")
            entries[-1]["value"] = value
        self.keep(entries)


def make_entry(step: int, action: str, url: str, facts: dict[str, Json]) -> dict[str, Json]:
    """Return one note: index of the step, name of the action, address of the page, and of the
    element `frame` (address of its own document, null in the page itself), `tag`, `selector`,
    `xpath`, `text`, `value`, `attributes` and `outline` (what lies around it, as HTML without
    texts)."""
    return {"step": step, "action": action, "url": url, **facts}


async def _find_elements(action: Action, tab: Tab) -> list[dict[str, Json] | None]:
    """Return what the page says of the elements an action is meant for; None of unknown ones."""

    async def ask_about(mark: int) -> dict[str, Json] | None:
        facts = await tab.ask_about(mark, "acted")
        return facts if isinstance(facts, dict) and "error" not in facts else None

    match action:
        case act.DragAndDrop(source=source, target=target):
            return [await ask_about(source), await ask_about(target)]
        case act.MouseDrag(x=x, y=y, to_x=to_x, to_y=to_y):
            return [await tab.ask("actedAt", *point) for point in ((x, y), (to_x, to_y))]
    if target := getattr(action, "mark", 0):
        return [await ask_about(target)]
    if hasattr(action, "x") and hasattr(action, "y"):
        return [await tab.ask("actedAt", action.x, action.y)]
    if isinstance(action, (act.Press, *_KEYS)):
        return [await tab.ask("actedInFocus")]
    return []


KNOWN_RECORDS = ("network", "elements")


async def capture_evidence(
    task: Task, tabs: Tabs, acted: ActedElements | None, keep_image: Callable[[bytes], str] | None
) -> dict[str, Json]:
    """Return the task's records and what its probes find, by name; under `uncaptured`, if anything
    is, why a name is not there. Raises `WorldError` when the browser is gone."""
    found: dict[str, Json] = {}
    uncaptured: dict[str, Json] = {}
    for name in task.records:
        try:
            found[name] = await _record(name, tabs, acted)
        except Uncaptured as reason:
            uncaptured[name] = str(reason)
    network = tabs.recording.network if tabs.recording else None
    if task.probes:
        probes = ProbeRun(task, tabs, keep_image)
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
