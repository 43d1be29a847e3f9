"""The built-in policy: memory first, and the small network where memory does not know."""

import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from webagent.action import Action, format_action
from webagent.action.actions import Answer
from webagent.memory import Memory
from webagent.memory.constants import CONFIDENT, GUESSED, OVERCONFIDENCE, SAMPLED_FROM, SHARPENED
from webagent.models.builtin.model import BuiltinModel
from webagent.models.builtin.network import GeneratedTarget, sample, search
from webagent.models.builtin.prefix import Prefix, encode
from webagent.models.builtin.targets import ActionGrammar, Codec
from webagent.policy.past_actions import ActionKey, action_key, find_tried_actions
from webagent.policy.remembering import (
    MEMORY,
    Exploration,
    confidence_of,
    episode_rng,
    give_up_held_back,
    random_action,
    recollect,
    refuse,
    sampled,
    try_untaught,
)
from webagent.records import Candidate, Decision, Observation, Trajectory


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt waiting for an action; `rng` is None for the most probable action."""

    prefix: Prefix
    rng: np.random.Generator | None


Generate: TypeAlias = Callable[[Request], Awaitable[GeneratedTarget]]


class BuiltinPolicy:
    """Acts greedily, or explores: tempered sampling with a share of random actions.

    All randomness is derived from the episode's provenance and the step, so neither concurrency
    nor batching changes what is done.
    """

    def __init__(
        self,
        model: BuiltinModel,
        grammar: ActionGrammar | None = None,
        exploration: Exploration | None = None,
        batched: Callable[[Callable[[Sequence[Request]], list[GeneratedTarget]]], Generate]
        | None = None,
        memory: Memory | None = None,
    ):
        """`batched` wraps a function over many requests so that concurrent calls share a pass; with
        a `memory` what is remembered is done, and the network acts elsewhere."""
        self.model = model
        self.grammar = grammar or ActionGrammar(Codec(model.vocabulary))
        self.exploration = exploration
        self.memory = memory
        self.weights = model.version

        async def generate_alone(request: Request) -> GeneratedTarget:
            return self._generate_all([request])[0]

        self._generate = batched(self._generate_all) if batched else generate_alone

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """One action in the current state. In practice, which is there to find out, all is tried;
        elsewhere nothing is sent, saved or deleted with little confidence, nor what was held back
        sent another way: the episode is given up."""
        is_exploring = self.exploration is not None
        if not is_exploring and (held_back := give_up_held_back(observation, self.weights)):
            return held_back
        decision = await self._choose(trajectory, observation)
        if self.memory is None or is_exploring:
            return decision
        return refuse(self.memory, decision, trajectory, observation)

    async def _choose(self, trajectory: Trajectory, observation: Observation) -> Decision:
        started = time.monotonic()
        memory, exploration, task = self.memory, self.exploration, trajectory.task.name
        # Where memory holds examples and no try has failed since the latest success, doing as they
        # did is both the likeliest to succeed and what is judged later.
        explores = exploration is not None and (
            memory is None
            or not exploration.where_failed
            or bool(memory.failed[task])
            or not memory.has_examples(task)
        )
        rng = episode_rng(trajectory) if explores else None
        strays = exploration and rng is not None and rng.random() < exploration.random_share
        if rng is not None and memory is not None and not memory.has_examples(task):
            tried = try_untaught(memory, trajectory, observation, rng, SHARPENED)
            if tried is not None:
                return tried
        remembered, is_trusted = self._recollected(trajectory, observation, rng)
        if remembered is not None and is_trusted:
            return remembered
        if strays and exploration is not None and rng is not None:
            action = random_action(observation, rng, exploration.match_share)
            if action is not None:
                return Decision(action, source="explore", weights=self.weights)
        prefix = encode(self.grammar.vocabulary, "policy", observation, trajectory.steps)
        written = await self._generate(Request(prefix, rng))
        repeated = find_tried_actions(trajectory, observation)
        if repeated:
            written = self._fresh(written, prefix, trajectory, observation, repeated)
        if remembered is not None and memory is not None:
            # A goal in other words is no more familiar to the network than to memory.
            familiar = memory.familiarity(observation, trajectory.steps)
            if confidence_of(remembered) >= familiar * math.exp(OVERCONFIDENCE * written.log_prob):
                return remembered
        return self.decision(written, prefix, trajectory, time.monotonic() - started)

    def _recollected(
        self, trajectory: Trajectory, observation: Observation, rng: np.random.Generator | None
    ) -> tuple[Decision | None, bool]:
        """What memory would do, sampled from its proposals while exploring, and whether it knows
        enough to act alone; None where it knows nothing."""
        if self.memory is None:
            return None, False
        # Exploring knows which task this is: what succeeded in other words is done alike.
        count, task = (1, "") if rng is None else (SAMPLED_FROM, trajectory.task.name)
        found = recollect(self.memory, trajectory, observation, count, task)
        if not found:
            return None, False
        is_trusted = confidence_of(found[0]) >= CONFIDENT
        if rng is None or self.exploration is None:
            return found[0], is_trusted
        # An answer that memory does not hold, where it would answer as it has always failed.
        if isinstance(found[0].action, Answer) and rng.random() < GUESSED:
            given = [each.action.text for each in found if isinstance(each.action, Answer)]
            text = self.memory.guess_answer(observation, given, rng)
            if text is not None:
                return Decision(Answer(text), source="explore", weights=self.weights), True
        has_failed = self.memory.has_only_failed(observation.goal)
        return sampled(found, rng, self.exploration.temperature, has_failed), is_trusted

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """The n most probable different actions, those remembered and those of a beam search on
        the scale by which `act` holds them against each other, so that its own comes first.

        One action can be written in several ways; the most probable of them stands for it.
        """
        different: dict[Action, Decision] = {}
        familiar = 1.0
        if self.memory is not None:
            familiar = self.memory.familiarity(observation, trajectory.steps)
            for decision in recollect(self.memory, trajectory, observation, n):
                different[decision.action] = decision
        started = time.monotonic()
        prefix = encode(self.grammar.vocabulary, "policy", observation, trajectory.steps)
        beams = search(self.model.network, self.grammar, prefix, 2 * n)
        seconds = (time.monotonic() - started) / n
        for beam in beams:
            decision = self.decision(beam, prefix, trajectory, seconds)
            if self.memory is not None:
                log_prob = OVERCONFIDENCE * beam.log_prob + math.log(max(familiar, 1e-9))
                held = Candidate(format_action(decision.action), log_prob)
                decision = replace(decision, candidates=(held,))
            known = different.get(decision.action)
            if known is None or confidence_of(known) < confidence_of(decision):
                different[decision.action] = decision
        tried = find_tried_actions(trajectory, observation)

        def standing(decision: Decision) -> tuple[bool, bool, float]:
            is_old = action_key(decision.action, observation) in tried
            confidence, is_known = confidence_of(decision), decision.source == MEMORY
            return is_old and not is_known, not is_known or confidence < CONFIDENT, -confidence

        return sorted(different.values(), key=standing)[:n]

    def decision(
        self, written: GeneratedTarget, prefix: Prefix, trajectory: Trajectory, seconds: float
    ) -> Decision:
        """The record of a generated action."""
        action = self.grammar.codec.decode(written.ids, prefix, trajectory.task.viewport)
        return Decision(
            action,
            prompt_ids=tuple(prefix.ids.tolist()),
            sampled_ids=written.ids,
            log_probs=written.log_probs,
            allowed=self.grammar.name,
            weights=self.weights,
            candidates=(Candidate(format_action(action), written.log_prob),),
            seconds=seconds,
            usage={"input_tokens": len(prefix), "output_tokens": len(written.ids)},
        )

    def _fresh(
        self,
        written: GeneratedTarget,
        prefix: Prefix,
        trajectory: Trajectory,
        observation: Observation,
        tried: frozenset[ActionKey],
    ) -> GeneratedTarget:
        """What was written, or the most probable action that this very page has not seen yet."""

        def is_old(option: GeneratedTarget) -> bool:
            action = self.grammar.codec.decode(option.ids, prefix, trajectory.task.viewport)
            return action_key(action, observation) in tried

        if not is_old(written):
            return written
        beams = search(self.model.network, self.grammar, prefix, len(tried) + 1)
        return next((beam for beam in beams if not is_old(beam)), written)

    def _generate_all(self, requests: Sequence[Request]) -> list[GeneratedTarget]:
        temperature = self.exploration.temperature if self.exploration else 1.0
        prefixes, rngs = [r.prefix for r in requests], [r.rng for r in requests]
        return sample(self.model.network, self.grammar, prefixes, rngs, temperature)
