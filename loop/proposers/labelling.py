"""Backward labelling, the actions: what an episode did, and which of its beginnings are tasks."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from loop.proposers.goals import (
    FilledField,
    FormSubmission,
    PageAction,
    PageVisit,
    is_brief,
    is_label,
    is_mentioned,
    is_search,
    is_time_text,
    is_title,
    name_template,
)
from loop.proposers.page_forms import (
    ENTER,
    find_facts,
    find_field,
    find_forms,
    find_heading,
    find_menu,
    find_subject,
    is_in_menu,
    is_telling_name,
    is_typed,
)
from loop.proposers.territory import is_form_link, is_preview
from webagent.action import Action, is_final
from webagent.action.actions import (
    Answer,
    Check,
    Click,
    Fill,
    GoBack,
    Goto,
    Press,
    SelectOption,
    Uncheck,
)
from webagent.policy.past_actions import find_detours, page_appearance
from webagent.records import Decision, Node, Observation, Step, Trajectory
from worldmodel.kinds import mask_address

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class CompletedAction:
    """An action on a page with the step that completed it, counted from 0."""

    step: int
    page_action: PageAction


def find_page_actions(steps: Sequence[Step], last: Observation | None) -> list[CompletedAction]:
    """Return what was done, step by step, without what changed nothing on the page."""
    if not steps:
        return []
    reader = _ActionReader(find_menu(steps[0].observation))
    for index, step in enumerate(steps):
        after = steps[index + 1].observation if index + 1 < len(steps) else last
        if after is not None and not is_final(step.decision.action):
            reader.read_step(index, step.observation, step.decision.action, after)
    return reader.found


def find_same_buttons(page: Observation, button: Node) -> list[Node]:
    """Return the page's buttons of this name; a list has one for each thing."""
    return [n for n in page.nodes if n.mark and n.role == "button" and n.name == button.name]


def find_list_item(page: Observation, button: Node) -> str:
    """Return what a button in a list belongs to: the last link above it that names something."""
    above = page.nodes[: page.nodes.index(button)]
    named = (n.name for n in reversed(above) if n.role == "link" and is_telling_name(n.name))
    return next(named, "")


def is_walk(step: Step) -> bool:
    """Return whether a step only went from page to page."""
    action = step.decision.action
    node = step.observation.node(getattr(action, "mark", 0))
    is_link = isinstance(action, Click) and node is not None and node.role == "link"
    return is_link or isinstance(action, GoBack | Goto)


@dataclass(slots=True)
class _ActionReader:
    """Keeps what was entered and what the page is about while an episode goes on."""

    menu: Mapping[str, tuple[int, int]]
    found: list[CompletedAction] = field(default_factory=list)
    pending: dict[str, FilledField] = field(default_factory=dict)
    """By label, what was entered and not sent yet."""
    subject: str = ""
    is_particular: bool = False

    def read_step(self, index: int, page: Observation, action: Action, after: Observation) -> None:
        """Add what an action completed, from the pages before and after it."""
        if entered := _read_entry(page, action):
            self.pending[entered.label] = entered
            return
        node = page.node(getattr(action, "mark", 0))
        if isinstance(action, Goto | GoBack):
            self.subject, self.is_particular = find_subject(after), "*" in mask_address(after.url)
            self.pending = {}
        has_moved = page.url != after.url
        if node is None or not (
            has_moved
            or (after.outcome != "no effect" and page_appearance(page) != page_appearance(after))
        ):
            return
        leads = not self.pending and is_form_link(node.name) and has_moved
        if isinstance(action, Click) and (node.role == "link" or leads):
            self._follow(node, page, after)
            opened = PageVisit(node.name, after.title, mask_address(after.url))
            self.found.append(CompletedAction(index, opened))
        elif node.role == "button" or isinstance(action, Press):
            button = node.name if node.role == "button" else ENTER
            if not is_preview(button):
                self._submit(index, page, node, button, after)
            entries = [entry for form in find_forms(after) for entry in form.fields]
            values = {entry.label: entry.node.value for entry in entries if is_typed(entry.node)}
            values |= {entry.label: entry.node.value for entry in entries if entry.options}
            self.pending = {
                label: each
                for label, each in self.pending.items()
                if values.get(label) == each.value
            }

    def _submit(
        self, index: int, page: Observation, node: Node, button: str, after: Observation
    ) -> None:
        """Add the form that was sent, and read what the next page is about."""
        fields = tuple(self.pending.values())
        # The heading of a form stands above its first field.
        held = (
            f.fields for f in find_forms(page) if node in [*f.buttons, *(x.node for x in f.fields)]
        )
        first = next(held, ())
        heading = find_heading(page, first[0].node.mark if first else node.mark)
        subject, is_particular = self.subject, self.is_particular
        if not fields and len(find_same_buttons(page, node)) > 1:
            subject, is_particular = find_list_item(page, node), True
        sent = FormSubmission(button, heading, fields, subject, is_particular)
        self.found.append(CompletedAction(index, sent))
        titled = next((f.value for f in fields if is_title(f.label)), "")
        self.subject = find_subject(after) or titled or self.subject
        self.is_particular = bool(self.subject)

    def _follow(self, link: Node, page: Observation, after: Observation) -> None:
        """Read what the next page is about, and whether it is one of many."""
        self.pending = {}
        if is_in_menu(link, self.menu):
            self.subject, self.is_particular = "", False
            return
        if is_form_link(link.name):
            self.subject = (self.subject or find_subject(page)) if self.is_particular else ""
            return
        headings = [after.title, *(n.name for n in after.nodes if n.kind in ("h1", "h2", "h3"))]
        is_named = is_telling_name(link.name) and is_mentioned(link.name, " ".join(headings))
        self.is_particular = "*" in mask_address(after.url)
        subject = find_subject(after) or (link.name if is_named else "")
        self.subject = subject if self.is_particular else ""


