"""Backward labelling, the actions: what an episode did, and which of its beginnings are tasks."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from loop.proposers.frontier import mask_address
from loop.proposers.goals import (
    FilledField,
    FormSubmission,
    PageAction,
    PageFact,
    PageVisit,
    is_brief,
    is_label,
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


@dataclass(frozen=True, slots=True)
class CompletedAction:
    """A action with the step that completed it, counted from 0."""

    step: int
    page_action: PageAction


def find_page_actions(steps: Sequence[Step], last: Observation | None) -> list[CompletedAction]:
    """What was done, step by step; what changed nothing on the page is left out."""
    if not steps:
        return []
    teller = _ActionReader(find_menu(steps[0].observation))
    for index, step in enumerate(steps):
        after = steps[index + 1].observation if index + 1 < len(steps) else last
        if after is not None and not is_final(step.decision.action):
            teller.tell(index, step.observation, step.decision.action, after)
    return teller.found


def is_one_of_many(page: Observation, button: Node) -> bool:
    """Whether a page has several buttons of this name, as a list has one for each thing."""
    return len(find_same_buttons(page, button)) > 1


def find_same_buttons(page: Observation, button: Node) -> list[Node]:
    """The page's buttons of this name."""
    return [n for n in page.nodes if n.mark and n.role == "button" and n.name == button.name]


def find_list_item(page: Observation, button: Node) -> str:
    """What a button in a list belongs to: the last link above it that names something."""
    above = page.nodes[: page.nodes.index(button)]
    named = (n.name for n in reversed(above) if n.role == "link" and is_telling_name(n.name))
    return next(named, "")


def is_walk(step: Step) -> bool:
    """Whether a step only went from page to page."""
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

    def tell(self, index: int, page: Observation, action: Action, after: Observation) -> None:
        """One step."""
        if entered := _read_entry(page, action):
            self.pending[entered.label] = entered
            return
        node = page.node(getattr(action, "mark", 0))
        if isinstance(action, Goto | GoBack):
            self.subject, self.is_particular = find_subject(after), "*" in mask_address(after.url)
            self.pending = {}
        if node is None or not (
            page.url != after.url
            or (after.outcome != "no effect" and page_appearance(page) != page_appearance(after))
        ):
            return
        leads = not self.pending and is_form_link(node.name) and page.url != after.url
        if isinstance(action, Click) and (node.role == "link" or leads):
            self._go(node, page, after)
            opened = PageVisit(node.name, after.title, mask_address(after.url))
            self.found.append(CompletedAction(index, opened))
        elif node.role == "button" or isinstance(action, Press):
            button = node.name if node.role == "button" else ENTER
            if not is_preview(button):
                fields = tuple(self.pending.values())
                heading = find_heading(page, _first_mark(page, node))
                subject, is_particular = self.subject, self.is_particular
                if not fields and is_one_of_many(page, node):
                    subject, is_particular = find_list_item(page, node), True
                sent = FormSubmission(button, heading, fields, subject, is_particular)
                self.found.append(CompletedAction(index, sent))
                titled = next((f.value for f in fields if is_title(f.label)), "")
                self.subject = find_subject(after) or titled or self.subject
                self.is_particular = bool(self.subject)
            forms = find_forms(after)
            values = {
                f.label: f.node.value for form in forms for f in form.fields if is_typed(f.node)
            }
            values |= {f.label: f.node.value for form in forms for f in form.fields if f.options}
            self.pending = {
                label: each
                for label, each in self.pending.items()
                if values.get(label) == each.value
            }

    def _go(self, link: Node, page: Observation, after: Observation) -> None:
        """What the next page is about, and whether it is one of many."""
        self.pending = {}
        if is_in_menu(link, self.menu):
            self.subject, self.is_particular = "", False
            return
        if is_form_link(link.name):
            self.subject = (self.subject or find_subject(page)) if self.is_particular else ""
            return
        said = f"{after.title} {' '.join(n.name for n in after.nodes if n.kind in _HEADINGS)}"
        is_named = is_telling_name(link.name) and link.name.casefold() in said.casefold()
        self.is_particular = "*" in mask_address(after.url)
        self.subject = find_subject(after) or (link.name if is_named else "")
        if not self.is_particular:
            self.subject = ""


_HEADINGS = ("h1", "h2", "h3")


def _read_entry(page: Observation, action: Action) -> FilledField | None:
    """What an action put into a field."""
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


def _first_mark(page: Observation, button: Node) -> int:
    """The mark of the first field of the button's form, above which its heading stands."""
    for form in find_forms(page):
        if button in form.buttons or button in [f.node for f in form.fields]:
            return form.fields[0].node.mark if form.fields else button.mark
    return button.mark


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

    @property
    def length(self) -> int:
        """Steps it takes."""
        return len(self.steps)


@dataclass(slots=True)
class Pruning:
    """Which prefixes describe something new: how often each kind of action was kept."""

    most: int = 2
    """Candidates of one signature."""
    most_read: int = 1
    """Questions of one signature."""
    kept: Counter[str] = field(default_factory=Counter)
    pruned: int = 0
    """Prefixes that described nothing new."""

    def takes(self, page_action: PageAction) -> bool:
        """Whether a action is of a kind that there are not enough of; it is counted."""
        name = name_template(page_action)
        if self.kept[name] >= (
            self.most if isinstance(page_action, FormSubmission) else self.most_read
        ):
            self.pruned += 1
            return False
        self.kept[name] += 1
        return True


