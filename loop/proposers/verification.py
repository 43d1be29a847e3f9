"""Verification by playing: a proposal's solution passes, and what is no solution fails."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.rules import checks_hold
from evaluators.evaluator import FunctionEvaluator
from loop.proposers.goals import is_mentioned
from loop.proposers.labelling import find_entries, find_same_buttons
from loop.proposers.page_forms import find_field
from loop.proposers.records import SolveResult
from tasks.task import Refusal, Task, TaskProposal
from webagent.action import Action, is_final
from webagent.action.actions import Answer, Click, Fill, GiveUp, SelectOption
from webagent.policy.policy import Policy, ScriptedPolicy, play_actions, replay_recording
from webagent.records import Decision, Observation, Provenance, Step, Trajectory
from webagent.rollout import OpenWorld, PlannedEpisode, Recorder, collect
from webagent.serialize import dumps, to_json


@dataclass(frozen=True, slots=True)
class PlannedPlay:
    """One episode that is wanted: a task and who plays it."""

    task: Task
    policy: Policy


@dataclass(slots=True)
class EpisodePlayer:
    """Where episodes are played. The same calls with the same recorder are loaded, not played."""

    open_world: OpenWorld
    recorder: Recorder | None = None
    provenance: Provenance = field(default_factory=Provenance)
    concurrency: int = 1
    on_episode: Callable[[Trajectory], None] | None = None
    steps: int = 0
    """Real steps taken so far, those of failed worlds included."""
    episodes: int = 0
    error: str = ""
    """Of the last episode that the worlds failed at."""

    async def play(self, wanted: Sequence[PlannedPlay], phase: str) -> list[Trajectory | None]:
        """Return the episodes in order, None for one that the worlds failed at for good.

        `phase` tells the calls of one player apart; each needs one of its own.
        """
        provenance = replace(self.provenance, phase=phase)
        plan = [
            PlannedEpisode(each.task, replace(provenance, index=index))
            for index, each in enumerate(wanted)
        ]
        played = await collect(
            plan,
            _PolicyByIndex([each.policy for each in wanted]),
            self.open_world,
            concurrency=self.concurrency,
            recorder=self.recorder,
            on_episode=self._count,
        )
        found = {episode.provenance.index: episode for episode in played}
        return [found.get(index) for index in range(len(plan))]

    def _count(self, episode: Trajectory) -> None:
        self.steps += len(episode.steps)
        self.episodes += 1
        self.error = episode.error or self.error
        if self.on_episode is not None:
            self.on_episode(episode)


@dataclass(frozen=True, slots=True)
class _PolicyByIndex:
    """Gives every episode of a plan the policy of its place."""

    policies: Sequence[Policy]

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        policy = self.policies[trajectory.provenance.index]
        return await policy.act(trajectory, observation)

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        policy = self.policies[trajectory.provenance.index]
        return await policy.propose(trajectory, observation, n)


_SCORE_CHECKS = checks_hold()
_ANOTHER_TEXT = "Quite another thing 71"
"""Typed by a mutant in place of what the goal says."""


@dataclass(frozen=True, slots=True)
class ProofTrial:
    """One episode of a proof."""

    what: str
    """`solution`, `doing nothing`, `giving up`, or what a mutant did otherwise."""
    value: float | None
    """Score by the task's own checks."""
    reason: str
    episode: str = ""

    @property
    def is_pass(self) -> bool:
        """Whether the checks took it for a success."""
        return self.value is not None and self.value >= 0.5


@dataclass(frozen=True, slots=True)
class Proof:
    """What solving says of a proposal."""

    trials: tuple[ProofTrial, ...]

    @property
    def solution(self) -> str:
        """Id of an episode that does the task; empty where none did."""
        solved = (t.episode for t in self.trials if t.what == "solution" and t.is_pass)
        return next(solved, "")

    def refusals(self) -> tuple[Refusal, ...]:
        """Return why the proposal is not to be taken.

        Empty where every play of the solution passes, and nothing that is none does or abstains.
        """
        plays = [trial for trial in self.trials if trial.what == "solution"]
        solved = sum(trial.is_pass for trial in plays)
        if not solved:
            reason = plays[0].reason if plays else "nobody knows a solution"
            return (Refusal("feasibility", f"its solution fails: {reason}"),)
        if solved < len(plays):
            passed = f"its solution passes {solved} of {len(plays)} times"
            return (Refusal("feasibility", passed),)
        fooled = [trial.what for trial in self.trials if trial.what != "solution" and trial.is_pass]
        if fooled:
            return (Refusal("validity", f"its checks also hold for {', '.join(fooled)}"),)
        abstained = [trial for trial in self.trials if trial.value is None]
        if abstained:
            reason = f"its checks cannot tell of {abstained[0].what}: {abstained[0].reason}"
            return (Refusal("validity", reason),)
        return ()


