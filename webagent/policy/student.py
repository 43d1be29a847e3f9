"""A student: a small model in front of a large one, which acts where it is confident enough."""

import json
import math
import os
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from webagent.action import format_action
from webagent.errors import SetupError, StoreError
from webagent.memory import Memory
from webagent.memory.failures import blame_steps
from webagent.memory.goals import read_goal
from webagent.models.weight_notes import check_role, write_role
from webagent.policy.calibration import Calibration, ComparedAnswer
from webagent.policy.past_actions import action_key, find_detours
from webagent.policy.policy import Policy
from webagent.policy.remembering import MEMORY, confidence_of, episode_rng, recollect
from webagent.records import (
    ACTED,
    AGREED,
    ASKED,
    STUDENT,
    SURE,
    Candidate,
    Decision,
    Ending,
    Observation,
    Trajectory,
)

_CONFIDENCE, _LEARNT_FROM = "student_said", "student_learnt_from"
"""Its memory's own confidence, in thousandths, and from how many episodes of the kind it knew."""
SURE_ENOUGH = 0.8
"""Probability of being right from which a student acts by default. Along
demonstrators' way on development seeds, of steps at least as sure 97.6 % were right on 20
small pages and 99.2 % on a shop, as many as of those at least 90 % sure."""
_FILE = "student.json"
_VERSION = 1
_EXPERT_IS_RIGHT = 0.9
"""Assumed probability that a step of the large model is right in a failed episode."""
_ONE_KIND = 0.7
"""Minimum similarity, 1 for identical, of goals of the same kind."""
_FIRST_STUDIED = 25
"""Successes after which the memory is trained on all of them, and again at twice as many."""
_MOST_STUDIED = 60
"""Maximum number of successes it is trained on, the latest ones. Nothing else runs meanwhile, not
even the opening of pages; 200 took four times as long and had the same 178 of 180 steps right."""


@dataclass(frozen=True, slots=True)
class Guess:
    """The action a student would take."""

    decision: Decision
    said: float
    """The confidence of its memory."""
    learnt_from: int
    """Number of episodes of the kind it had learned from."""
    probability: float
    """Calibrated probability of being right."""


