"""Signs of failure: unseen content, wrong elements, values, changes; loops, omissions."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import takewhile

from evaluators.attribution.cause import Cause, CauseFinding
from evaluators.attribution.episode import (
    TICKABLE,
    TICKED,
    FailedEpisode,
    appears_in,
    find_better_twin,
    find_named_elements,
    find_quoted,
    find_similar,
    format_element,
    is_clicked_later,
    is_same_text,
    page_address,
    split_words,
    was_clicked,
    was_given,
    was_used,
)
from evaluators.rules.checks import RULES
from evaluators.steps import is_pages_fault
from tasks.task import Json
from webagent.action import is_final
from webagent.action.actions import (
    Answer,
    Click,
    Fill,
    GiveUp,
    KeyboardInsertText,
    KeyboardType,
    SelectOption,
)
from webagent.records import Ending

_LOOP = 3
"""The same deed on a page that is as it was, so often, is a loop."""
_AFFIX = 2
"""Characters of what is quoted as a beginning or an end of something."""
_FEW = 3
"""Steps within which giving up is early."""
_FAILING = 0.5
"""Share of steps that could not be done from which on grounding is what failed."""
_STATE_RULES = ("changes_are", "unchanged")
"""The checks over a record of what has changed in a site's tables."""
_MISSED = "; nothing was "
"""Said by `changes_are` where the kind of change that is asked for is not there at all."""


def find_unseen(case: FailedEpisode) -> CauseFinding | None:
    """Find that a page had what the goal or the check names, and the agent was never shown it."""
    if case.seen and not any(page.nodes for page in case.seen):
        reason = "the agent was shown nothing of the page"
        return CauseFinding(Cause.OBSERVATION, "nothing observed", 0, reason, (case.seen[0].url,))
    shown = [case.shown(page) for page in case.seen]
    for term in (*find_quoted(case.goal), *case.expected):
        if any(appears_in(term, text) for text in shown):
            continue
        for index, page in enumerate(case.seen):
            lines = [n for n in page.nodes if appears_in(term, f"{n.name} {n.value}")]
            if lines and appears_in(term, case.texts[index]):
                reason = f'"{term}" stood on the page and was cut from what the agent was shown'
                line = format_element(lines[0])
                return CauseFinding(Cause.OBSERVATION, "cut", index, reason, (line,))
            if page.captured and appears_in(term, page.captured):
                reason = f'"{term}" is in the page\'s source and no line of the observation has it'
                return CauseFinding(
                    Cause.OBSERVATION, "not in the lines", index, reason, (page.url,)
                )
    return None


def find_wrong_element(case: FailedEpisode) -> CauseFinding | None:
    """Find a click on the twin of what was meant, or an end beside what the goal names."""
    steps = case.trajectory.steps
    for index, step in enumerate(steps):
        action = step.decision.action
        node = step.observation.node(getattr(action, "mark", 0))
        if node is None or is_final(action):
            continue
        twin = find_better_twin(step.observation, node, case.goal)
        if twin is not None and not is_clicked_later(case, index, twin):
            reason = "of several elements that are alike the wrong one was acted on"
            evidence = (f"acted on {format_element(node)}", f"meant {format_element(twin)}")
            return CauseFinding(Cause.GROUNDING, "wrong twin", index, reason, evidence)
    if case.trajectory.ending is not Ending.TASK_OVER or not steps:
        return None
    action, page = steps[-1].decision.action, steps[-1].observation
    node = page.node(action.mark) if isinstance(action, Click) else None
    if node is None:
        return None
    named = find_named_elements(page, case.goal)
    missed = [one for one in named if not was_clicked(case, one)]
    if node in named or not missed:
        return None
    target = next((one for one in missed if one.role == node.role), missed[0])
    reason = "what the goal does not name was clicked, and what it names was there"
    evidence = (f"clicked {format_element(node)}", f"meant {format_element(target)}")
    return CauseFinding(Cause.GROUNDING, "wrong element", case.last_step, reason, evidence)


