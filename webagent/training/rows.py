"""Training rows: what a stored step teaches, as a prompt and the target to write after it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from webagent.models.builtin.network import SLOT_INDEX
from webagent.models.builtin.prefix import Prefix, encode
from webagent.models.builtin.targets import ACTIONS_ALLOWED, ActionGrammar
from webagent.models.builtin.vocabulary import Vocabulary, op_of, split
from webagent.policy.past_actions import find_detours
from webagent.records import Decision, Ending, Trajectory


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """One prompt with the target that should follow it."""

    prefix: Prefix
    inputs: tuple[int, ...]
    """Output ids fed in: the start token, then the target without its last id."""
    slots: tuple[int, ...]
    """Index into `SLOT_KINDS` for each target id."""
    targets: tuple[int, ...]
    weight: float = 1.0
    """Negative for a target to be avoided instead of written."""
    group: str = ""
    """What is balanced against what: the task's name."""

    @property
    def tokens(self) -> int:
        """Prompt and target tokens, the unit of training cost."""
        return len(self.prefix) + len(self.targets)


def make_row(
    grammar: ActionGrammar,
    prefix: Prefix,
    targets: Sequence[int],
    *,
    weight: float = 1.0,
    group: str = "",
) -> TrainingRow:
    """Return the row that teaches `targets` after `prefix`."""
    slots = tuple(SLOT_INDEX[grammar.slot(targets[:i])] for i in range(len(targets)))
    inputs = (grammar.start, *targets[:-1])
    return TrainingRow(prefix, inputs, slots, tuple(targets), weight, group)


def make_policy_rows(
    grammar: ActionGrammar,
    trajectory: Trajectory,
    weight: float = 1.0,
    imitate_random: bool = True,
    unsaid: Counter[str] | None = None,
) -> list[TrainingRow]:
    """Return a row for each step whose action the model can say.

    A step that the built-in policy sampled keeps its sampled ids; others (demonstrations, random
    actions) are encoded. Steps that had no effect and detours are left out, so that a success is
    imitated for what led to it. `imitate_random` says whether random actions are kept. What the
    model has no way to say is counted in `unsaid`, by operation.
    """
    rows = []
    nowhere = find_detours(trajectory.steps)
    for i, step in enumerate(trajectory.steps):
        after = trajectory.page_after(i)
        source = step.decision.source
        had_no_effect = after is not None and bool(after.outcome) and not after.over
        is_detour = i in nowhere and source != "demonstration"
        if had_no_effect or is_detour or (source == "explore" and not imitate_random):
            continue
        prefix = encode(grammar.vocabulary, "policy", step.observation, trajectory.steps[:i])
        targets = _encode_targets(grammar, step.decision, prefix, trajectory.task.viewport)
        if targets:
            group = trajectory.task.name
            rows.append(make_row(grammar, prefix, targets, weight=weight, group=group))
        elif unsaid is not None:
            unsaid[op_of(step.decision.action)] += 1
    return rows


def make_avoided_rows(
    grammar: ActionGrammar, trajectory: Trajectory, weight: float
) -> list[TrainingRow]:
    """Return the last action of a failed episode, to be avoided where it was done.

    Only when the page itself ended the episode: then this action, on this page, was wrong.
    """
    if trajectory.ending is not Ending.TASK_OVER or not trajectory.steps:
        return []
    step, before = trajectory.steps[-1], trajectory.steps[:-1]
    prefix = encode(grammar.vocabulary, "policy", step.observation, before)
    targets = _encode_targets(grammar, step.decision, prefix, trajectory.task.viewport)
    if not targets:
        return []
    return [make_row(grammar, prefix, targets, weight=-weight, group=trajectory.task.name)]


def _encode_targets(
    grammar: ActionGrammar, decision: Decision, prefix: Prefix, viewport: tuple[int, int]
) -> list[int] | None:
    """Return what was sampled under such a grammar, else the action encoded."""
    if decision.sampled_ids and decision.allowed.startswith(ACTIONS_ALLOWED):
        return list(decision.sampled_ids)
    return grammar.codec.encode(decision.action, prefix, viewport)


def grow_vocabulary(vocabulary: Vocabulary, trajectories: Iterable[Trajectory]) -> int:
    """Add the words that recur over these episodes; widget kinds and states count at once."""
    texts, kinds = [], set()
    for trajectory in trajectories:
        words: set[str] = set()
        pages = [step.observation for step in trajectory.steps]
        for page in [*pages, *([trajectory.last] if trajectory.last else [])]:
            words.update(word.key for word in split(page.goal, 64))
            for node in page.nodes:
                words.update(word.key for word in split(f"{node.name} {node.value}"))
                kinds.add(f"{node.role}/{node.kind}" if node.mark else "text")
                kinds.update(f"state:{state}" for state in node.states)
        texts.append(words)
    return vocabulary.grow([kinds], at_least=1) + vocabulary.grow(texts)
