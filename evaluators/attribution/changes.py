"""The wrong side effect of a failed episode: what was changed amiss, and by which step."""

from collections.abc import Iterator

from evaluators.attribution.cause import Cause, CauseFinding
from evaluators.attribution.episode import FailedEpisode
from evaluators.rules.checks import RULES
from tasks.task import Json, TaskCheck
from webagent.action.actions import Click, Fill, KeyboardInsertText, KeyboardType, SelectOption

_STATE_RULES = ("changes_are", "unchanged")
"""The checks over a record of what has changed in a site's tables."""
_MISSED = "; nothing was "
"""Said by `changes_are` where the kind of change that is asked for is not there at all."""


def find_wrong_change(case: FailedEpisode) -> CauseFinding | None:
    """Find a check of the site's tables that fails though something was changed there.

    The step is the last one that gave a value which the change holds and the check does not ask
    for, else the last click: what sends a form changes its tables.
    """
    for check in case.trajectory.task.checks:
        found = case.trajectory.evidence.get(check.evidence)
        if check.rule not in _STATE_RULES or check.rule not in RULES or not found:
            continue
        reason = _find_failure(check, found)
        if reason:
            wanted = set(_texts(check.expected))
            wrong = [text for text in _texts(found) if text not in wanted]
            step = _find_giving_step(case, wrong)
            return CauseFinding(Cause.GROUNDING, "wrong change", step, reason)
    return None


def _find_failure(check: TaskCheck, found: Json) -> str:
    """Return what the rule says where something was changed amiss; empty where it holds, cannot
    compare, or only misses a change."""
    try:
        verdict = RULES[check.rule](found, check.expected)
    except TypeError:
        return ""
    if isinstance(verdict, bool) or verdict.value != 0.0 or _MISSED in verdict.reason:
        return ""
    return verdict.reason


def _find_giving_step(case: FailedEpisode, wrong: list[str]) -> int | None:
    """Return the last step that gave one of the values, else the last click."""
    clicked = None
    for index in range(len(case.trajectory.steps) - 1, -1, -1):
        match case.trajectory.steps[index].decision.action:
            case (
                Fill(text=text)
                | SelectOption(option=text)
                | KeyboardType(text=text)
                | KeyboardInsertText(text=text)
            ) if text.strip() in wrong:
                return index
            case Click() if clicked is None:
                clicked = index
    return clicked


def _texts(value: Json) -> Iterator[str]:
    """Yield every value in rows of tables, as it would be typed."""
    if isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif value is not None:
        yield str(value).strip()
