"""The proof of a proposal: its solution passes, and what is no solution fails."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks.rules import checks_hold
from loop.proposers.backward import is_told
from loop.proposers.explore_pages import field_of
from loop.proposers.label import fills
from loop.proposers.label_deeds import same_buttons
from loop.proposers.prove_stage import Playing, Stage
from tasks.proposal import Proposal, Refusal
from tasks.task import Task
from webagent.action import Action, is_final
from webagent.action.actions import Answer, Click, Fill, GiveUp, SelectOption
from webagent.policy.policy import Policy, ScriptedPolicy, play_actions, replay_recording
from webagent.records import Decision, Step, Trajectory
from webagent.serialize import dumps, to_json

JUDGE = checks_hold()
_BASELINES = ("nothing", "giving up")
ANOTHER = "Quite another thing 71"
"""Typed by a mutant in place of what the goal says."""


@dataclass(frozen=True, slots=True)
class Trial:
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

    trials: tuple[Trial, ...]

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

    def _of(self, what: str) -> list[Trial]:
        return [trial for trial in self.trials if trial.what == what]


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposal to be proven, with whatever may solve it."""

    proposal: Proposal
    recording: Trajectory | None = None
    """An episode that is said to be its solution; its last step answers."""
    solver: Policy | None = None
    """Who tries, where there is no recording."""
    plays: int = 2
    """Of the solution, each on a fresh instance."""


async def prove(drafts: Sequence[Draft], stage: Stage, phase: str = "prove") -> list[Proof]:
    """Play each proposal's solution, nothing, giving up and the mutants of its solution, each from
    a fresh state, and score all of them by the proposal's checks."""
    baselines: dict[str, int] = {}
    playing: list[Playing] = []
    places: list[list[tuple[str, int]]] = []
    for draft in drafts:
        places.append([])
        for what, each in _trials(draft):
            number = len(playing)
            if what in _BASELINES:
                number = baselines.setdefault(f"{what} {_asked(each.task)}", number)
            if number == len(playing):
                playing.append(each)
            places[-1].append((what, number))
    episodes = await stage.play(playing, phase)
    proofs = []
    for draft, tried in zip(drafts, places, strict=True):
        task = draft.proposal.task
        proofs.append(Proof(tuple([await _trial(what, episodes[n], task) for what, n in tried])))
    return proofs


async def _trial(what: str, episode: Trajectory | None, task: Task) -> Trial:
    if episode is None:
        return Trial(what, None, "the world failed every time")
    score = await JUDGE(replace(episode, task=task))
    return Trial(what, score.value, score.reason, episode.id)


def _asked(task: Task) -> str:
    """What an episode in which nothing is done depends on."""
    unnamed = replace(task, id="", goal="", checks=(), template="", skills=(), max_steps=0)
    return dumps(to_json(unnamed)).decode()


async def proven(drafts: Sequence[Draft], stage: Stage, phase: str = "prove") -> list[Proposal]:
    """The proposals with what their proofs say of them: a solution, or why they are refused."""
    proofs = await prove(drafts, stage, phase)
    return [
        replace(
            draft.proposal,
            solution=draft.proposal.solution or proof.solution,
            refusals=(*draft.proposal.refusals, *proof.refusals()),
        )
        for draft, proof in zip(drafts, proofs, strict=True)
    ]


def _trials(draft: Draft) -> list[tuple[str, Playing]]:
    task = draft.proposal.task
    found = [("nothing", _listed(task, Answer())), ("giving up", _listed(task, GiveUp()))]
    if draft.recording is not None:
        solution = ScriptedPolicy(replay_recording(draft.recording))
        found.extend(("solution", Playing(task, solution)) for _ in range(draft.plays))
        found.extend(
            (what, Playing(task, ScriptedPolicy(replay_recording(mutant), name="mutant")))
            for what, mutant in mutants(draft.recording, task)
        )
    elif draft.solver is not None:
        found.extend(("solution", Playing(task, draft.solver)) for _ in range(draft.plays))
    return found


def mutants(recording: Trajectory, task: Task) -> list[tuple[str, Trajectory]]:
    """What is nearly the solution and is none: another value typed, another option chosen, another
    answer, the last step before the answer left out."""
    found: list[tuple[str, Trajectory]] = []
    steps = recording.steps
    acting = [index for index, step in enumerate(steps) if not is_final(step.decision.action)]
    said = [(place, text) for place, text in fills(steps) if is_told(text, task.goal)]
    typed = [place for place, _ in said if isinstance(steps[place].decision.action, Fill)]
    chosen = [place for place, _ in said if place not in typed]
    for text in dict.fromkeys(_text(steps[place]) for place in (*typed[:1], *typed[-1:])):
        changed = tuple(
            _with(step, replace_text(step.decision.action)) if _text(step) == text else step
            for step in steps
        )
        found.append(("another value typed", replace(recording, steps=changed)))
    for place in chosen[:1]:
        if other := _another_option(steps[place]):
            found.append(("another option chosen", _swapped(recording, place, other)))
    final = steps[-1].decision.action if steps else None
    if isinstance(final, Answer) and final.text:
        wrong = _with(steps[-1], Answer(f"not {final.text}"))
        found.append(("another answer", _swapped(recording, len(steps) - 1, wrong)))
    if acting and (other := _another_button(steps[acting[-1]])):
        found.append(("another button of that name", _swapped(recording, acting[-1], other)))
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


def _text(step: Step) -> str | None:
    action = step.decision.action
    return action.text if isinstance(action, Fill) else None


def _another_button(step: Step) -> Step | None:
    """The same press on another of the buttons that are called so."""
    page, action = step.observation, step.decision.action
    node = page.node(action.mark) if isinstance(action, Click) else None
    if node is None or node.role != "button":
        return None
    others = [each for each in same_buttons(page, node) if each.mark != node.mark]
    return _with(step, Click(others[-1].mark)) if others else None


def _another_option(step: Step) -> Step | None:
    action = step.decision.action
    assert isinstance(action, SelectOption)
    entry = field_of(step.observation, action.mark)
    others = [o for o in (entry.options if entry else ()) if o.strip(" -") and o != action.option]
    return _with(step, SelectOption(action.mark, others[-1])) if others else None


def _swapped(recording: Trajectory, place: int, step: Step) -> Trajectory:
    steps = recording.steps
    return replace(recording, steps=(*steps[:place], step, *steps[place + 1 :]))


def _with(step: Step, action: Action) -> Step:
    return replace(step, decision=Decision(action, source="demonstration"))


def _listed(task: Task, action: Action) -> Playing:
    return Playing(task, ScriptedPolicy(play_actions([action]), name="baseline"))
