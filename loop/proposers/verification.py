"""Verification by playing: a proposal's solution passes, and what is no solution fails."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.oracles import ORACLES, OraclePolicy
from benchmarks.rules import checks_hold
from evaluators.evaluator import FunctionEvaluator
from loop.proposers.goals import is_mentioned
from loop.proposers.labelling import find_entries, find_same_buttons
from loop.proposers.page_forms import find_field
from loop.proposers.records import SolveResult
from tasks.proposal import Proposal, Refusal
from tasks.task import Task
from webagent.action import Action, is_final
from webagent.action.actions import Answer, Click, Fill, GiveUp, SelectOption
from webagent.errors import PolicyError
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
    step_timeout: float = 60.0
    on_episode: Callable[[Trajectory], None] | None = None
    steps: int = 0
    """Real steps taken so far, those of failed worlds included."""
    episodes: int = 0
    error: str = ""
    """Of the last episode that the worlds failed at."""

    async def play(self, wanted: Sequence[PlannedPlay], phase: str) -> list[Trajectory | None]:
        """The episodes in order, None for one that the worlds failed at for good.

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
            step_timeout=self.step_timeout,
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


JUDGE = checks_hold()
_BASELINES = ("nothing", "giving up")
ANOTHER = "Quite another thing 71"
"""Typed by a mutant in place of what the goal says."""


@dataclass(frozen=True, slots=True)
class ProofTrial:
    """One episode of a proof."""

    what: str
    """`solution`, `nothing`, `giving up`, or what a mutant did otherwise."""
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
    def solved(self) -> int:
        """How often the solution passed."""
        return sum(trial.is_pass for trial in self._of("solution"))

    @property
    def is_feasible(self) -> bool:
        """Solved at least once, by anyone."""
        return self.solved > 0

    @property
    def are_checks_proven(self) -> bool:
        """Every play of the solution passes, and nothing that is none does; nothing abstains."""
        played = self._of("solution")
        others = [trial for trial in self.trials if trial.what != "solution"]
        return (
            bool(played)
            and all(trial.is_pass for trial in played)
            and all(trial.value is not None and not trial.is_pass for trial in others)
        )

    @property
    def solution(self) -> str:
        """Id of an episode that does the task; empty where none did."""
        return next((trial.episode for trial in self._of("solution") if trial.is_pass), "")

    def refusals(self) -> tuple[Refusal, ...]:
        """Why the proposal is not to be taken; empty for a proven one."""
        played = self._of("solution")
        if not self.is_feasible:
            said = played[0].reason if played else "nobody knows a solution"
            return (Refusal("feasibility", f"its solution does not pass: {said}"),)
        if self.solved < len(played):
            passed = f"its solution passes {self.solved} of {len(played)} times"
            return (Refusal("feasibility", passed),)
        fooled = [trial.what for trial in self.trials if trial.what != "solution" and trial.is_pass]
        if fooled:
            return (Refusal("validity", f"its checks also hold for {', '.join(fooled)}"),)
        silent = [trial for trial in self.trials if trial.value is None]
        if silent:
            said = f"its checks cannot tell of {silent[0].what}: {silent[0].reason}"
            return (Refusal("validity", said),)
        return ()

    def _of(self, what: str) -> list[ProofTrial]:
        return [trial for trial in self.trials if trial.what == what]


@dataclass(frozen=True, slots=True)
class ProofTask:
    """A proposal to be proven, with whatever may solve it."""

    proposal: Proposal
    recording: Trajectory | None = None
    """An episode that is said to be its solution; its last step answers."""
    solver: Policy | None = None
    """Who tries, where there is no recording."""
    plays: int = 2
    """Of the solution, each on a fresh instance."""


