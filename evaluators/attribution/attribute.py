"""Attribution: why an episode failed, by rules that quote what they go by."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from evaluators.attribution import signs
from evaluators.attribution.cause import Attribution, Cause, CauseFinding, build_attribution
from evaluators.attribution.episode import FailedEpisode
from evaluators.attribution.signs import find_wrong_change, find_wrong_value
from evaluators.judge.pages import list_pages
from webagent.action.actions import GiveUp, Goto
from webagent.observation import render
from webagent.records import Ending, Observation, Score, Trajectory
from webagent.rollout import INTERRUPTED

_FEW_LINES = 40
"""A page that keeps somebody out, or is an error, has no more; a longer one may speak of one."""
_WALLS = {
    "captcha": r"captcha|are you (a )?(human|robot)|(verify|confirm) (that )?you are (a |not a )?"
    r"(human|robot|bot)|just a moment",
    "blocked": r"access denied|403 forbidden|you have been blocked|unusual traffic|"
    r"attention required|too many requests|rate limit(ed)?\b|"
    r"not available in your (country|region)|don.t have permission",
    "paywall": r"subscribe to (continue|read|keep)|subscribers only|for subscribers|"
    r"reached your .{0,20}limit of .{0,20}articles|free account to continue",
}
_LOGIN = re.compile(r"\b(log|sign)[ -]?in\b", re.IGNORECASE)
_ABOUT_LOGIN = re.compile(
    r"\b(log|sign)[ -]?(in|up|on)\b|password|register|account|credential|username", re.IGNORECASE
)
_BROKEN = re.compile(
    r"\b50[0234]\b|internal server error|bad gateway|service unavailable|gateway time-?out|"
    r"site can.t be reached|\berr_[a-z_]+|application error|connection (was )?(refused|reset)",
    re.IGNORECASE,
)
_MISSING = re.compile(r"\b404\b|page (was |could )?not (be )?found|no such page", re.IGNORECASE)


_FAILED_ENDINGS = {
    Ending.WORLD_FAILED: (Cause.ENVIRONMENT, "world failed", "the browser failed"),
    Ending.MODEL_FAILED: (Cause.ENVIRONMENT, "model failed", "the model failed"),
    Ending.CAPTCHA: (Cause.ACCESS, "captcha", "the site wanted a person"),
    Ending.GUARD_REFUSED: (
        *(Cause.GUARD, "refused"),
        "a limit refused the action and ended the episode",
    ),
    Ending.POLICY_UNREADABLE: (
        *(Cause.PLANNING, "unreadable"),
        "after the last step the agent gave no action that could be read",
    ),
}


def find_failed_ending(trajectory: Trajectory) -> CauseFinding | None:
    """Find an ending that is no fault of the agent, or for which there is but one cause."""
    if trajectory.ending not in _FAILED_ENDINGS:
        return None
    cause, kind, reason = _FAILED_ENDINGS[trajectory.ending]
    is_of_step = trajectory.steps and kind not in ("model failed", "unreadable")
    evidence: tuple[str, ...] = (trajectory.error,) if trajectory.error else ()
    if cause is Cause.GUARD:
        evidence = evidence or _refusals(trajectory)[:3]
    step = len(trajectory.steps) - 1 if is_of_step else None
    return CauseFinding(cause, kind, step, reason, evidence)


def find_access_wall(trajectory: Trajectory) -> CauseFinding | None:
    """Find a captcha, login, paywall or block on the page where the episode came to its end."""
    found = _find_last_page(trajectory)
    if found is None:
        return None
    step, page = found
    text = _short_text(page)
    goal = trajectory.goal or trajectory.task.goal

    def find(kind: str, reason: str, *evidence: str) -> CauseFinding:
        return CauseFinding(Cause.ACCESS, kind, step, reason, evidence)

    if "shows a captcha" in page.outcome:
        return find("captcha", "a captcha was on the page", page.outcome)
    for kind, pattern in _WALLS.items():
        if match := re.search(pattern, text, re.IGNORECASE):
            return find(kind, f"the page kept the agent out: {kind}", _quote_line(text, match))
    has_password = any(node.kind == "input:password" for node in page.nodes)
    match = _LOGIN.search(text)
    if has_password and match and not _ABOUT_LOGIN.search(goal):
        reason = "the page asked for a login that the task says nothing of"
        return find("login", reason, page.url, _quote_line(text, match))
    return None


def find_guard_refusal(trajectory: Trajectory) -> CauseFinding | None:
    """Find actions that the guard refused and past which the agent did not come."""
    steps = trajectory.steps
    pages = [*(step.observation for step in steps[1:]), trajectory.last]
    hit = [i for i, page in enumerate(pages) if page and "refused" in page.outcome]
    if not hit:
        return None
    gave_up = isinstance(steps[-1].decision.action, GiveUp)
    is_stuck = hit[-1] >= len(steps) - 2 or 2 * len(hit) >= len(steps)
    if not gave_up and not is_stuck:
        return None
    evidence = tuple(page.outcome for i in hit[:3] if (page := pages[i]))
    reason = "the guard refused what the agent tried, and it did not get past that"
    return CauseFinding(
        Cause.GUARD, "refused", hit[0], reason, evidence or _refusals(trajectory)[:3]
    )


def find_site_error(trajectory: Trajectory) -> CauseFinding | None:
    """Find an error page where the episode came to its end."""
    found = _find_last_page(trajectory)
    if found is None:
        return None
    step, page = found
    text = _short_text(page)
    broken = _BROKEN.search(text)
    if broken or page.url.startswith("chrome-error:"):
        shown = _quote_line(text, broken) if broken else page.url
        reason = "the site answered with an error"
        return CauseFinding(Cause.ENVIRONMENT, "site failed", step, reason, (shown,))
    if match := _MISSING.search(text):
        shown = _quote_line(text, match)
        action = trajectory.steps[step].decision.action if step is not None else None
        if isinstance(action, Goto):
            reason, seen = "the agent opened an address that does not exist", (action.url, shown)
            return CauseFinding(Cause.PLANNING, "made-up address", step, reason, seen)
        reason = "a page of the site is missing"
        return CauseFinding(Cause.ENVIRONMENT, "page missing", step, reason, (shown,))
    return None


def find_doubtful_verdict(
    trajectory: Trajectory, scores: Sequence[Score], trusted: str
) -> CauseFinding | None:
    """Find a verdict that could not be made, or evaluators that contradict each other."""
    if not scores:
        return None
    known = [score for score in scores if score.value is not None]
    if not known:
        notes = trajectory.evidence.get("uncaptured")
        lost = tuple(f"{k}: {v}" for k, v in notes.items()) if isinstance(notes, dict) else ()
        is_uncaptured = lost or any("not captured" in score.reason for score in scores)
        unchecked = "no verdict" if trajectory.task.checks else "no check"
        kind = "uncaptured" if is_uncaptured else unchecked
        reason = "the check could not be made: " + scores[0].reason
        return CauseFinding(
            Cause.JUDGE, kind, None, reason, lost or tuple(s.reason for s in scores)
        )
    if any(trusted and score.evaluator.startswith(trusted) for score in known):
        return None
    passed = [score for score in known if (score.value or 0.0) >= 0.5]
    failed = [score for score in known if score not in passed]
    if passed and failed:
        verdicts = tuple(f"{s.evaluator}: {s.value:g}, {s.reason}" for s in (passed[0], failed[0]))
        return CauseFinding(Cause.JUDGE, "disagreement", None, "evaluators disagree", verdicts)
    return None


def _refusals(trajectory: Trajectory) -> tuple[str, ...]:
    """Return what the guard's evidence says it refused."""
    noted = trajectory.evidence.get("guard")
    kept = noted.get("refusals") if isinstance(noted, dict) else None
    if not isinstance(kept, list):
        return ()
    return tuple(f"{one.get('what')}: {one.get('reason')}" for one in kept if isinstance(one, dict))