@dataclass(slots=True)
class Student:
    """A memory of a large model's actions, with a calibrated confidence.

    `learn` is called with every finished episode; its effect starts with the next decision in any
    episode.
    """

    memory: Memory = field(default_factory=Memory)
    calibration: Calibration = field(default_factory=Calibration)
    learnt_from: Counter[str] = field(default_factory=Counter)
    """Number of episodes without failure, by kind of goal."""
    kinds: dict[str, str] = field(default_factory=dict)
    """Templates of goals to their kind: that of the goals most like them when they were new."""
    sure: float = SURE_ENOUGH
    """Confidence threshold from which it acts."""
    audit: float = 0.05
    """Share of confident steps on which the large model is queried anyway: only they show whether
    the confidence is still justified."""
    folder: Path | None = None
    """Where it is stored; None for only in this process."""
    _successes: list[Trajectory] = field(default_factory=list)
    _next_studied: int = _FIRST_STUDIED
    _fitted: int = 0
    """Answers that the calibration is fitted to."""

    def in_front_of(self, policy: Policy) -> "StudentPolicy":
        """Return a policy that asks this one where the student is not sure."""
        return StudentPolicy(self, policy)

    def guess(self, trajectory: Trajectory, observation: Observation) -> Guess | None:
        """Return the action it would take; None if it remembers nothing similar."""
        found = recollect(self.memory, trajectory, observation, 1)
        if not found:
            return None
        kind, said = self.kind_of(observation.goal), confidence_of(found[0])
        known = self.learnt_from[kind]
        probability = self.calibration.probability(kind, _template(observation.goal), said, known)
        candidate = Candidate(format_action(found[0].action), math.log(max(probability, 1e-9)))
        usage = {ACTED: 1, SURE: round(1000 * probability)}
        decision = replace(found[0], source=STUDENT, candidates=(candidate,), usage=usage)
        return Guess(decision, said, known, probability)

    def learn(self, trajectory: Trajectory, success: float | None) -> int:
        """Keep an episode that has ended, and return how many steps were new.

        A success is done again, a failure (`success` below 0.5) avoided, its steps by what it says
        against each. Where nobody judged, what the large model answered is done again, and what the
        student did itself teaches it nothing.
        """
        if success is None and trajectory.ending not in (Ending.ANSWERED, Ending.TASK_OVER):
            return 0
        has_failed = success is not None and success < 0.5
        if not has_failed:
            self._successes.append(trajectory)
        if trajectory.id in self.memory.episodes:
            return 0
        if has_failed:
            chances = [_chance(step.decision) for step in trajectory.steps]
            return self.memory.avoid(trajectory, blame_steps(chances, chances))
        nowhere = find_detours(trajectory.steps)
        own_words = _template(trajectory.goal)
        kind = self.kinds.setdefault(own_words, self.kind_of(trajectory.goal))
        kept = (step for place, step in enumerate(trajectory.steps) if place not in nowhere)
        self.calibration.answers += [
            ComparedAnswer(
                *(
                    kind,
                    own_words,
                    usage[_CONFIDENCE] / 1000,
                    usage[_LEARNT_FROM],
                    bool(usage[AGREED]),
                )
            )
            for usage in (step.decision.usage for step in kept)
            if usage.get(_CONFIDENCE)
        ]
        own = {i for i, s in enumerate(trajectory.steps) if s.decision.source == STUDENT}
        without = nowhere if success is not None else nowhere | own
        source = "demonstration" if success is None else "success"
        added = self.memory.remember(trajectory, 1.0, source, frozenset(without))
        self.learnt_from[kind] += bool(added)
        if len(self._successes) >= self._next_studied:
            self._next_studied = 2 * len(self._successes)
            self.memory.learn(self._successes[-_MOST_STUDIED:])
        if len(self.calibration.answers) >= self._fitted + 3 + self._fitted // 20:
            self._fitted = len(self.calibration.answers)
            self.calibration.fit()
        return added

    def kind_of(self, goal: str) -> str:
        """Return the kind of a goal, by which episodes are counted and confidence is calibrated."""
        own = _template(goal)
        if own in self.kinds:
            return self.kinds[own]
        index, read = self.memory.index, read_goal(goal)
        like = index.siblings(read, 1)
        if not like or float(index.goal_likeness(read).max()) < _ONE_KIND:
            return own
        return self.kinds.get(_template(like[0].goal.text), own)

    def save(self, folder: Path) -> None:
        """Write it completely or not at all, replacing an earlier version. Raises `StoreError`."""
        about = {
            "version": _VERSION,
            "learnt_from": self.learnt_from,
            "kinds": self.kinds,
            "answers": [asdict(answer) for answer in self.calibration.answers],
        }
        draft = folder.parent / f".{folder.name}.{os.getpid()}"
        try:
            self.memory.save(draft / MEMORY)
            (draft / _FILE).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
            write_role(draft, STUDENT)
            shutil.rmtree(folder, ignore_errors=True)
            draft.rename(folder)
        except OSError as error:
            raise StoreError(f"the student cannot be written to {folder}: {error}") from error
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    @classmethod
    def load(cls, folder: Path, sure: float = SURE_ENOUGH, audit: float = 0.05) -> "Student":
        """Return the student in a folder.

        Raises `UsageError` if the folder contains something else, `SetupError` if it is empty, and
        `StoreError` if it is unreadable.
        """
        check_role(folder, [STUDENT], f"--student {folder}")
        if not (folder / _FILE).is_file():
            raise SetupError(
                f"--student {folder}: no student lies there; give the folder `student` of a run"
                " that had one, or builtin to begin with nothing"
            )
        memory = Memory.load(folder / MEMORY)
        try:
            about = json.loads((folder / _FILE).read_text(encoding="utf-8"))
            answers = [ComparedAnswer(**answer) for answer in about["answers"]]
            known, kinds = Counter[str](about["learnt_from"]), dict(about["kinds"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"{folder / _FILE} cannot be read ({error!r}); begin with --student builtin"
            ) from error
        student = cls(memory, Calibration(answers), known, kinds, sure, audit)
        student._fitted = len(answers)
        return student

    @classmethod
    def at(cls, folder: Path, sure: float = SURE_ENOUGH, audit: float = 0.05) -> "Student":
        """Return the student stored in a folder, or a new one if there is no such folder.

        Raises as `load`.
        """
        student = cls.load(folder, sure, audit) if folder.exists() else cls(sure=sure, audit=audit)
        student.folder = folder
        return student

    def keep(self) -> None:
        """Save it to its folder, if any. Raises `StoreError`."""
        if self.folder is not None:
            self.save(self.folder)


@dataclass(frozen=True, slots=True)
class StudentPolicy:
    """A cascade: the student where it is confident, else the large policy."""

    student: Student
    large: Policy

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Return the student's action, or the large policy's together with the student's guess."""
        guess = self.student.guess(trajectory, observation)
        if guess is not None and self._acts(guess, trajectory, observation):
            return guess.decision
        decision = await self.large.act(trajectory, observation)
        return replace(decision, usage={**decision.usage, **_compare(guess, decision, observation)})

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """Return the student's confident action, else the large policy's proposals."""
        guess = self.student.guess(trajectory, observation)
        if guess is not None and self._acts(guess, trajectory, observation):
            return [guess.decision][:n]
        return await self.large.propose(trajectory, observation, n)

    def _acts(self, guess: Guess, trajectory: Trajectory, observation: Observation) -> bool:
        """Whether it is left to the student: not where its last step came to nothing, nor where the
        large policy is to check on it."""
        if guess.probability < self.student.sure:
            return False
        own = trajectory.steps and trajectory.steps[-1].decision.source == STUDENT
        if own and observation.outcome:
            return False
        # The second number: a large policy that explores goes by the first.
        return bool(episode_rng(trajectory).random(2)[1] >= self.student.audit)


def _template(goal: str) -> str:
    return " ".join(read_goal(goal).template)


def _compare(guess: Guess | None, decision: Decision, observation: Observation) -> dict[str, int]:
    """Return the values stored with a reply of the large policy."""
    if guess is None:
        return {ASKED: 1, AGREED: 0, SURE: 0, _CONFIDENCE: 0, _LEARNT_FROM: 0}
    mine, theirs = (
        tuple(" ".join(part.split()) if isinstance(part, str) else part for part in key)
        for key in (
            action_key(guess.decision.action, observation),
            action_key(decision.action, observation),
        )
    )
    return {
        ASKED: 1,
        AGREED: int(mine == theirs),
        SURE: round(1000 * guess.probability),
        _CONFIDENCE: round(1000 * guess.said),
        _LEARNT_FROM: guess.learnt_from,
    }


def _chance(decision: Decision) -> float:
    """How likely a step of an episode that failed was right: the student's own by what it said, the
    large model's less where the student was sure of something else."""
    usage = decision.usage
    if ASKED not in usage:
        return confidence_of(decision) or _EXPERT_IS_RIGHT
    sure = usage[SURE] / 1000
    return max(_EXPERT_IS_RIGHT, sure) if usage[AGREED] else min(_EXPERT_IS_RIGHT, 1 - sure)