async def prove_proposals(
    proof_tasks: Sequence[ProofTask], player: EpisodePlayer, phase: str = "prove"
) -> list[Proof]:
    """Play each proposal's solution, nothing, giving up and the mutants of its solution, each from
    a fresh state, and score all of them by the proposal's checks."""
    baselines: dict[str, int] = {}
    playing: list[PlannedPlay] = []
    places: list[list[tuple[str, int]]] = []
    for proof_task in proof_tasks:
        places.append([])
        for what, each in _list_trials(proof_task):
            number = len(playing)
            if what in _BASELINES:
                number = baselines.setdefault(f"{what} {_describe_start(each.task)}", number)
            if number == len(playing):
                playing.append(each)
            places[-1].append((what, number))
    episodes = await player.play(playing, phase)
    proofs = []
    for proof_task, tried in zip(proof_tasks, places, strict=True):
        task = proof_task.proposal.task
        proofs.append(
            Proof(tuple([await _score_trial(what, episodes[n], task) for what, n in tried]))
        )
    return proofs


async def _score_trial(what: str, episode: Trajectory | None, task: Task) -> ProofTrial:
    if episode is None:
        return ProofTrial(what, None, "the world failed every time")
    score = await JUDGE(replace(episode, task=task))
    return ProofTrial(what, score.value, score.reason, episode.id)


def _describe_start(task: Task) -> str:
    """What an episode in which nothing is done depends on."""
    unnamed = replace(task, id="", goal="", checks=(), template="", skills=(), max_steps=0)
    return dumps(to_json(unnamed)).decode()


async def verify_proposals(
    proof_tasks: Sequence[ProofTask], player: EpisodePlayer, phase: str = "prove"
) -> list[Proposal]:
    """The proposals with what their proofs say of them: a solution, or why they are refused."""
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
    task = proof_task.proposal.task
    found = [("nothing", _play_one(task, Answer())), ("giving up", _play_one(task, GiveUp()))]
    if proof_task.recording is not None:
        solution = ScriptedPolicy(replay_recording(proof_task.recording))
        found.extend(("solution", PlannedPlay(task, solution)) for _ in range(proof_task.plays))
        found.extend(
            (what, PlannedPlay(task, ScriptedPolicy(replay_recording(mutant), name="mutant")))
            for what, mutant in make_mutants(proof_task.recording, task)
        )
    elif proof_task.solver is not None:
        found.extend(
            ("solution", PlannedPlay(task, proof_task.solver)) for _ in range(proof_task.plays)
        )
    return found


def make_mutants(recording: Trajectory, task: Task) -> list[tuple[str, Trajectory]]:
    """What is nearly the solution and is none: another value typed, another option chosen, another
    answer, the last step before the answer left out."""
    found: list[tuple[str, Trajectory]] = []
    steps = recording.steps
    acting = [index for index, step in enumerate(steps) if not is_final(step.decision.action)]
    said = [(place, text) for place, text in find_entries(steps) if is_mentioned(text, task.goal)]
    typed = [place for place, _ in said if isinstance(steps[place].decision.action, Fill)]
    chosen = [place for place, _ in said if place not in typed]
    for text in dict.fromkeys(_typed_text(steps[place]) for place in (*typed[:1], *typed[-1:])):
        changed = tuple(
            _replace_action(step, replace_text(step.decision.action))
            if _typed_text(step) == text
            else step
            for step in steps
        )
        found.append(("another value typed", replace(recording, steps=changed)))
    for place in chosen[:1]:
        if other := _another_option(steps[place]):
            found.append(("another option chosen", _replace_step(recording, place, other)))
    final = steps[-1].decision.action if steps else None
    if isinstance(final, Answer) and final.text:
        wrong = _replace_action(steps[-1], Answer(f"not {final.text}"))
        found.append(("another answer", _replace_step(recording, len(steps) - 1, wrong)))
    if acting and (other := _another_button(steps[acting[-1]])):
        found.append(("another button of that name", _replace_step(recording, acting[-1], other)))
    if acting and not (isinstance(final, Answer) and final.text):
        kept = tuple(step for index, step in enumerate(steps) if index != acting[-1])
        found.append(("the last step left out", replace(recording, steps=kept)))
    return found


def replace_text(action: Action) -> Action:
    """The same with other text, of the kind that the field takes."""
    assert isinstance(action, Fill)
    text = action.text
    if text.replace(".", "", 1).isdigit():
        return Fill(action.mark, str(int(float(text)) + 1))
    if "@" in text:
        return Fill(action.mark, f"another.{text}")
    return Fill(action.mark, ANOTHER)