def find_candidates(
    episode: Trajectory,
    pruning: Pruning,
    rng: np.random.Generator,
    surprises: Sequence[float] = (),
) -> list[TaskCandidate]:
    """What can be made of an episode's prefixes, in order, those that say nothing new pruned."""
    found = []
    told = find_page_actions(episode.steps, episode.last)
    for each in told:
        last = find_page_after(episode, each.step)
        if last is None:
            continue
        steps = remove_detours(episode.steps[: each.step + 1], last)
        page_actions = _select_actions(steps, last)
        if page_actions and _is_worth(page_actions) and pruning.takes(page_actions[-1]):
            surprise = surprises[each.step] if each.step < len(surprises) else 0.0
            found.append(TaskCandidate(episode, steps, last, page_actions, surprise, each.step + 1))
    return [*found, *_find_questions(episode, told, pruning, rng)]


def restore_detours(candidate: TaskCandidate) -> TaskCandidate:
    """The candidate with its detours, for one that does not play again without them."""
    steps = candidate.episode.steps[: candidate.whole]
    page_actions = _select_actions(steps, candidate.last)
    return replace(candidate, steps=steps, page_actions=page_actions or candidate.page_actions)


def _select_actions(steps: Sequence[Step], last: Observation) -> tuple[PageAction, ...]:
    """Return the actions that a goal is to name: the last one, and the forms sent before it.

    A search is named alone, and never on the way to something else.
    """
    told = [each.page_action for each in find_page_actions(steps, last)]
    if not told or (isinstance(told[-1], FormSubmission) and is_search(told[-1])):
        return tuple(told[-1:])
    sent = [d for d in told[:-1] if isinstance(d, FormSubmission)]
    done = [d for d in sent if not is_search(d) and d.button != ENTER]
    return (*done, told[-1])


def remove_detours(steps: Sequence[Step], last: Observation) -> tuple[Step, ...]:
    """The steps without detours: pages that were left and come back to with nothing entered."""
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


def _shorten_by_menu(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps with each walk that ends at a link of the menu begun there at once."""
    kept = list(steps)
    index = 0
    while index < len(kept):
        menu = find_menu(kept[index].observation)
        jump = index
        for later in range(index + 1, len(kept)):
            if not all(is_walk(step) for step in kept[index:later]):
                break
            step = kept[later]
            link = step.observation.node(getattr(step.decision.action, "mark", 0))
            if link is not None and link.role == "link" and is_in_menu(link, menu):
                jump = later
        if jump > index:
            kept[index : jump + 1] = [_click_on(kept[index].observation, kept[jump])]
        index += 1
    return tuple(kept)


def _click_on(page: Observation, step: Step) -> Step:
    """A click on a link of the menu, done on another page."""
    link = step.observation.node(getattr(step.decision.action, "mark", 0))
    name = link.name if link else ""
    there = next(n for n in page.nodes if n.mark and n.role == "link" and n.name == name)
    return replace(
        step, observation=page, decision=replace(step.decision, action=Click(there.mark))
    )


def build_recording(
    candidate: TaskCandidate, answer: str = "", steps: Sequence[Step] = ()
) -> Trajectory:
    """The candidate as an episode that ends with an answer, to be played again."""
    whole = tuple(steps or candidate.steps)
    final = Step(candidate.last, Decision(Answer(answer), source="demonstration"))
    return replace(candidate.episode, steps=(*whole, final), last=candidate.last)


def _find_questions(
    episode: Trajectory, told: Sequence[CompletedAction], pruning: Pruning, rng: np.random.Generator
) -> list[TaskCandidate]:
    """A question for one fact of each page that was only walked to."""
    found = []
    for index, step in enumerate(episode.steps):
        if any(isinstance(t.page_action, FormSubmission) and t.step < index for t in told):
            break
        if index == 0 or not is_walk(episode.steps[index - 1]):
            continue
        facts = [fact for fact in find_facts(step.observation) if _is_askable(fact)]
        for place in rng.permutation(len(facts)):
            fact = facts[int(place)]
            if is_alone(fact, facts) and pruning.takes(fact):
                steps = remove_detours(episode.steps[:index], step.observation)
                found.append(TaskCandidate(episode, steps, step.observation, (fact,), whole=index))
                break
    return found


def is_alone(fact: PageFact, facts: Sequence[PageFact]) -> bool:
    """Whether the page gives one value only for what would be asked."""
    alike = {f.value for f in facts if (f.subject, f.label) == (fact.subject, fact.label)}
    return len(alike) == 1


def _is_askable(fact: PageFact) -> bool:
    texts = (fact.subject, fact.label, fact.value)
    return (
        all(is_brief(text) for text in texts)
        and not is_time_text(fact.value)
        and fact.value not in fact.subject
        and any(c.isalnum() for c in fact.value)
    )


def _is_worth(page_actions: Sequence[PageAction]) -> bool:
    """Whether a task can be made of them: few actions, texts that fit into a sentence."""
    last = page_actions[-1]
    if isinstance(last, PageVisit):
        return len(page_actions) == 1 and is_brief(last.title) and is_telling_name(last.link)
    fields = [
        f
        for page_action in page_actions
        if isinstance(page_action, FormSubmission)
        for f in page_action.fields
    ]
    return len(page_actions) <= 3 and all(is_brief(f.value) and is_label(f.label) for f in fields)


def find_entries(steps: Sequence[Step]) -> Iterator[tuple[int, str]]:
    """The steps that typed or chose something, with what."""
    for index, step in enumerate(steps):
        match step.decision.action:
            case Fill(text=text) if text:
                yield index, text
            case SelectOption(option=option):
                yield index, option


def find_page_after(episode: Trajectory, index: int) -> Observation | None:
    """The page that the action of step `index` led to."""
    if index + 1 < len(episode.steps):
        return episode.steps[index + 1].observation
    return episode.last
