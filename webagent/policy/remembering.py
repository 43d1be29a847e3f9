"""Actions without a network: those that worked on similar pages, and random ones to explore."""

import hashlib
import math
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from webagent.action import Action, format_action
from webagent.action.actions import Check, Click, Fill, GiveUp, Press, SelectOption, Uncheck
from webagent.guard.writes import NOT_SENT
from webagent.memory import Memory
from webagent.memory.cases import TICKED
from webagent.memory.constants import (
    ALTERNATIVES,
    CONFIDENT,
    DOUBTING,
    MORE_CONFIDENT,
    MOST_REPEATS,
    OVERCONFIDENCE,
    TRUSTED,
)
from webagent.memory.failures import blame_steps
from webagent.memory.goals import QUOTED
from webagent.policy.past_actions import (
    action_key,
    find_detours,
    find_tried_actions,
    page_appearance,
)
from webagent.records import Candidate, Decision, Ending, Observation, Trajectory

MEMORY = "memory"
"""The `Decision.source` of remembered actions."""
_HELD_BACK = re.compile(rf"refused(?: \d+ requests)?: {NOT_SENT}")
_NOTHING = GiveUp("nothing like this was shown")
_TYPED = ("textbox", "searchbox", "spinbutton")


@dataclass(frozen=True, slots=True)
class MemoryPolicy:
    """Does what memory holds of like tasks, and gives up where it holds nothing or is doubtful."""

    memory: Memory

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Return the likeliest action in the current state, or one to give up, as where its
        confidence is no higher than that in any action of the page."""
        if held_back := give_up_held_back(observation, self.memory.version):
            return held_back
        [decision, *_] = await self.propose(trajectory, observation, 1)
        if confidence_of(decision) * sum(bool(node.mark) for node in observation.nodes) < 1:
            decision = replace(decision, action=_NOTHING)
        return refuse(self.memory, decision, trajectory, observation)

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """Return the `n` likeliest actions, best first; giving up where there is none."""
        return recollect(self.memory, trajectory, observation, n) or [
            Decision(_NOTHING, source=MEMORY, weights=self.memory.version)
        ]


@dataclass(frozen=True, slots=True)
class Exploration:
    """Tempered sampling, now and then replaced by a random action."""

    temperature: float = 1.3
    random_share: float = 0.3
    """Share of steps that are random actions."""
    match_share: float = 0.5
    """Share of random actions that go to elements sharing a word with the goal."""
    where_failed: bool = False
    """Whether a task that memory has examples of is explored only after its latest try failed."""


def recollect(
    memory: Memory, trajectory: Trajectory, observation: Observation, count: int, task: str = ""
) -> list[Decision]:
    """Return what memory would do, best first; none where nothing like it is remembered. What
    is remembered of `task`, if it is given, is recalled in whatever words the goal is put.

    What was done on a page that looked the same is done once more where memory is confident, since
    some tasks go the same way twice; not again at once, and not without end.
    """
    started = time.monotonic()
    proposals = memory.propose(observation, trajectory.steps, count + 2, task=task)
    now = page_appearance(observation)
    here = [
        (place, action_key(step.decision.action, step.observation))
        for place, step in enumerate(trajectory.steps)
        if page_appearance(step.observation) == now
    ]
    fresh = []
    for proposal in proposals:
        key = action_key(proposal.action, observation)
        places = [place for place, done in here if done == key]
        is_trusted = proposal.confidence >= TRUSTED and len(places) < MOST_REPEATS
        if not places or (is_trusted and places[-1] + 1 < len(trajectory.steps)):
            fresh.append(proposal)
    fresh = fresh[:count]
    seconds = time.monotonic() - started
    return [
        Decision(
            proposal.action,
            source=MEMORY,
            weights=memory.version,
            candidates=tuple(
                Candidate(format_action(each.action), math.log(max(each.confidence, 1e-9)))
                for each in (proposal, *(other for other in fresh if other is not proposal))
            ),
            seconds=seconds,
        )
        for proposal in fresh
    ]


def try_untaught(
    memory: Memory,
    trajectory: Trajectory,
    observation: Observation,
    rng: np.random.Generator,
    temperature: float,
) -> Decision | None:
    """Return an action for a task without examples, sampled by what other tasks taught and by what
    did not fail; None where nothing can be done that was not done here in this episode."""
    started = time.monotonic()
    here = find_tried_actions(trajectory, observation)
    found = [
        (action, logit / temperature + math.log(share))
        for action, logit, share in memory.weigh_actions(
            observation, trajectory.steps, trajectory.task.name
        )
        if action_key(action, observation) not in here
    ]
    if not found:
        return None
    logits = np.array([logit for _, logit in found])
    chances = np.exp(logits - logits.max())
    chances /= chances.sum()
    chosen = int(rng.choice(len(found), p=chances))
    likeliest = [int(i) for i in np.argsort(-chances)[:ALTERNATIVES] if i != chosen]
    return Decision(
        found[chosen][0],
        source="explore",
        weights=memory.version,
        candidates=tuple(
            Candidate(format_action(found[i][0]), math.log(max(float(chances[i]), 1e-9)))
            for i in (chosen, *likeliest)
        ),
        seconds=time.monotonic() - started,
    )


def confidence_of(decision: Decision) -> float:
    """Return the policy's confidence in the action of a decision."""
    action = format_action(decision.action)
    found = next((c.log_prob for c in decision.candidates if c.action == action), -math.inf)
    return math.exp(found)


def give_up_held_back(observation: Observation, weights: str) -> Decision | None:
    """Return the decision to give up where the guard held back what was just to be sent, so that it
    is not sent another way; None elsewhere."""
    if not _HELD_BACK.search(observation.outcome):
        return None
    return Decision(GiveUp(observation.outcome), source=MEMORY, weights=weights)


