"""The memory: what was demonstrated and done, kept as cases and recalled by likeness."""

import hashlib
import json
import math
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from webagent.action import Action
from webagent.action.actions import Check, Click, GiveUp, Uncheck
from webagent.errors import StoreError
from webagent.memory.action_prior import possible_actions
from webagent.memory.analogy import (
    Proposal,
    Recalled,
    argument_candidates,
    element_candidates,
    familiarity,
    is_overtaken,
    like_cases,
    propose,
    shares,
)
from webagent.memory.answers import guess_answer
from webagent.memory.cases import Case, case_from_json, case_to_json, cases_of, view_of
from webagent.memory.constants import (
    ENOUGH_LESSONS,
    LEAST_BLAME,
    LEAST_PROPOSED,
    LEAST_SHARE,
    MOST_AVOIDED,
    MOST_LESSONS,
    MOST_PROPOSED,
    MOST_RECALLED,
    MOST_SIBLINGS,
    MOST_TRANSFERS,
    PULL_OF_TRANSFER,
    SEVERAL_FAILURES,
)
from webagent.memory.failures import discount
from webagent.memory.goals import FOUND, Goal, read_goal
from webagent.memory.index import FEATURES, WEIGHTS, Array, Index
from webagent.memory.pages import Page, read_page
from webagent.memory.scene import MARKS, Scene, arguments, mark_of, scene_of, signature
from webagent.memory.scorer import Question, Scorer, Sparse, fit
from webagent.memory.tries import FailedTries, key_of_action
from webagent.memory.usage import Usage
from webagent.memory.values import Reader, readings_without_one
from webagent.records import Observation, Step, Trajectory

VERSION = 16
"""Raised when cases are kept in another way; an older memory is rebuilt from its store."""
_PRIOR = "prior"


class MemoryMismatch(StoreError):
    """A memory that another version of this program wrote."""


