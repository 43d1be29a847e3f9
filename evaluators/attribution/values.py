"""Signs in what was typed, chosen or answered: made up, miscopied, misread or forgotten."""

from collections import defaultdict
from collections.abc import Sequence

from evaluators.attribution.case import Case, page_of, was_given, was_used
from evaluators.attribution.cause import Cause, Finding
from evaluators.attribution.words import (
    is_same,
    near,
    quoted,
    stands_in,
    words_of,
)
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
    if lost := _lost(case, index, text) or _beside_its_label(case, index, text):
        return lost
    if whole := _whole_of(case, text):
        reason = f'of "{whole}" only "{text}" was given'
        return Finding(Cause.GROUNDING, "miscopied", index, reason, (f'given: "{text}"',))
    known = (case.goal, *case.texts[: index + 1])
    if not text or any(stands_in(text, where) for where in known):
        return None
    return _resembling(case, index, text) or _from_nowhere(case, index, text)


def _resembling(case: Case, index: int, text: str) -> Finding | None:
    """What was given resembles something that could have been copied."""
    here, said = case.seen[index], (f'given: "{text}"',)
    for number, page in enumerate(case.seen[:index], start=1):
        close = near(text, case.pieces[number - 1]) if page_of(page) != page_of(here) else ""
        if close and not stands_in(close, case.texts[index]) and not stands_in(close, case.goal):
            reason = f'"{close}", seen on page {number}, was given as "{text}"'
            return Finding(Cause.MEMORY, "changed on the way", index, reason, said)
    if close := near(text, (*quoted(case.goal), *case.goal.split(), *case.pieces[index])):
        reason = f'"{close}" was there to be copied and "{text}" was given'
        return Finding(Cause.GROUNDING, "miscopied", index, reason, said)
    return None


def _from_nowhere(case: Case, index: int, text: str) -> Finding | None:
    """What was given stands neither in the goal nor on a page."""
    said = (f'given: "{text}"',)
    if isinstance(case.trajectory.steps[index].decision.action, Answer):
        if not case.expected and not any(character.isdigit() for character in text):
            return None
        reason = "the answer stands on no page that was seen"
        return Finding(Cause.PLANNING, "unfounded answer", index, reason, said)
    untyped = [term for term in quoted(case.goal) if not was_used(case, term)]
    if not untyped and len(text.split()) > 1:
        return None
    wish = f', while the goal has "{untyped[0]}"' if untyped else ""
    reason = f'"{text}" stands neither in the goal nor on a page{wish}'
    return Finding(Cause.GROUNDING, "made-up value", index, reason, said)


def _lost(case: Case, index: int, text: str) -> Finding | None:
    """The value that the check expects had been seen and was not what was given."""
    action = case.trajectory.steps[index].decision.action
    is_last_word = isinstance(action, Answer) or index >= case.last_step - 1
    missing = [value for value in case.expected if not was_given(case, value)]
    if not missing or not is_last_word:
        return None
    for value in missing:
        where = [i for i, page in enumerate(case.texts) if stands_in(value, page)]
        if not where or stands_in(value, case.goal):
            continue
        said = (f'seen on page {where[-1] + 1}: "{value}"', f'given: "{text}"')
        if page_of(case.seen[where[-1]]) != page_of(case.seen[index]):
            reason = f'"{value}" had been seen on page {where[-1] + 1} and was not given'
            return Finding(Cause.MEMORY, "lost", index, reason, said)
        reason = f'"{value}" stood on the page, and "{text}" was given'
        return Finding(Cause.GROUNDING, "misread", index, reason, said)
    return None


def _beside_its_label(case: Case, index: int, text: str) -> Finding | None:
    """A line of a page had what the goal asks for by its label, and something else was given."""
    if not text or stands_in(text, case.goal):
        return None
    for number in range(index, -1, -1):
        for label, value in case.labels[number]:
            if was_given(case, value) or is_same(value, text):
                continue
            said = (f"{label}: {value}", f'given: "{text}"')
            if page_of(case.seen[number]) != page_of(case.seen[index]):
                reason = f'"{value}" had stood beside "{label}" on page {number + 1}'
                return Finding(Cause.MEMORY, "lost", index, reason, said)
            reason = f'"{value}" stands beside "{label}", and "{text}" was given'
            return Finding(Cause.GROUNDING, "misread", index, reason, said)
    return None


def _whole_of(case: Case, text: str) -> str:
    """The quoted term of which the text is but some words; empty where it was given in full."""
    for term in quoted(case.goal):
        is_part = words_of(text) and words_of(text) < words_of(term)
        if is_part and not is_same(text, term) and not was_given(case, term):
            return term
    return ""