def _typed_text(step: Step) -> str | None:
    action = step.decision.action
    return action.text if isinstance(action, Fill) else None


def _another_button(step: Step) -> Step | None:
    """The same press on another of the buttons that are called so."""
    page, action = step.observation, step.decision.action
    node = page.node(action.mark) if isinstance(action, Click) else None
    if node is None or node.role != "button":
        return None
    others = [each for each in find_same_buttons(page, node) if each.mark != node.mark]
    return _replace_action(step, Click(others[-1].mark)) if others else None


def _another_option(step: Step) -> Step | None:
    action = step.decision.action
    assert isinstance(action, SelectOption)
    entry = find_field(step.observation, action.mark)
    others = [o for o in (entry.options if entry else ()) if o.strip(" -") and o != action.option]
    return _replace_action(step, SelectOption(action.mark, others[-1])) if others else None


def _replace_step(recording: Trajectory, place: int, step: Step) -> Trajectory:
    steps = recording.steps
    return replace(recording, steps=(*steps[:place], step, *steps[place + 1 :]))


def _replace_action(step: Step, action: Action) -> Step:
    return replace(step, decision=Decision(action, source="demonstration"))


def _play_one(task: Task, action: Action) -> PlannedPlay:
    return PlannedPlay(task, ScriptedPolicy(play_actions([action]), name="baseline"))


CHECKS = checks_hold()
NOTHING: dict[str, Action] = {"doing nothing": Answer(), "giving up": GiveUp()}


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

    async def __call__(self, proposal: Proposal) -> SolveResult | None:
        """What came of it; None where the worlds failed at every try. Raises `ModelError`."""
        fault = await self._fault(proposal.task)
        if fault is None:
            return None
        if fault and self.judge is None:
            return SolveResult(
                False,
                0,
                by=self.name,
                reason=fault,
                fooled_by=fault.removeprefix(_HOLD).strip() if fault.startswith(_HOLD) else "",
            )
        judge = self.judge if fault and self.judge is not None else CHECKS
        reason, tried = "", 0
        for number in range(1, self.tries + 1):
            [episode] = await self._play(proposal.task, [self.policy], f"try {number}")
            if episode is None:
                continue
            tried += 1
            score = await judge(replace(episode, task=proposal.task))
            reason = score.reason
            if score.value is not None and score.value >= 0.5:
                return SolveResult(True, number, episode.id, self.name, not fault, reason)
        if not tried:
            return None
        return SolveResult(False, tried, by=self.name, is_checked=not fault, reason=reason)

    async def _fault(self, task: Task) -> str | None:
        """Why a task's checks cannot tell whether it was done; empty where they can, None where the
        worlds failed."""
        if not task.checks:
            return "it has no checks, and there is no judge"
        idle = [ScriptedPolicy(play_actions([action]), name="idle") for action in NOTHING.values()]
        for what, episode in zip(NOTHING, await self._play(task, idle, "idle"), strict=True):
            if episode is None:
                return None
            score = await CHECKS(replace(episode, task=task))
            if score.value is None:
                return f"its checks cannot tell of {what}: {score.reason}"
            if score.value >= 0.5:
                return f"{_HOLD} {what}"
        return ""

    async def _play(
        self, task: Task, policies: Sequence[Policy], what: str
    ) -> list[Trajectory | None]:
        wanted = [PlannedPlay(task, policy) for policy in policies]
        return await self.player.play(wanted, f"solve {task.id} {what}")


class ParentSolutions:
    """The oracle of the template that a task was made from: it knows how such a goal is done, where
    that is still said in the template's words."""

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """As that oracle. Raises `PolicyError` where there is none, or it cannot read the goal."""
        return await self._of(trajectory.task).act(trajectory, observation)

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """As that oracle. Raises `PolicyError`."""
        return await self._of(trajectory.task).propose(trajectory, observation, n)

    def _of(self, task: Task) -> OraclePolicy:
        name = (task.parent or task.id).rsplit("/", 1)[-1].split("@", 1)[0]
        if name not in ORACLES:
            raise PolicyError(f"no oracle knows how {name} is done")
        return OraclePolicy(name)


_HOLD = "its checks also hold for"