def refuse(
    memory: Memory, decision: Decision, trajectory: Trajectory, observation: Observation
) -> Decision:
    """Return the decision, or one to give up where it would send, save or delete something and
    some step up to here is likelier wrong than all are right: a press sends what was filled in
    before, and a tick may be saved at once. So it is where other controls were used afterwards: of
    a task that nobody showed the first press of another's way may write already."""
    if not isinstance(decision.action, Press):
        if not isinstance(decision.action, Click | Check | Uncheck):
            return decision
        node = observation.node(decision.action.mark)
        if node is None or node.role not in ("button", *TICKED):
            return decision
    # A goal in other words takes from every step alike: it does not say which is wrong.
    familiar = max(memory.familiarity(observation, trajectory.steps), 1e-9)
    decisions = [*(step.decision for step in trajectory.steps), decision]
    confidence = math.prod(
        min(1.0, confidence_of(each) / familiar)
        if each.source == MEMORY
        # The power is not taken twice of a proposal that look-ahead weighed: it has it already.
        else min(confidence_of(each), math.exp(OVERCONFIDENCE * sum(each.log_probs)))
        for each in decisions
        if each.candidates
    )
    if confidence >= TRUSTED:
        return decision
    action = format_action(decision.action)
    reason = f"{action} may change something, and the confidence in the steps is {confidence:.0%}"
    return replace(decision, action=GiveUp(reason))


def sampled(
    decisions: Sequence[Decision],
    rng: np.random.Generator,
    temperature: float,
    has_only_failed: bool = False,
) -> Decision:
    """Return one of the decisions: the first where memory is confident, else sampled by confidence
    at this temperature, so that what is tried anew is what was doubtful. Where all own tries have
    failed so far, only what they hardly speak against is not doubted, and the rest the more."""
    if confidence_of(decisions[0]) >= (MORE_CONFIDENT if has_only_failed else CONFIDENT):
        return decisions[0]
    if has_only_failed:
        temperature *= DOUBTING
    logits = np.array([math.log(confidence_of(each) + 1e-9) for each in decisions]) / temperature
    powers = np.exp(logits - logits.max())
    return decisions[int(rng.choice(len(decisions), p=powers / powers.sum()))]


def random_action(
    observation: Observation, rng: np.random.Generator, match_share: float
) -> Action | None:
    """Return a plausible random action: a click, a piece of the goal typed, an option selected.

    None when nothing on the page can be acted on.
    """
    nodes = [
        n for n in observation.nodes if n.mark and n.role != "option" and "disabled" not in n.states
    ]
    if not nodes:
        return None
    words = {w for w in re.findall(r"\w+", observation.goal.lower()) if len(w) > 1}
    matching = [n for n in nodes if words & set(re.findall(r"\w+", n.name.lower()))]
    pool = matching if matching and rng.random() < match_share else nodes
    node = pool[int(rng.integers(len(pool)))]
    if node.kind.startswith("select"):
        behind = observation.nodes[observation.nodes.index(node) + 1 :]
        options = list(takewhile(lambda child: child.role == "option", behind))
        if not options:
            return Click(node.mark)
        return SelectOption(node.mark, options[int(rng.integers(len(options)))].name)
    if node.role in _TYPED or (node.role == "combobox" and node.kind.startswith("input")):
        pieces = [found["quoted"] for found in re.finditer(QUOTED, observation.goal)]
        pieces = pieces or re.findall(r"\w[\w./@-]*", observation.goal)
        text = pieces[int(rng.integers(len(pieces)))] if pieces else ""
        return Fill(node.mark, text) if text else Click(node.mark)
    return Click(node.mark)


def episode_rng(trajectory: Trajectory) -> np.random.Generator:
    """Return random numbers that depend on which episode and step this is alone: an episode that a
    kill cut off is played again as it would have been."""
    key = f"{trajectory.provenance}|{trajectory.task.id}|{trajectory.task.seed}"
    key += f"|{len(trajectory.steps)}"
    digest = hashlib.blake2b(key.encode(), digest_size=8).digest()
    return np.random.default_rng(int.from_bytes(digest))


def is_example(trajectory: Trajectory, success: float | None) -> bool:
    """Return whether an episode shows what to do again: a success that the step limit cut off had
    done the work somewhere on its way and went on, so that it does not show where to stop."""
    return (success or 0.0) >= 0.5 and trajectory.ending is not Ending.STEP_LIMIT


def remember_judged(memory: Memory, episodes: Iterable[tuple[Trajectory, float | None]]) -> int:
    """Keep judged episodes and return how many cases were new: examples to be done again, but for
    steps that led nowhere, and the steps of failures to be avoided, each by what the failure says
    against it. Of a success that is no example nothing is kept."""
    added, episodes = 0, list(episodes)
    for trajectory, _ in episodes:
        for step in trajectory.steps[:1]:
            memory.reader.note(trajectory.task.name, step.observation.goal)
    for trajectory, success in episodes:
        if success is None:
            continue
        if is_example(trajectory, success):
            nowhere = find_detours(trajectory.steps)
            added += memory.remember(trajectory, success, "success", nowhere)
        elif success < 0.5:
            chances = [
                # Next to nothing where it was random, anything where nothing was recorded.
                confidence_of(step.decision) or (0.05 if step.decision.source == "explore" else 0.5)
                for step in trajectory.steps
            ]
            memory.note_failure(trajectory, chances)
            known = [
                max((math.exp(c.log_prob) for c in step.decision.candidates), default=0.5)
                for step in trajectory.steps
            ]
            added += memory.avoid(trajectory, blame_steps(chances, known))
    return added