def _find_last_page(trajectory: Trajectory) -> tuple[int | None, Observation] | None:
    """Return the last page, with the step that led to it from another address or title."""
    pages = list_pages(trajectory)
    if not pages:
        return None
    last = pages[-1]
    first = len(pages) - 1
    while first and (pages[first - 1].url, pages[first - 1].title) == (last.url, last.title):
        first -= 1
    return (first - 1 if first else None), last


def _short_text(page: Observation) -> str:
    """Return what a short page says; of a long one its title alone."""
    lines = [node.name for node in page.nodes if node.name] if len(page.nodes) <= _FEW_LINES else []
    return "\n".join((page.title, *lines))


def _quote_line(text: str, match: re.Match[str]) -> str:
    start = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    return text[start : end if end >= 0 else len(text)][:200]


SOURCE = "rules@1"


def has_failed(trajectory: Trajectory, scores: Sequence[Score], trusted: str = "") -> bool:
    """Return whether there is a failure to explain; not so where nothing was scored.

    That is one of the world or the model, or a headline score that says so, contradicts another, or
    could not be made. Where evaluators whose ids begin with `trusted` have scored, no other counts.
    What was cut short, by a person, a cap or a kill, is nobody's failure.
    """
    if trajectory.ending in (None, Ending.STOPPED) or trajectory.error == INTERRUPTED:
        return False
    if trajectory.ending.is_infrastructure:
        return True
    headlines = [score for score in scores if score.name == "success"]
    final = [score for score in headlines if trusted and score.evaluator.startswith(trusted)]
    values = [score.value for score in final or headlines]
    return bool(values) and not all(value is not None and value >= 0.5 for value in values)