def _read_entry(page: Observation, action: Action) -> FilledField | None:
    """Return what an action put into a field; None where it entered nothing."""
    entry = find_field(page, getattr(action, "mark", 0))
    if entry is None:
        return None
    match action:
        case Fill(text=text):
            return FilledField(entry.label, "textbox", text)
        case SelectOption(option=option):
            return FilledField(entry.label, "combobox", option)
        case Check() | Click() if entry.node.role == "radio":
            return FilledField(entry.label, "radio", "chosen")
        case Check() | Click() if entry.node.role in ("checkbox", "switch"):
            was = "checked" in entry.node.states and isinstance(action, Click)
            return FilledField(entry.label, "checkbox", "unchecked" if was else "checked")
        case Uncheck():
            return FilledField(entry.label, "checkbox", "unchecked")
    return None


@dataclass(frozen=True, slots=True)
class TaskCandidate:
    """The beginning of an episode that may be the solution of a task."""

    episode: Trajectory
    steps: tuple[Step, ...]
    """Detours cut out."""
    last: Observation
    page_actions: tuple[PageAction, ...]
    surprise: float = 0.0
    """Of the step that completed the last action."""
    whole: int = 0
    """Steps before the detours were cut out."""


def _is_new(page_action: PageAction, kept: Counter[str]) -> bool:
    """Return whether fewer than two submissions, or one other action, of its kind were kept."""
    name = name_template(page_action)
    is_new = kept[name] < (2 if isinstance(page_action, FormSubmission) else 1)
    kept[name] += is_new
    return is_new


def find_candidates(
    episode: Trajectory,
    kept: Counter[str],
    rng: "np.random.Generator",
    surprises: Sequence[float] = (),
) -> list[TaskCandidate]:
    """Return what can be made of an episode's prefixes, in order, without what says nothing new.

    `kept` counts the kinds of actions of all episodes so far, and goes on to.
    """
    found = []
    completed = find_page_actions(episode.steps, episode.last)
    for each in completed:
        last = episode.page_after(each.step)
        if last is None:
            continue
        steps = remove_detours(episode.steps[: each.step + 1], last)
        page_actions = _select_actions(steps, last)
        if page_actions and _fit_a_task(page_actions) and _is_new(page_actions[-1], kept):
            surprise = surprises[each.step] if each.step < len(surprises) else 0.0
            found.append(TaskCandidate(episode, steps, last, page_actions, surprise, each.step + 1))
    sent = [c.step for c in completed if isinstance(c.page_action, FormSubmission)]
    questions = _find_questions(episode, min(sent, default=len(episode.steps)), kept, rng)
    return [*found, *questions]


def restore_detours(candidate: TaskCandidate) -> TaskCandidate:
    """Return the candidate with its detours, for one that does not play again without them."""
    steps = candidate.episode.steps[: candidate.whole]
    page_actions = _select_actions(steps, candidate.last)
    return replace(candidate, steps=steps, page_actions=page_actions or candidate.page_actions)