@dataclass(frozen=True, slots=True)
class ProofTask:
    """A proposal to be proven, with whatever may solve it."""

    proposal: TaskProposal
    recording: Trajectory | None = None
    """An episode that is said to be its solution; its last step answers."""


async def prove_proposals(
    proof_tasks: Sequence[ProofTask], player: EpisodePlayer, phase: str = "prove"
) -> list[Proof]:
    """Play each proposal's solution twice, nothing, giving up and the mutants of its solution.

    Each play begins in a fresh state and is scored by the proposal's checks; plays of nothing are
    shared by the tasks that begin alike.
    """
    baselines: dict[str, int] = {}
    playing: list[PlannedPlay] = []
    trials: list[list[tuple[str, int]]] = []
    for proof_task in proof_tasks:
        trials.append([])
        for what, each in _list_trials(proof_task):
            number = len(playing)
            if what in ("doing nothing", "giving up"):
                start = replace(
                    each.task, id="", goal="", checks=(), template="", skills=(), max_steps=0
                )
                number = baselines.setdefault(f"{what} {dumps(to_json(start)).decode()}", number)
            if number == len(playing):
                playing.append(each)
            trials[-1].append((what, number))
    episodes = await player.play(playing, phase)
    proofs = []
    for proof_task, planned in zip(proof_tasks, trials, strict=True):
        scored = []
        for what, number in planned:
            episode = episodes[number]
            if episode is None:
                scored.append(ProofTrial(what, None, "the world failed every time"))
                continue
            score = await _SCORE_CHECKS(replace(episode, task=proof_task.proposal.task))
            scored.append(ProofTrial(what, score.value, score.reason, episode.id))
        proofs.append(Proof(tuple(scored)))
    return proofs


async def verify_proposals(
    proof_tasks: Sequence[ProofTask], player: EpisodePlayer, phase: str = "prove"
) -> list[TaskProposal]:
    """Return the proposals with what their proofs say: a solution, or why they are refused."""
    proofs = await prove_proposals(proof_tasks, player, phase)
    return [
        replace(
            proof_task.proposal,
            solution=proof_task.proposal.solution or proof.solution,
            refusals=(*proof_task.proposal.refusals, *proof.refusals()),
        )
        for proof_task, proof in zip(proof_tasks, proofs, strict=True)
    ]


def _list_trials(proof_task: ProofTask) -> list[tuple[str, PlannedPlay]]:
    task, recording = proof_task.proposal.task, proof_task.recording
    found: list[tuple[str, Policy]] = [
        ("doing nothing", ScriptedPolicy(play_actions([Answer()]), name="baseline")),
        ("giving up", ScriptedPolicy(play_actions([GiveUp()]), name="baseline")),
    ]
    if recording is not None:
        found += [("solution", ScriptedPolicy(replay_recording(recording)))] * 2
        found += [
            (what, ScriptedPolicy(replay_recording(mutant), name="mutant"))
            for what, mutant in make_mutants(recording, task)
        ]
    return [(what, PlannedPlay(task, policy)) for what, policy in found]


def make_mutants(recording: Trajectory, task: Task) -> list[tuple[str, Trajectory]]:
    """Return what is nearly the solution and is none.

    Another value typed, another option chosen, another answer, another button of the same name,
    the last step before the answer left out.
    """
    found: list[tuple[str, Trajectory]] = []
    steps = recording.steps

    def add(what: str, place: int, action: Action) -> None:
        changed = (*steps[:place], _replace_action(steps[place], action), *steps[place + 1 :])
        found.append((what, replace(recording, steps=changed)))

    acting = [index for index, step in enumerate(steps) if not is_final(step.decision.action)]
    named = [place for place, text in find_entries(steps) if is_mentioned(text, task.goal)]
    typed = [place for place in named if isinstance(steps[place].decision.action, Fill)]
    chosen = [place for place in named if place not in typed]
    for text in dict.fromkeys(_typed_text(steps[place]) for place in (*typed[:1], *typed[-1:])):
        changed = tuple(
            _replace_action(step, replace_text(step.decision.action))
            if _typed_text(step) == text
            else step
            for step in steps
        )
        found.append(("another value typed", replace(recording, steps=changed)))
    if chosen and (option := _find_another_option(steps[chosen[0]])):
        add("another option chosen", chosen[0], option)
    final = steps[-1].decision.action if steps else None
    answer = final.text if isinstance(final, Answer) else ""
    if answer:
        add("another answer", len(steps) - 1, Answer(f"not {answer}"))
    if acting and (press := _find_another_button(steps[acting[-1]])):
        add("another button of that name", acting[-1], press)
    if acting and not answer:
        kept = tuple(step for index, step in enumerate(steps) if index != acting[-1])
        found.append(("the last step left out", replace(recording, steps=kept)))
    return found


