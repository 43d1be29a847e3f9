"""Giving a page files: into a field, or when something that was clicked asks for them."""

from pathlib import Path

from webagent.action import actions as act
from webagent.browser.perform import input as hand
from webagent.browser.perform.dispatch import click_on, outside, perform, place_of, reason_of
from webagent.browser.tabs import Tabs

_ASKING_MS = 1000
"""Virtual milliseconds within which a click must have made the page ask for a file."""
_ASKS_FOR_NONE = "asks for no file"


@perform.register
async def _(action: act.UploadFile, tabs: Tabs) -> str:
    return await _upload(tabs, action.mark, (action.path,))


@perform.register
async def _(action: act.UploadFiles, tabs: Tabs) -> str:
    return await _upload(tabs, action.mark, action.paths)


@perform.register
async def _(action: act.MouseUploadFile, tabs: Tabs) -> str:
    reason = outside(tabs, action.x, action.y) or _missing((action.path,))
    if reason:
        return reason
    await hand.click(tabs.active, (action.x, action.y))
    return await _answer(tabs, (action.path,), f"what lies at {action.x},{action.y}")


async def _upload(tabs: Tabs, mark: int, paths: tuple[str, ...]) -> str:
    reason = _missing(paths)
    if reason:
        return reason
    if mark == 0:
        return await _give(tabs, paths)
    field = await tabs.active.ask_about(mark, "fileFieldOf")
    if "error" in field:
        return reason_of(field)
    if field["takes"]:
        return _too_many(paths, field["takes"]) or await tabs.active.upload(mark, _whole(paths))
    reason = await click_on(tabs, mark) or await _answer(tabs, paths, f"element {mark}")
    return await _drop(tabs, mark, paths) if reason.endswith(_ASKS_FOR_NONE) else reason


async def _answer(tabs: Tabs, paths: tuple[str, ...], clicked: str) -> str:
    """Give the files to what was clicked, which asks for them soon or not at all."""
    if tabs.active.chooser is None:
        await tabs.settle(_ASKING_MS)
    if tabs.active.chooser is None:
        return f"{clicked} {_ASKS_FOR_NONE}"
    return await _give(tabs, paths)


async def _drop(tabs: Tabs, mark: int, paths: tuple[str, ...]) -> str:
    """Drop the files on an element, which some pages want instead."""
    place = await place_of(tabs, mark)
    if "error" in place:
        return reason_of(place)
    await hand.drop_files(tabs.active, (place["x"], place["y"]), _whole(paths))
    if await tabs.active.ask_about(mark, "dropWasTaken", mark):
        return ""
    return f"element {mark} {_ASKS_FOR_NONE}, and takes none that is dropped on it"


async def _give(tabs: Tabs, paths: tuple[str, ...]) -> str:
    chooser = tabs.active.chooser
    reason = _too_many(paths, chooser.takes) if chooser else ""
    return reason or await tabs.active.answer_chooser(_whole(paths))


def _missing(paths: tuple[str, ...]) -> str:
    if not paths:
        return "no file was named"
    gone = [path for path in paths if not Path(path).expanduser().is_file()]
    return f"there is no file {', '.join(gone)}" if gone else ""


def _whole(paths: tuple[str, ...]) -> list[str]:
    return [str(Path(path).expanduser().resolve()) for path in paths]


def _too_many(paths: tuple[str, ...], takes: str) -> str:
    return f"only one file is taken, not {len(paths)}" if takes == "one" and paths[1:] else ""
