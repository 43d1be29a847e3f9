"""Signs that the agent failed, each on its own: what it did not see, missed, repeated, left out."""

from evaluators.attribution.alike import (
    TICKABLE,
    TICKED,
    better_line,
    better_twin,
    wrongly_ticked,
)
from evaluators.attribution.case import Case, clicked_later, ticking, was_clicked, was_used
from evaluators.attribution.cause import Cause, Finding
from evaluators.attribution.words import line_of, near, ordinal, quoted, stands_in, wanted
from evaluators.steps.rules import is_pages_fault
from webagent.action import is_final
from webagent.action.actions import Click, GiveUp
from webagent.records import Ending, Node, Observation

_LOOP = 3
"""The same deed on a page that is as it was, so often, is a loop."""
_AFFIX = 2
"""Characters of what is quoted as a beginning or an end of something."""
_FEW = 3
"""Steps within which giving up is early."""
_FAILING = 0.5
"""Share of steps that could not be done from which on grounding is what failed."""


def not_shown(case: Case) -> Finding | None:
    """What the goal or the check names was on a page, and the agent was never shown it."""
    if case.seen and not any(page.nodes for page in case.seen):
        reason = "the agent was shown nothing of the page"
        return Finding(Cause.OBSERVATION, "nothing observed", 0, reason, (case.seen[0].url,))
    shown = [case.shown(page) for page in case.seen]
    for term in (*quoted(case.goal), *case.expected):
        if any(stands_in(term, text) for text in shown):
            continue
        for index, page in enumerate(case.seen):
            line = _line_with(page, term) if stands_in(term, case.texts[index]) else None
            if line is not None:
                reason = f'"{term}" stood on the page and was cut from what the agent was shown'
                return Finding(Cause.OBSERVATION, "cut", index, reason, (line_of(line),))
            if page.captured and stands_in(term, page.captured):
                reason = f'"{term}" is in the page\'s source and no line of the observation has it'
                return Finding(Cause.OBSERVATION, "not in the lines", index, reason, (page.url,))
    return None


def _line_with(page: Observation, term: str) -> Node | None:
    return next((one for one in page.nodes if stands_in(term, f"{one.name} {one.value}")), None)


def wrong_element(case: Case) -> Finding | None:
    """A click on the twin of what was meant, or at the end on something the goal does not name
    while what it names was there."""
    steps = case.trajectory.steps
    for index, step in enumerate(steps):
        action = step.decision.action
        node = step.observation.node(getattr(action, "mark", 0))
        if node is None or is_final(action):
            continue
        twin = better_twin(step.observation, node, case.goal)
        better = twin or better_line(step.observation, node, case.goal)
        if better is not None and not clicked_later(case, index, better):
            reason = "of several elements that are alike the wrong one was acted on"
            told = (f"acted on {line_of(node)}", f"meant {line_of(better)}")
            kind = "wrong twin" if twin else "wrong element"
            return Finding(Cause.GROUNDING, kind, index, reason, told)
    return _wrong_at_the_end(case)


def _wrong_at_the_end(case: Case) -> Finding | None:
    if case.trajectory.ending is not Ending.TASK_OVER or not case.trajectory.steps:
        return None
    index, step = case.last_step, case.trajectory.steps[case.last_step]
    page, node = step.observation, None
    if isinstance(step.decision.action, Click):
        node = page.node(step.decision.action.mark)
    if node is None:
        return None
    named = wanted(page, case.goal)
    ticked = wrongly_ticked(page, named)
    if ticked is not None and (was_clicked(case, ticked) or was_used(case, ticked.name)):
        at = ticking(case, ticked)
        reason = "what the goal does not name was chosen, and what it names was not"
        chosen = (f"chosen {line_of(ticked)}",)
        return Finding(Cause.GROUNDING, "wrong element", at, reason, chosen)
    number, alike = ordinal(case.goal), [n for n in page.nodes if n.mark and n.role == node.role]
    if number and number <= len(alike) and not quoted(case.goal) and node != alike[number - 1]:
        reason = f"the goal asks for number {number} of its kind"
        told = (f"clicked {line_of(node)}", f"meant {line_of(alike[number - 1])}")
        return Finding(Cause.GROUNDING, "wrong element", index, reason, told)
    if node not in named and (meant := near(node.name, quoted(case.goal))):
        reason = f'it resembles "{meant}" and is another'
        return Finding(
            Cause.GROUNDING, "wrong element", index, reason, (f"clicked {line_of(node)}",)
        )
    missed = [one for one in named if not was_clicked(case, one)]
    if node in named or not missed:
        return None
    target = next((one for one in missed if one.role == node.role), missed[0])
    reason = "what the goal does not name was clicked, and what it names was there"
    told = (f"clicked {line_of(node)}", f"meant {line_of(target)}")
    return Finding(Cause.GROUNDING, "wrong element", index, reason, told)