def replace_text(action: Action) -> Action:
    """Return the action with other text, of the kind that the field takes."""
    assert isinstance(action, Fill)
    text = action.text
    if text.replace(".", "", 1).isdigit():
        return Fill(action.mark, str(int(float(text)) + 1))
    return Fill(action.mark, f"another.{text}" if "@" in text else _ANOTHER_TEXT)


def _typed_text(step: Step) -> str | None:
    action = step.decision.action
    return action.text if isinstance(action, Fill) else None


def _find_another_button(step: Step) -> Action | None:
    """Return the same press on another of the buttons that are called so."""
    page, action = step.observation, step.decision.action
    node = page.node(action.mark) if isinstance(action, Click) else None
    if node is None or node.role != "button":
        return None
    others = [each for each in find_same_buttons(page, node) if each.mark != node.mark]
    return Click(others[-1].mark) if others else None


def _find_another_option(step: Step) -> Action | None:
    action = step.decision.action
    assert isinstance(action, SelectOption)
    entry = find_field(step.observation, action.mark)
    others = [o for o in (entry.options if entry else ()) if o.strip(" -") and o != action.option]
    return SelectOption(action.mark, others[-1]) if others else None


def _replace_action(step: Step, action: Action) -> Step:
    return replace(step, decision=Decision(action, source="demonstration"))


@dataclass(slots=True)
class ProposalSolver:
    """Tries proposals with a player, each from a fresh state, until one try succeeds.

    Where a task has checks, they decide: those that hold although nothing was done, or that cannot
    tell then, are no checks at all. Where it has none that can be trusted, the judge decides; with
    no judge the task counts as unsolved.
    """

    policy: Policy
    name: str
    player: EpisodePlayer
    tries: int = 3
    judge: FunctionEvaluator | None = None

    async def __call__(self, proposal: TaskProposal) -> SolveResult | None:
        """Return what came of it; None where the worlds failed every time. Raises `ModelError`."""
        task = proposal.task
        found = await self._find_fault(proposal)
        if found is None:
            return None
        fault, fooled_by = found
        if fault and self.judge is None:
            return SolveResult(False, by=self.name, reason=fault, fooled_by=fooled_by)
        judge = self.judge if fault and self.judge is not None else _SCORE_CHECKS
        reason, tried = "", 0
        for number in range(1, self.tries + 1):
            play = PlannedPlay(task, self.policy)
            [episode] = await self.player.play([play], f"solve {task.id} try {number}")
            if episode is None:
                continue
            tried += 1
            score = await judge(replace(episode, task=task))
            reason = score.reason
            if score.value is not None and score.value >= 0.5:
                return SolveResult(True, number, episode.id, self.name, not fault, reason)
        if not tried:
            return None
        return SolveResult(False, tried, by=self.name, is_checked=not fault, reason=reason)

    async def _find_fault(self, proposal: TaskProposal) -> tuple[str, str] | None:
        """Return why a task's checks cannot tell whether it was done, and what they wrongly take.

        Both are empty where the checks can tell; None where the worlds failed.
        """
        task = proposal.task
        if not task.checks:
            return "it has no checks, and there is no judge", ""
        [proof] = await prove_proposals([ProofTask(proposal)], self.player, f"solve {task.id} idle")
        for trial in proof.trials:
            if not trial.episode:
                return None
            if trial.value is None:
                return f"its checks cannot tell of {trial.what}: {trial.reason}", ""
            if trial.is_pass:
                return f"its checks also hold for {trial.what}", trial.what
        return "", ""