def _select_actions(steps: Sequence[Step], last: Observation) -> tuple[PageAction, ...]:
    """Return the actions that a goal is to name: the last one, and the forms sent before it.

    A search is named alone, and never on the way to something else.
    """
    actions = [each.page_action for each in find_page_actions(steps, last)]
    if not actions or (isinstance(actions[-1], FormSubmission) and is_search(actions[-1])):
        return tuple(actions[-1:])
    forms = [each for each in actions[:-1] if isinstance(each, FormSubmission)]
    sent = [form for form in forms if not is_search(form) and form.button != ENTER]
    return (*sent, actions[-1])


def remove_detours(steps: Sequence[Step], last: Observation) -> tuple[Step, ...]:
    """Return the steps without pages that were left and come back to with nothing entered."""
    left_out = set(find_detours(steps))
    kept = [step for index, step in enumerate(steps) if index not in left_out]
    index = 0
    while index < len(kept):
        again = [
            later
            for later in range(index + 1, len(kept))
            if kept[later].observation.url == kept[index].observation.url
            and all(is_walk(step) for step in kept[index:later])
        ]
        if again:
            del kept[index : again[-1]]
        index += 1
    return _shorten_by_menu(kept)


def _shorten_by_menu(kept: list[Step]) -> tuple[Step, ...]:
    """Return the steps with each walk that ends at a link of the menu begun there at once."""
    index = 0
    while index < len(kept):
        page = kept[index].observation
        menu = find_menu(page)
        jump, name = index, ""
        for later in range(index + 1, len(kept)):
            if not all(is_walk(step) for step in kept[index:later]):
                break
            step = kept[later]
            link = step.observation.node(getattr(step.decision.action, "mark", 0))
            if link is not None and link.role == "link" and is_in_menu(link, menu):
                jump, name = later, link.name
        if jump > index:
            here = next(n for n in page.nodes if n.mark and n.role == "link" and n.name == name)
            decision = replace(kept[jump].decision, action=Click(here.mark))
            kept[index : jump + 1] = [replace(kept[jump], observation=page, decision=decision)]
        index += 1
    return tuple(kept)


def build_recording(candidate: TaskCandidate, answer: str = "") -> Trajectory:
    """Return the candidate as an episode that ends with an answer, to be played again."""
    final = Step(candidate.last, Decision(Answer(answer), source="demonstration"))
    return replace(candidate.episode, steps=(*candidate.steps, final), last=candidate.last)


def _find_questions(
    episode: Trajectory, end: int, kept: Counter[str], rng: "np.random.Generator"
) -> list[TaskCandidate]:
    """Return a question for one fact of each page that was walked to, up to the step `end`."""
    found = []
    for index in range(1, min(end + 1, len(episode.steps))):
        if not is_walk(episode.steps[index - 1]):
            continue
        page = episode.steps[index].observation
        facts = [
            fact
            for fact in find_facts(page)
            if all(is_brief(text) for text in (fact.subject, fact.label, fact.value))
            and not is_time_text(fact.value)
            and fact.value not in fact.subject
            and any(c.isalnum() for c in fact.value)
        ]
        for place in rng.permutation(len(facts)):
            fact = facts[int(place)]
            alike = {f.value for f in facts if (f.subject, f.label) == (fact.subject, fact.label)}
            if len(alike) == 1 and _is_new(fact, kept):
                steps = remove_detours(episode.steps[:index], page)
                found.append(TaskCandidate(episode, steps, page, (fact,), whole=index))
                break
    return found


def _fit_a_task(page_actions: Sequence[PageAction]) -> bool:
    """Return whether a task can be made of them: few actions, texts that fit into a sentence."""
    last = page_actions[-1]
    if isinstance(last, PageVisit):
        return len(page_actions) == 1 and is_brief(last.title) and is_telling_name(last.link)
    forms = [each for each in page_actions if isinstance(each, FormSubmission)]
    fields = [field for form in forms for field in form.fields]
    return len(page_actions) <= 3 and all(is_brief(f.value) and is_label(f.label) for f in fields)


def find_entries(steps: Sequence[Step]) -> Iterator[tuple[int, str]]:
    """Yield the index of each step that typed or chose something, with what."""
    for index, step in enumerate(steps):
        match step.decision.action:
            case Fill(text=text) if text:
                yield index, text
            case SelectOption(option=option):
                yield index, option