def find_omission(case: FailedEpisode) -> CauseFinding | None:
    """Find that the episode was ended with things undone that the goal names."""
    if case.trajectory.ending not in (Ending.TASK_OVER, Ending.ANSWERED) or not case.seen:
        return None
    page = case.seen[-1]
    acted = page.node(getattr(case.trajectory.steps[-1].decision.action, "mark", 0))
    named = [node for node in find_named_elements(page, case.goal) if node != acted]
    unticked = [n for n in named if n.role in TICKABLE and not TICKED & set(n.states)]
    pending = unticked or [
        node for node in named if node.role not in TICKABLE and not was_clicked(case, node)
    ]
    if pending:
        reason = "it was ended before what the goal names had been acted on"
        return CauseFinding(
            Cause.PLANNING, "ended early", case.last_step, reason, (format_element(pending[0]),)
        )
    open_terms = [term for term in find_quoted(case.goal) if not was_used(case, term)]
    is_begun = len(open_terms) < len(find_quoted(case.goal))
    terms = [term for term in open_terms if not is_begun or len(term) > _AFFIX]
    if not terms:
        return None
    evidence = (f"at last {format_element(acted)}",) if acted is not None else ()
    is_empty = any(n.role == "textbox" and not n.value for n in case.seen[-1].nodes)
    undone = "given" if is_empty else "found"
    reason = f'it was ended before "{terms[0]}" had been {undone}'
    return CauseFinding(Cause.PLANNING, "ended early", case.last_step, reason, evidence)


def find_failed_actions(case: FailedEpisode) -> CauseFinding | None:
    """Find that most actions met no element that is there and takes them."""
    outcomes = [case.course.find_objection(index) for index in range(len(case.trajectory.steps))]
    failing = [i for i, text in enumerate(outcomes) if text and not text.startswith("refused")]
    refused = [i for i in failing if outcomes[i] != "no effect" and not is_pages_fault(outcomes[i])]
    still = [i for i in failing if i not in refused and case.course.times[i] == 1]
    bad = sorted((*refused, *still))
    if len(bad) < max(1, _FAILING * len(outcomes)):
        return None
    kind = "could not be done" if refused else "no effect"
    reason = f"{len(bad)} of {len(outcomes)} actions met no element that takes them"
    evidence = tuple(dict.fromkeys(f"{case.course.format_step(i)}: {outcomes[i]}" for i in bad))
    return CauseFinding(Cause.GROUNDING, kind, bad[0], reason, evidence[:3])


def find_loop(case: FailedEpisode) -> CauseFinding | None:
    """Find the same deed on the same page again and again, or pages gone round in a circle."""
    times = case.course.times
    if not times or max(times) < _LOOP:
        return None
    again = [index for index, count in enumerate(times) if count > 1]
    if len(again) < 2 or (3 * len(again) < len(times) and again[-1] < len(times) - 2):
        return None
    most = max(range(len(times)), key=lambda index: times[index])
    reason = f"{times[most]} times the same on a page that was as before"
    evidence = (
        case.course.format_step(most),
        f"{len(again)} of {len(times)} steps were repetitions",
    )
    return CauseFinding(Cause.PLANNING, "loop", again[0], reason, evidence)


def find_early_stop(case: FailedEpisode) -> CauseFinding | None:
    """Find that the agent gave up or ran out of steps, with nothing else to blame."""
    if not case.trajectory.steps:
        return None
    final = case.trajectory.steps[-1].decision.action
    count = len(case.trajectory.steps)
    if isinstance(final, GiveUp):
        kind = "gave up early" if count <= _FEW else "gave up"
        reason = f"it was given up after {count - 1} action{'s' * (count != 2)}"
        return CauseFinding(Cause.PLANNING, kind, case.last_step, reason, (final.reason,))
    if case.trajectory.ending is Ending.STEP_LIMIT:
        idle = len(case.course.returns)
        reason = f"{count} steps were not enough; {idle} of them led back to where it had been"
        return CauseFinding(Cause.PLANNING, "step limit", None, reason)
    return None


def find_wrong_value(case: FailedEpisode) -> CauseFinding | None:
    """Find a last typed or answered value that stands nowhere or was to be another."""
    places: defaultdict[object, list[tuple[int, str]]] = defaultdict(list)
    for index, step in enumerate(case.trajectory.steps):
        here = page_address(step.observation)
        match step.decision.action:
            case Fill(mark=mark, text=text) | SelectOption(mark=mark, option=text):
                places[here, mark].append((index, text))
            case KeyboardType(text=text) | KeyboardInsertText(text=text):
                places[here, -1].append((index, text))
            case Answer(text=text) if text or case.expected:
                places["answer"].append((index, text))
    found: list[CauseFinding] = []
    for given in places.values():
        # The first of the wrong values in one place after which no right one followed there.
        judged = (_find_wrong_text(case, index, text) for index, text in reversed(given))
        found += [finding for finding in takewhile(bool, judged) if finding][-1:]
    return min(found, key=lambda finding: finding.step or 0) if found else None


def _find_wrong_text(case: FailedEpisode, index: int, text: str) -> CauseFinding | None:
    if lost := _find_misread(case, index, text):
        return lost
    parts = split_words(text)
    for whole in find_quoted(case.goal):
        is_part = parts and parts < split_words(whole) and not is_same_text(text, whole)
        if not is_part or was_given(case, whole):
            continue
        reason = f'of "{whole}" only "{text}" was given'
        return CauseFinding(Cause.GROUNDING, "miscopied", index, reason, (f'given: "{text}"',))
    known = (case.goal, *case.texts[: index + 1])
    if not text or any(appears_in(text, where) for where in known):
        return None
    return _find_unfounded(case, index, text)