@dataclass(slots=True)
class Memory:
    """Cases of steps with what was learned of when to trust them."""

    index: Index = field(default_factory=Index)
    avoided: Index = field(default_factory=Index)
    """Steps of episodes that failed; their weights, below zero, are nats."""
    relevance: Array = field(default_factory=lambda: WEIGHTS.copy())
    scorers: dict[str, Scorer] = field(
        default_factory=lambda: {"element": Scorer(), "text": Scorer()}
    )
    reader: Reader = field(default_factory=Reader)
    episodes: dict[str, float] = field(default_factory=dict)
    """Weight by episode remembered."""
    tries: FailedTries = field(default_factory=FailedTries)
    """What was tried without success at tasks without a success."""
    failed: Counter[str] = field(default_factory=Counter)
    """Own failures by task since its latest own success."""
    _usage: Usage = field(default_factory=Usage)
    _fitted: dict[str, tuple[int, Goal]] = field(default_factory=dict)
    """Goals by their text as they were read, with how many cases were known."""

    def __len__(self) -> int:
        return len(self.index.cases) + len(self.avoided.cases)

    def remember(
        self,
        trajectory: Trajectory,
        weight: float = 1.0,
        source: str = "demonstration",
        without: frozenset[int] = frozenset(),
    ) -> int:
        """Keep an episode's steps as cases, at once usable; return how many were new.

        A weight below zero keeps its last step as one to be avoided. Steps whose indices are in
        `without` are left out. An episode that is known is not kept twice.
        """
        if trajectory.id in self.episodes or not trajectory.steps:
            return 0
        self.episodes[trajectory.id] = weight
        if weight > 0:
            self.tries.forget(trajectory.task.name)
            self.failed.pop(trajectory.task.name, None)
        shown = trajectory.steps[0].observation.goal
        goal = self.reader.remember(trajectory) if weight > 0 else self.read(shown)
        found = cases_of(trajectory, weight, source, goal)
        cases = [each for each in found if each.step not in without]
        if weight < 0:
            self.avoided.add(cases[-1])
            return 1
        for case in cases:
            self.index.add(case)
        return len(cases)

    def remember_all(self, trajectories: Sequence[Trajectory]) -> int:
        """Keep episodes that show what to do; the goals are read knowing all of them."""
        for each in trajectories:
            for step in each.steps[:1]:
                self.reader.note(each.task.name, step.observation.goal)
        return sum(map(self.remember, trajectories))

    def avoid(self, trajectory: Trajectory, blame: Sequence[float]) -> int:
        """Keep the steps of an episode that failed as ones to be avoided, each by so many nats;
        return how many were new."""
        if trajectory.id in self.episodes or not trajectory.steps:
            return 0
        self.episodes[trajectory.id] = -1.0
        self.failed[trajectory.task.name] += 1
        shown = trajectory.steps[0].observation.goal
        found = cases_of(trajectory, -1.0, "failure", self.read(shown))
        cases = [
            replace(case, weight=-nats)
            for case, nats in zip(found, blame, strict=True)
            if nats >= LEAST_BLAME
        ]
        for case in cases:
            self.avoided.add(case)
        return len(cases)

    def read(self, text: str) -> Goal:
        """Return a goal with its values, as far as they are known before any page is seen."""
        return self.reader.read(text)

    def scene(self, observation: Observation, steps: Sequence[Step]) -> Scene:
        """Return what a step is chosen from: the page, what was done, and the goal with the values
        that are known from all that was seen."""
        pages = [read_page(each) for each in (*(step.observation for step in steps), observation)]
        goal = self.reader.read(observation.goal, pages)
        if observation.goal not in self.reader.goals and FOUND[0] not in observation.goal:
            goal = self._fit(goal, pages)
        return scene_of(observation, steps, goal)

    def _fit(self, goal: Goal, pages: Sequence[Page]) -> Goal:
        """Return a new goal without those of the values found in it that keep it from being as
        close to a remembered one as it can be."""
        size = len(self.index.cases)
        if (known := self._fitted.get(goal.text)) is not None and known[0] == size:
            return known[1]

        def nearest(goal: Goal) -> float:
            places_of = partial(self.reader.places_of, pages=pages)
            return max(self.index.closeness(goal, places_of), default=0.0)

        best, closest = goal, nearest(goal)
        while others := [read_goal(each) for each in readings_without_one(best.text)]:
            close = [nearest(each) for each in others]
            if max(close) <= closest:
                break
            closest = max(close)
            best = others[close.index(closest)]
        self._fitted[goal.text] = size, best
        return best

    def _view(self, scene: Scene) -> dict[str, Any]:
        """What of a scene cases are compared by, with the places of its values."""
        pages = [scene.page, *(read_page(done.observation) for done in scene.past)]
        return {**view_of(scene), "places of": partial(self.reader.places_of, pages=pages)}

    @property
    def has_prior(self) -> bool:
        """Whether it was learned from other tasks what is done at one without examples."""
        return _PRIOR in self.scorers

    def has_examples(self, task: str) -> bool:
        """Whether an episode of a task is remembered that shows what to do."""
        self._usage.read(self.index.cases)
        return task in self._usage.tasks

    def examples(self) -> list[tuple[str, str]]:
        """Return the tasks that are remembered with each goal that they had."""
        return list(dict.fromkeys((case.task, case.goal.text) for case in self.index.cases))

    def note_failure(self, trajectory: Trajectory, chances: Sequence[float]) -> None:
        """Keep what failed at a task without examples, each step with how likely it was
        to be tried; before the episode is remembered, so that none is kept twice."""
        task, goal = trajectory.task.name, self.read(trajectory.goal)
        if trajectory.id not in self.episodes and not self.has_examples(task):
            keys = (key_of_action(s.decision.action, s.observation, goal) for s in trajectory.steps)
            self.tries.add(task, tuple(zip(keys, chances, strict=True)))

    def recall(
        self, scene: Scene, count: int = MOST_RECALLED, without: str = "", task: str = ""
    ) -> list[Recalled]:
        """Return the cases most like a scene with their shares; `without` names an episode or a
        task that is left out, `task` the one whose goals are taken to be the same in any words."""
        found = self.index.nearest(self._view(scene), count, self.relevance, without, task=task)
        return self._share(scene, found)

    def _share(self, scene: Scene, found: Sequence[tuple[float, Case, Array]]) -> list[Recalled]:
        """The cases with their shares, but for those whose step is not needed any more; and without
        a share the steps that followed the nearest: what these led to."""
        pairs, after = [(score, case) for score, case, _ in found], self.index.next_of
        needed = [pair for pair in pairs if not is_overtaken(scene, pair[1], after(pair[1]))]
        recalled = shares(needed or pairs)
        known = {(case.episode, case.step) for _, case in recalled}
        near = (after(case) for share, case in recalled if share >= LEAST_SHARE)
        led_to = [case for case in near if case and (case.episode, case.step) not in known]
        return [*recalled, *((0.0, case) for case in led_to)]

    def propose(
        self,
        observation: Observation,
        steps: Sequence[Step],
        count: int = 1,
        without: str = "",
        task: str = "",
    ) -> list[Proposal]:
        """Return the likeliest actions on a page after these steps, best first; none where
        nothing like it is remembered. `without` and `task` are as for `recall`."""
        scene = self.scene(observation, steps)
        akin = self.index.siblings(scene.goal, MOST_SIBLINGS, without)
        view = self._view(scene)
        found = self.index.nearest(view, MOST_RECALLED, self.relevance, without, task=task)
        recalled = self._share(scene, found)
        if not self.avoided.cases:
            return propose(scene, recalled, self.scorers, count, akin, task)
        likest = max(self.index.closeness(scene.goal, view["places of"]), default=-math.inf)
        failed = self.avoided.nearest(view, MOST_AVOIDED, self.relevance, without, likest, task)
        best = found[0][0] if found else 0.0
        near, avoided = (
            [(math.exp(min(0.0, score - best)), case) for score, case, _ in cases]
            for cases in (found, failed)
        )
        succeeded = [(closeness, case) for closeness, case in near if case.source == "success"]
        proposals = propose(scene, recalled, self.scorers, max(count, LEAST_PROPOSED), akin, task)
        return discount(scene, proposals, succeeded, avoided)[:count]

    def weigh_actions(
        self, observation: Observation, steps: Sequence[Step], task: str
    ) -> list[tuple[Action, float, float]]:
        """Return everything that could be done on a page for a task without examples: each action
        with its logit by what other tasks taught, and what failed tries left of its probability."""
        scene = self.scene(observation, steps)
        self._usage.read(self.index.cases)
        proposals = self.propose(observation, steps, MOST_PROPOSED)
        found = possible_actions(scene, proposals, self._usage)
        scorer = self.scorers.get(_PRIOR) or Scorer()
        goal = scene.goal
        past = [key_of_action(s.decision.action, s.observation, goal) for s in steps]
        keys = [key_of_action(each.action, observation, goal) for each in found]
        left = self.tries.weigh(task, past, keys)
        return [
            (each.action, scorer.score(each.features), share)
            for each, share in zip(found, left, strict=True)
        ]

    def learn_prior(self, trajectories: Iterable[Trajectory], seed: int = 0) -> float:
        """Learn from remembered episodes, all of a task left out in turn, what is done at a task
        without examples; return the mean loss in nats."""
        self._usage.read(self.index.cases)
        steps = [(t, i) for t in trajectories if t.id in self.episodes for i in range(len(t.steps))]
        order = np.random.default_rng(seed).permutation(len(steps))[:MOST_TRANSFERS]
        questions = []
        for trajectory, i in (steps[int(place)] for place in order):
            step, task = trajectory.steps[i], trajectory.task.name
            before = trajectory.steps[:i]
            proposals = self.propose(step.observation, before, MOST_PROPOSED, task)
            scene = self.scene(step.observation, before)
            found = possible_actions(scene, proposals, self._usage, task)
            right = [_is_same(each.action, step.decision.action) for each in found]
            questions.append(Question([each.features for each in found], right))
        scorer = self.scorers.setdefault(_PRIOR, Scorer())
        return scorer.learn(questions, PULL_OF_TRANSFER)

    def has_only_failed(self, text: str) -> bool:
        """Whether several episodes with such a goal failed, and none of one's own succeeded."""
        goal = self.read(text)
        failed = {case.episode for case in self.avoided.of_goal(goal)}
        if len(failed) < SEVERAL_FAILURES:
            return False
        return all(case.source != "success" for case in self.index.of_goal(goal))

    def guess_answer(
        self, observation: Observation, given: Sequence[str], rng: np.random.Generator
    ) -> str | None:
        """Return a text of the page to answer with where all answers to such a goal have failed so
        far; None elsewhere. `given` are the answers that memory would give, best first."""
        goal = self.read(observation.goal)
        wrong = [case for case in self.avoided.of_goal(goal) if case.op == "answer"]
        if not wrong or self.index.of_goal(goal):
            return None
        failed = [case.constant("text") or "" for case in wrong if case.goal.text == goal.text]
        return guess_answer(observation, given, self.index.answers(goal), failed, rng)

    def learn(self, trajectories: Iterable[Trajectory], seed: int = 0) -> float:
        """Learn from remembered episodes, each left out in turn, which cases and which descriptors
        to trust; return the mean loss of choosing an element, in nats."""
        steps = [(t, i) for t in trajectories if t.id in self.episodes for i in range(len(t.steps))]
        alone: dict[str, bool] = {}
        for trajectory, _ in steps:
            if trajectory.id not in alone:
                goal = self.read(trajectory.steps[0].observation.goal)
                alone[trajectory.id] = not self.index.siblings(goal, 1, trajectory.id)
        # What is done with a goal unlike all others is a poor lesson in analogy, but with one
        # demonstration a task nearly every goal is: better such lessons than next to none.
        like = [each for each in steps if not alone[each[0].id]]
        if len(like) >= ENOUGH_LESSONS or len(steps) < ENOUGH_LESSONS:
            steps = like
        order = np.random.default_rng(seed).permutation(len(steps))[:MOST_LESSONS]
        lessons = [steps[int(i)] for i in order]
        # Weights under which cases of the right kind of step get the most of the recall.
        known = {(case.episode, case.step): case for case in self.index.cases}
        groups: list[tuple[Array, Array]] = []
        for trajectory, i in lessons:
            own = known.get((trajectory.id, i))
            if own is None:
                continue
            scene = self.scene(trajectory.steps[i].observation, trajectory.steps[:i])
            found = self.index.nearest(self._view(scene), 40, WEIGHTS, trajectory.id)
            right = np.array([case.signature == own.signature for _, case, _ in found])
            if right.any() and not right.all():
                groups.append((np.array([features for _, _, features in found]), right))
        self.relevance = _fit_relevance(groups)
        questions: dict[str, list[Question]] = {"element": [], "text": []}
        for trajectory, i in lessons:
            self._ask(trajectory, i, questions)
        for name, each in questions.items():
            self.scorers[name].learn(each)
        return self.scorers["element"].learn(questions["element"])

    def familiarity(self, observation: Observation, steps: Sequence[Step]) -> float:
        """Return how far a goal is put as those remembered are, at most 1."""
        scene = self.scene(observation, steps)
        return familiarity(scene, self.recall(scene))

    def _ask(self, trajectory: Trajectory, i: int, questions: dict[str, list[Question]]) -> None:
        """Add the questions that one step gives, with the candidates that the others give."""
        step = trajectory.steps[i]
        action = step.decision.action
        scene = self.scene(step.observation, trajectory.steps[:i])
        recalled = self.recall(scene, without=trajectory.id)
        mark = mark_of(action, step.observation)
        akin = self.index.siblings(scene.goal, MOST_SIBLINGS, trajectory.id)
        groups = element_candidates(scene, recalled, akin)
        own = signature(action, step.observation, scene.goal).split("|")
        meant = (own[0], own[1] if len(own) > 2 else "")
        found = next((mine for _, mine in groups if mine[0].kind == meant), [])
        right = [candidate.value == mark for candidate in found]
        questions["element"].append(Question([c.features for c in found], right))
        if not any(right):
            return
        element = found[right.index(True)]
        inner = replace(scene, field=mark)
        cases = like_cases(scene, element, recalled)
        named = arguments(action)
        first = next((n for n, _ in named if n in MARKS), "")
        for name, value in named:
            if name != first:
                options = argument_candidates(inner, name, cases, element, akin)
                kind = "element" if name in MARKS else "text"
                right = [same_value(c.value, value) for c in options]
                questions[kind].append(Question([c.features for c in options], right))

    # -- keeping ------------------------------------------------------------------------------

    @property
    def version(self) -> str:
        """Twelve hexadecimal digits that change with what is remembered and what was learned."""
        digest = hashlib.blake2b(digest_size=6)
        for episode, weight in self.episodes.items():
            digest.update(f"{episode} {weight:g};".encode())
        digest.update(self.relevance.tobytes())
        for name, scorer in sorted(self.scorers.items()):
            digest.update(f"{name} {sorted(scorer.weights.items())}".encode())
        return digest.hexdigest()

    def save(self, folder: Path) -> None:
        """Write what was learned as JSON beside the cases. Raises `OSError`."""
        folder.mkdir(parents=True, exist_ok=True)
        about = {
            "version": VERSION,
            "cases": len(self),
            "episodes": self.episodes,
            "tries": self.tries.tries,
            "goals": self.reader.goals,
            "texts": {text: sorted(places) for text, places in sorted(self.reader.texts.items())},
            "failed": self.failed,
            "relevance": dict(zip(FEATURES, self.relevance.tolist(), strict=True)),
            "scorers": {name: scorer.weights for name, scorer in self.scorers.items()},
        }
        (folder / "memory.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        kept = [*self.index.cases, *self.avoided.cases]
        lines = (json.dumps(case_to_json(case), separators=(",", ":")) for case in kept)
        (folder / "cases.jsonl.z").write_bytes(zlib.compress("\n".join(lines).encode("ascii")))

    @classmethod
    def load(cls, folder: Path) -> "Memory":
        """Read a saved memory.

        Raises `MemoryMismatch` for one that another version wrote, to be rebuilt from its store,
        and `StoreError` for one that cannot be read.
        """
        try:
            about = json.loads((folder / "memory.json").read_text(encoding="utf-8"))
            if about["version"] != VERSION:
                raise MemoryMismatch(
                    f"{folder} holds a memory of version {about['version']}; this program reads"
                    f" {VERSION}. Rebuild it from the run's episodes: webagent memory RUN --rebuild"
                )
            lines = zlib.decompress((folder / "cases.jsonl.z").read_bytes()).decode("ascii")
            memory = cls(episodes=dict(about["episodes"]))
            memory.failed.update(about.get("failed", {}))
            memory.reader = Reader(
                {text: set(places) for text, places in about["texts"].items()}, dict(about["goals"])
            )
            as_written = {marked: text for text, marked in memory.reader.goals.items()}
            for marked in as_written:
                memory.reader.learn(marked)
            memory.relevance = np.array([about["relevance"][name] for name in FEATURES])
            memory.scorers = {name: Scorer(dict(w)) for name, w in about["scorers"].items()}
            for task, tried in about.get("tries", {}).items():
                for each in tried:
                    memory.tries.add(task, tuple((int(key), float(p)) for key, p in each))
            for line in lines.splitlines():
                case = case_from_json(json.loads(line))
                (memory.index if case.weight > 0 else memory.avoided).add(case)
                if case.weight > 0:
                    texts = (case.constant(name) for name in ("text", "option"))
                    memory.reader.learn_shapes(filter(None, texts))
                goal = case.goal.text
                memory.reader.note(case.task, as_written.get(goal, goal))
        except (OSError, ValueError, KeyError, TypeError, zlib.error) as error:
            raise StoreError(
                f"no memory can be read from {folder} ({error!r}); rebuild it from the run's"
                " episodes: webagent memory RUN --rebuild"
            ) from error
        return memory


def _is_same(a: Action, b: Action) -> bool:
    """Whether two actions come to the same: a box is ticked by a click, and a reason is any."""
    ticking = (Click, Check, Uncheck)
    if isinstance(a, ticking) and isinstance(b, ticking):
        return a.mark == b.mark
    if isinstance(a, GiveUp) or type(a) is not type(b):
        return type(a) is type(b)
    return all(same_value(getattr(a, n), getattr(b, n)) for n in a.__dataclass_fields__)


def same_value(a: object, b: object) -> bool:
    """Whether two arguments are the same but for white space."""
    if isinstance(a, str) and isinstance(b, str):
        return " ".join(a.split()) == " ".join(b.split())
    return a == b


def _fit_relevance(groups: Sequence[tuple[Array, Array]]) -> Array:
    """Maximise the share of the recall that goes to right cases, pulled towards the prior."""
    if not groups:
        return WEIGHTS.copy()
    features, right = (np.concatenate(each) for each in zip(*groups, strict=True))
    starts = np.cumsum([0, *(len(each) for each, _ in groups[:-1])])
    height, width = features.shape
    rows, columns = np.indices((height, width))
    matrix = Sparse(rows.ravel(), columns.ravel(), features.ravel(), height, width)
    pull = 0.002 * max(1.0, ENOUGH_LESSONS / len(groups))
    return fit(matrix, starts, right, WEIGHTS, pull, 100)[0]