def left_out(case: Case) -> Finding | None:
    """The episode was ended, with things undone that the goal names and that were there."""
    if case.trajectory.ending not in (Ending.TASK_OVER, Ending.ANSWERED) or not case.seen:
        return None
    page = case.seen[-1]
    acted = page.node(getattr(case.trajectory.steps[-1].decision.action, "mark", 0))
    named = [node for node in wanted(page, case.goal) if node != acted]
    unticked = [n for n in named if n.role in TICKABLE and not TICKED & set(n.states)]
    pending = unticked or [
        node for node in named if node.role not in TICKABLE and not was_clicked(case, node)
    ]
    if pending:
        reason = "it was ended before what the goal names had been acted on"
        return Finding(
            Cause.PLANNING, "ended early", case.last_step, reason, (line_of(pending[0]),)
        )
    return _not_reached(case, acted)


def _not_reached(case: Case, acted: Node | None) -> Finding | None:
    """What the goal quotes was on no page as an element, or on one that the agent left."""
    open_terms = [term for term in quoted(case.goal) if not was_used(case, term)]
    is_begun = len(open_terms) < len(quoted(case.goal))
    terms = [term for term in open_terms if not is_begun or len(term) > _AFFIX]
    if not terms:
        return None
    told = (f"at last {line_of(acted)}",) if acted is not None else ()
    for index, page in enumerate(case.seen):
        node = next((n for n in wanted(page, case.goal) if stands_in(terms[0], n.name)), None)
        if node is None:
            continue
        taken = page.node(getattr(case.trajectory.steps[index].decision.action, "mark", 0))
        if taken is not None and taken.role == node.role:
            reason = "what the goal does not name was clicked, and what it names was there"
            clicked = (f"clicked {line_of(taken)}", f"meant {line_of(node)}")
            return Finding(Cause.GROUNDING, "wrong element", index, reason, clicked)
        reason = f"{line_of(node)} was on page {index + 1}, and the agent went on without it"
        return Finding(Cause.PLANNING, "passed by", index, reason, told)
    is_empty = any(n.role == "textbox" and not n.value for n in case.seen[-1].nodes)
    undone = "given" if is_empty else "found"
    reason = f'it was ended before "{terms[0]}" had been {undone}'
    return Finding(Cause.PLANNING, "ended early", case.last_step, reason, told)


def could_not_be_done(case: Case) -> Finding | None:
    """Actions on elements that are not there or do not take them, for most of the episode."""
    said = [case.course.said(index) for index in range(len(case.trajectory.steps))]
    failing = [i for i, words in enumerate(said) if words and not words.startswith("refused")]
    refused = [i for i in failing if said[i] != "no effect" and not is_pages_fault(said[i])]
    still = [i for i in failing if i not in refused and case.course.times[i] == 1]
    bad = sorted((*refused, *still))
    if len(bad) < max(1, _FAILING * len(said)):
        return None
    kind = "could not be done" if refused else "no effect"
    reason = f"{len(bad)} of {len(said)} actions met no element that takes them"
    told = tuple(dict.fromkeys(f"{case.course.told(i)}: {said[i]}" for i in bad))[:3]
    return Finding(Cause.GROUNDING, kind, bad[0], reason, told)


def loop(case: Case) -> Finding | None:
    """The same deed on the same page again and again, or pages gone round in a circle."""
    times = case.course.times
    if not times or max(times) < _LOOP:
        return None
    again = [index for index, count in enumerate(times) if count > 1]
    if len(again) < 2 or (3 * len(again) < len(times) and again[-1] < len(times) - 2):
        return None
    most = max(range(len(times)), key=lambda index: times[index])
    reason = f"{times[most]} times the same on a page that was as before"
    told = (case.course.told(most), f"{len(again)} of {len(times)} steps were repetitions")
    return Finding(Cause.PLANNING, "loop", again[0], reason, told)


def stopped(case: Case) -> Finding | None:
    """Given up, or out of steps, with nothing else to blame."""
    if not case.trajectory.steps:
        return None
    final = case.trajectory.steps[-1].decision.action
    count = len(case.trajectory.steps)
    if isinstance(final, GiveUp):
        kind = "gave up early" if count <= _FEW else "gave up"
        reason = f"it was given up after {count - 1} actions"
        return Finding(Cause.PLANNING, kind, case.last_step, reason, (final.reason,))
    if case.trajectory.ending is Ending.STEP_LIMIT:
        idle = len(case.course.returns)
        reason = f"{count} steps were not enough; {idle} of them led back to where it had been"
        return Finding(Cause.PLANNING, "step limit", None, reason)
    return None