def _find_unfounded(case: FailedEpisode, index: int, text: str) -> CauseFinding | None:
    """Find that the value, in neither goal nor pages, is like what could be copied, or nothing."""
    here, evidence = case.seen[index], (f'given: "{text}"',)
    for number, page in enumerate(case.seen[:index]):
        if page_address(page) == page_address(here):
            continue
        close = find_similar(text, case.pieces[number])
        if close and not appears_in(close, case.texts[index]) and not appears_in(close, case.goal):
            reason = f'"{close}", seen on page {number + 1}, was given as "{text}"'
            return CauseFinding(Cause.MEMORY, "changed on the way", index, reason, evidence)
    pieces = (*find_quoted(case.goal), *case.goal.split(), *case.pieces[index])
    if close := find_similar(text, pieces):
        reason = f'"{close}" was there to be copied and "{text}" was given'
        return CauseFinding(Cause.GROUNDING, "miscopied", index, reason, evidence)
    if isinstance(case.trajectory.steps[index].decision.action, Answer):
        if not case.expected and not any(character.isdigit() for character in text):
            return None
        reason = "the answer stands on no page that was seen"
        return CauseFinding(Cause.PLANNING, "unfounded answer", index, reason, evidence)
    untyped = [term for term in find_quoted(case.goal) if not was_used(case, term)]
    if not untyped and len(text.split()) > 1:
        return None
    wish = f', while the goal has "{untyped[0]}"' if untyped else ""
    reason = f'"{text}" stands neither in the goal nor on a page{wish}'
    return CauseFinding(Cause.GROUNDING, "made-up value", index, reason, evidence)


def _find_misread(case: FailedEpisode, index: int, text: str) -> CauseFinding | None:
    """Find that a page had the value that the check expects, or the goal's beside its label, and
    another was given."""
    candidates: list[tuple[int, str, str]] = []
    action = case.trajectory.steps[index].decision.action
    if isinstance(action, Answer) or index >= case.last_step - 1:
        for value in case.expected:
            where = [i for i, page in enumerate(case.texts) if appears_in(value, page)]
            if where and not was_given(case, value) and not appears_in(value, case.goal):
                candidates.append((where[-1], "", value))
    if text and not appears_in(text, case.goal):
        candidates += [
            (number, label, value)
            for number in range(index, -1, -1)
            for label, value in case.labels[number]
            if not was_given(case, value) and not is_same_text(value, text)
        ]
    if not candidates:
        return None
    number, label, value = candidates[0]
    seen = f"{label}: {value}" if label else f'seen on page {number + 1}: "{value}"'
    evidence, beside = (seen, f'given: "{text}"'), f' beside "{label}"' if label else ""
    if page_address(case.seen[number]) != page_address(case.seen[index]):
        reason = f'"{value}" stood{beside} on page {number + 1} and was not given'
        return CauseFinding(Cause.MEMORY, "lost", index, reason, evidence)
    reason = f'"{value}" stands{beside or " on the page"}, and "{text}" was given'
    return CauseFinding(Cause.GROUNDING, "misread", index, reason, evidence)


def find_wrong_change(case: FailedEpisode) -> CauseFinding | None:
    """Find a check of the site's tables that fails though something was changed there.

    The step is the last one that gave a value which the change holds and the check does not ask
    for, else the last click: what sends a form changes its tables.
    """
    for check in case.trajectory.task.checks:
        found = case.trajectory.evidence.get(check.evidence)
        if check.rule not in _STATE_RULES or check.rule not in RULES or not found:
            continue
        try:
            verdict = RULES[check.rule](found, check.expected)
        except TypeError:
            continue
        if isinstance(verdict, bool) or verdict.value != 0.0:
            continue
        # Nothing was changed amiss where a change is only missing.
        if verdict.reason and _MISSED not in verdict.reason:
            wanted = set(_texts(check.expected))
            wrong = [text for text in _texts(found) if text not in wanted]
            actions = [step.decision.action for step in case.trajectory.steps]
            clicks = [i for i, action in enumerate(actions) if isinstance(action, Click)]
            gave = [
                i
                for i, action in enumerate(actions)
                if not isinstance(action, Answer)
                and (getattr(action, "text", "") or getattr(action, "option", "")).strip() in wrong
            ]
            step = max(gave or clicks, default=None)
            return CauseFinding(Cause.GROUNDING, "wrong change", step, verdict.reason)
    return None


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
