"""A student takes over what it has seen a large policy do, as far as it is right to be sure."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.fakes.world import FIELD, SUBMIT, FakeWorld, fake_task
from webagent.action import Action
from webagent.action.actions import Click, Fill
from webagent.errors import SetupError, UsageError
from webagent.models.weight_notes import write_role
from webagent.policy.policy import ScriptedPolicy
from webagent.policy.student import Student, StudentPolicy
from webagent.records import ASKED, STUDENT, Decision, Observation, Provenance, Step, Trajectory
from webagent.rollout import run_episode

pytestmark = pytest.mark.slow  # every student learns anew


@dataclass
class Expert:
    """Does the fake task right, and counts how often it is asked."""

    asked: int = 0

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        self.asked += 1
        return await ScriptedPolicy(self._next).act(trajectory, observation)

    async def propose(self, trajectory, observation, n):
        return [await self.act(trajectory, observation)][:n]

    def _next(self, trajectory: Trajectory, page: Observation) -> Action:
        tick, word = page.goal.split('"')[1::2]
        box = next(node.mark for node in page.nodes if node.name == tick)
        return [Click(box), Fill(FIELD, word), Click(SUBMIT)][len(trajectory.steps)]


async def play(policy: StudentPolicy, seed: int) -> tuple[Trajectory, float]:
    episode = await run_episode(
        fake_task(seed), policy, FakeWorld(), provenance=Provenance(index=seed)
    )
    return episode, float(str(episode.evidence.get("reward", 0.0)))


async def taught(count: int = 12) -> tuple[Student, Expert]:
    student, expert = Student(audit=0.0), Expert()
    for seed in range(count):
        student.learn(*await play(StudentPolicy(student, expert), seed))
    return student, expert


async def test_after_some_episodes_the_student_does_the_steps_and_tasks_still_succeed() -> None:
    student, expert = await taught()
    asked = expert.asked
    results = [await play(StudentPolicy(student, expert), seed) for seed in range(50, 60)]
    assert sum(reward for _, reward in results) >= 9
    steps = [step.decision for episode, _ in results for step in episode.steps]
    own = [decision for decision in steps if decision.source == STUDENT]
    assert len(own) >= 0.8 * len(steps) and expert.asked - asked == len(steps) - len(own)
    assert all(ASKED not in decision.usage for decision in own)


async def test_now_and_then_the_large_policy_is_asked_though_the_student_is_sure() -> None:
    student, expert = await taught()
    student.audit = 0.99
    asked = expert.asked
    await play(StudentPolicy(student, expert), 70)
    assert expert.asked > asked


async def test_a_step_of_the_student_that_came_to_nothing_is_followed_by_the_large_policy() -> None:
    student, expert = await taught()
    policy, world = StudentPolicy(student, expert), FakeWorld()
    first = await world.reset(fake_task(80))
    begun = Trajectory("e", fake_task(80), goal=first.goal)
    decision = await policy.act(begun, first)
    assert decision.source == STUDENT
    stuck = replace(begun, steps=(Step(first, decision),))
    after = replace(await world.step(decision.action), outcome="no effect")
    assert (await policy.act(stuck, after)).source != STUDENT


async def test_what_failed_is_trusted_less_and_failed_answers_say_nothing_of_the_student() -> None:
    student, expert = await taught(3)
    page = await FakeWorld().reset(fake_task(90))
    before = student.guess(Trajectory("e", fake_task(90)), page)
    compared = len(student.calibration.answers)
    for seed in range(30, 33):
        episode, _ = await play(StudentPolicy(Student(), expert), seed)
        student.learn(replace(episode, id=f"bad-{seed}"), 0.0)
    after = student.guess(Trajectory("e", fake_task(90)), page)
    assert before and after and after.said < before.said
    assert len(student.calibration.answers) == compared


async def test_without_a_verdict_it_learns_from_the_large_policy_and_not_from_itself() -> None:
    expert = Expert()
    student = Student(audit=0.0)
    episode, _ = await play(StudentPolicy(student, expert), 0)
    assert student.learn(episode, None) == len(episode.steps)
    steps = tuple(
        replace(step, decision=replace(step.decision, source=STUDENT)) for step in episode.steps
    )
    assert student.learn(replace(episode, id="own", steps=steps), None) == 0


async def test_a_saved_student_does_the_same(tmp_path: Path) -> None:
    student, _ = await taught()
    student.save(tmp_path / "student")
    student.save(tmp_path / "student")
    again = Student.load(tmp_path / "student", audit=0.0)
    page = await FakeWorld().reset(fake_task(90))
    mine = student.guess(Trajectory("e", fake_task(90)), page)
    theirs = again.guess(Trajectory("e", fake_task(90)), page)
    assert mine and theirs and mine.decision.action == theirs.decision.action
    assert mine.probability == pytest.approx(theirs.probability, abs=0.02)
    assert Student.at(tmp_path / "new").folder == tmp_path / "new"


def test_a_folder_of_another_role_or_of_nothing_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="no student lies there"):
        Student.load(tmp_path)
    write_role(tmp_path, "world")
    with pytest.raises(UsageError, match="trained to be a world"):
        Student.load(tmp_path)
