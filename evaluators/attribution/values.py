"""Signs in what was typed, chosen or answered: made up, miscopied, misread or forgotten."""

from collections import defaultdict
from collections.abc import Sequence

from evaluators.attribution.case import Case, page_of, was_given, was_used
from evaluators.attribution.cause import Cause, Finding
from evaluators.attribution.words import near, pieces_of, quoted, stands_in, text_of
from webagent.action.actions import Answer, Fill, KeyboardInsertText, KeyboardType, SelectOption


def wrong_value(case: Case) -> Finding | None:
    """What was typed or answered last in a place, and stands nowhere or was to be another."""
    places: defaultdict[object, list[tuple[int, str]]] = defaultdict(list)
    for index, step in enumerate(case.trajectory.steps):
        here = page_of(step.observation)
        match step.decision.action:
            case Fill(mark=mark, text=text) | SelectOption(mark=mark, option=text):
                places[here, mark].append((index, text))
            case KeyboardType(text=text) | KeyboardInsertText(text=text):
                places[here, -1].append((index, text))
            case Answer(text=text) if text or case.expected:
                places["answer"].append((index, text))
    found = [finding for given in places.values() if (finding := _uncorrected(case, given))]
    return min(found, key=lambda finding: finding.step or 0) if found else None


def _uncorrected(case: Case, given: Sequence[tuple[int, str]]) -> Finding | None:
    """The first of the wrong values in one place after which no right one followed there."""
    found = None
    for index, text in reversed(given):
        finding = _value(case, index, text)
        if finding is None:
            break
        found = finding
    return found


def _value(case: Case, index: int, text: str) -> Finding | None:
    here, earlier = case.seen[index], case.seen[:index]
    if lost := _lost(case, index, text):
        return lost
    if (
        not text
        or stands_in(text, case.goal)
        or any(stands_in(text, text_of(p)) for p in (here, *earlier))
    ):
        return None
    said = (f'given: "{text}"',)
    elsewhere = [page for page in earlier if page_of(page) != page_of(here)]
    for page in elsewhere:
        if close := near(text, pieces_of(page)):
            if any(stands_in(close, text_of(p)) for p in (here,)) or stands_in(close, case.goal):
                continue
            reason = f'"{close}", seen on page {case.seen.index(page) + 1}, was given as "{text}"'
            return Finding(Cause.MEMORY, "changed on the way", index, reason, said)
    if close := near(text, (*quoted(case.goal), *case.goal.split(), *pieces_of(here))):
        reason = f'"{close}" was there to be copied and "{text}" was given'
        return Finding(Cause.GROUNDING, "miscopied", index, reason, said)
    if isinstance(case.trajectory.steps[index].decision.action, Answer):
        if not case.expected and not any(character.isdigit() for character in text):
            return None
        reason = "the answer stands on no page that was seen"
        return Finding(Cause.PLANNING, "unfounded answer", index, reason, said)
    untyped = [term for term in quoted(case.goal) if not was_used(case, term)]
    if untyped or len(text.split()) == 1:
        wish = f', while the goal has "{untyped[0]}"' if untyped else ""
        reason = f'"{text}" stands neither in the goal nor on a page{wish}'
        return Finding(Cause.GROUNDING, "made-up value", index, reason, said)
    return None


def _lost(case: Case, index: int, text: str) -> Finding | None:
    """The value that the check expects had been seen and was not what was given."""
    action = case.trajectory.steps[index].decision.action
    is_last_word = isinstance(action, Answer) or index >= case.last_step - 1
    missing = [value for value in case.expected if not was_given(case, value)]
    if not missing or not is_last_word:
        return None
    for value in missing:
        where = [i for i, page in enumerate(case.seen) if stands_in(value, text_of(page))]
        if not where or stands_in(value, case.goal):
            continue
        said = (f'seen on page {where[-1] + 1}: "{value}"', f'given: "{text}"')
        if page_of(case.seen[where[-1]]) != page_of(case.seen[index]):
            reason = f'"{value}" had been seen on page {where[-1] + 1} and was not given'
            return Finding(Cause.MEMORY, "lost", index, reason, said)
        reason = f'"{value}" stood on the page, and "{text}" was given'
        return Finding(Cause.GROUNDING, "misread", index, reason, said)
    return None