def attribute(
    trajectory: Trajectory,
    scores: Sequence[Score],
    *,
    trusted: str = "",
    shown: Callable[[Observation], str] = render,
) -> Attribution:
    """Return what the failure is put down to, by rules that quote what they go by.

    Faults that are not the agent's come first: the world, the site, the verdict, the guard. Then
    what ended the episode decides: where it was ended, the earliest mistake that was not put right;
    where it ran out of steps or was given up, what it was stuck at. `scores` are the episode's;
    evaluators that contradict each other are a fault of the judge unless one whose id begins with
    `trusted` has spoken. `shown` is what the agent was shown of a page. Raises `ValueError` for an
    episode that has not failed.
    """
    headlines = [score for score in scores if score.name == "success"]
    if not has_failed(trajectory, headlines, trusted):
        raise ValueError(f"episode {trajectory.id} has not failed; there is nothing to attribute")
    finding = (
        find_failed_ending(trajectory)
        or find_access_wall(trajectory)
        or find_site_error(trajectory)
        or find_doubtful_verdict(trajectory, headlines, trusted)
        or find_guard_refusal(trajectory)
        or _find_agent_fault(FailedEpisode(trajectory, shown))
        or CauseFinding(Cause.UNKNOWN, "", None, "no rule found what went wrong")
    )
    return build_attribution(trajectory, finding, SOURCE)


def _find_agent_fault(case: FailedEpisode) -> CauseFinding | None:
    """Return the agent's own fault, by how the episode ended."""
    if not case.trajectory.steps:
        return None
    if unseen := signs.find_unseen(case):
        return unseen
    value, element = find_wrong_value(case), signs.find_wrong_element(case)
    change = find_wrong_change(case)
    if case.trajectory.ending in (Ending.TASK_OVER, Ending.ANSWERED):
        mistakes = [finding for finding in (value, element) if finding is not None]
        if mistakes:
            first = min(mistakes, key=lambda finding: finding.step or 0)
            return replace(first, evidence=(*first.evidence, change.reason)) if change else first
        return change or signs.find_omission(case)
    stuck = signs.find_failed_actions(case) or signs.find_loop(case)
    if value is not None and (stuck is None or (value.step or 0) <= (stuck.step or 0)):
        return value
    return stuck or change or element or signs.find_early_stop(case)
