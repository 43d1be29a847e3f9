"""What happened, as plain values: what was seen, what was done, how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tasks.task import Json, Task
from webagent.action import Action


class Ending(StrEnum):
    """Why an episode is over. Exactly one, always."""

    TASK_OVER = "task over"
    """The page itself declared the task finished, well or badly."""
    ANSWERED = "answered"
    GAVE_UP = "gave up"
    STEP_LIMIT = "step limit"
    POLICY_UNREADABLE = "policy unreadable"
    GUARD_REFUSED = "guard refused"
    WORLD_FAILED = "world failed"
    MODEL_FAILED = "model failed"
    CAPTCHA = "captcha"
    """The site wanted a person."""
    STOPPED = "stopped"
    """Somebody, or a cap on money, tokens or time, ended it before its end."""

    @property
    def is_infrastructure(self) -> bool:
        """Return whether it says nothing about the agent: retried, counted, never scored."""
        return self in (Ending.WORLD_FAILED, Ending.MODEL_FAILED, Ending.CAPTCHA, Ending.STOPPED)


@dataclass(frozen=True, slots=True)
class Node:
    """One line of an observation: an element that can be acted on, or static text (mark 0)."""

    mark: int
    """Number to act on it by; stays with its DOM node for the whole episode. 0: static text."""
    role: str
    """ARIA role, or `text` for static text."""
    name: str
    """Accessible name, or the text itself; for drawn shapes what they look like."""
    value: str = ""
    """Current value of a field: text typed, option selected, slider position."""
    states: tuple[str, ...] = ()
    """Such as checked, unchecked, selected, expanded, collapsed, disabled, focused, hidden-part."""
    box: tuple[int, int, int, int] = (0, 0, 0, 0)
    """CSS pixels of the viewport: left, top, width, height."""
    depth: int = 0
    """Levels of indentation: nesting among the lines shown."""
    kind: str = ""
    """The widget kind behind the role: `input:password`, `span`, `svg:circle`."""
    description: str = ""
    """What is said of it beside its name, such as a hint under a field; only where it is short."""
    continues: bool = False
    """Whether it follows the node before it in a row of a table that is read as one line."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What the agent sees at one moment."""

    goal: str
    url: str
    title: str
    nodes: tuple[Node, ...]
    tabs: tuple[str, ...] = ()
    """Titles of the open tabs, in order."""
    active_tab: int = 0
    focus: int = 0
    """Mark of the focused element, 0 for none."""
    outcome: str = ""
    """What came of the last action: empty when it took effect, else `no effect` or the reason."""
    over: bool = False
    """Whether the page has ended the episode. Says nothing about how well it went."""
    scroll: tuple[int, int] = (0, 0)
    """CSS pixels of the page above and below the viewport."""
    viewport: tuple[int, int] = (0, 0)
    """Width and height in CSS pixels; zeros where it is not known."""
    screenshot: str = ""
    """Reference into the content-addressed image store; empty when none was asked for."""
    captured: str = ""
    """The page in another form, as HTML or an accessibility tree; empty when none was asked for."""

    def node(self, mark: int) -> Node | None:
        """Return the element with this mark, if it is on the page."""
        return next((node for node in self.nodes if mark and node.mark == mark), None)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An action that was considered, with what each part thought of it."""

    action: str
    log_prob: float
    """Log-probability under the policy, natural logarithm."""
    value: float | None = None
    """Score given by look-ahead or a reranker; None when none was computed."""
    expected: str = ""
    """What the world model expects the page to do."""


@dataclass(frozen=True, slots=True)
class Decision:
    """An action with everything needed to train on it later; nothing is ever re-tokenised."""

    action: Action
    thought: str = ""
    source: str = "policy"
    """`policy`, `memory`, `explore` (random), `demonstration`, `lookahead`, `rerank` or
    `best_of_k`."""
    prompt_ids: tuple[int, ...] = ()
    images: tuple[str, ...] = ()
    """References to the images of the prompt, as they were shown, into the image store."""
    sampled_ids: tuple[int, ...] = ()
    log_probs: tuple[float, ...] = ()
    """One for each sampled id, under the same mask and temperature as the sampling."""
    temperature: float = 1.0
    """Of the sampling; 1 where it was greedy."""
    allowed: str = ""
    """Description of the set of actions that was allowed."""
    weights: str = ""
    """Version of the weights that chose."""
    prompt_hash: str = ""
    candidates: tuple[Candidate, ...] = ()
    seconds: float = 0.0
    usage: Mapping[str, int] = field(default_factory=dict)
    """Counts such as `input_tokens`, `output_tokens`, `imagined_steps`."""
    not_done: tuple[str, ...] = ()
    """Further actions in the same reply: one is done a turn."""


@dataclass(frozen=True, slots=True)
class Step:
    """One turn: what was seen and what was done about it. The stored unit."""

    observation: Observation
    decision: Decision
    seconds: float = 0.0
    """Wall time the world took for the action."""


RESTATED = "restated"
"""In the `usage` of an episode's first decision: whether its goal was put in other words."""

PERSON = "person"
"""The `Decision.weights` of what a person did. In an episode of an agent's it takes none of the
steps that the agent may take."""

STUDENT = "student"
"""The `Decision.source` of the student's actions, and the name of its folder."""
ACTED, ASKED, AGREED = "student_acted", "student_asked", "student_agreed"
SURE = "student_sure"
"""Values in `usage` of decisions behind a student: whether it acted or the large model was queried;
whether it would have acted the same, and its confidence, in thousandths."""

SET_APART = ("baseline", "record")
"""Phases that say nothing of a policy: baselines, and what was played to be replayed in one. They
are among a run's episodes only for whoever names them."""


def is_of_policy(phase: str, world: str) -> bool:
    """Return whether episodes of this phase and world count in a policy's figures.

    The one definition of it: baselines, what was recorded to be replayed in one, and imagined
    episodes do not count.
    """
    return phase not in SET_APART and world != "imagined"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an episode came from."""

    world: str = "browser"
    """`browser` or `imagined`."""
    run: str = ""
    arm: str = ""
    repeat: int = 0
    round: int = 0
    phase: str = ""
    """`demonstrate`, `collect`, `imagine`, `evaluate`, or one of `SET_APART`."""
    index: int = 0
    """Place in the phase's plan; with the fields above it names the episode."""
    seeded_from: str = ""
    """For an imagined episode the real state it started from, as `episode id:step`."""

    @property
    def imagined(self) -> bool:
        """Return whether no real page was touched."""
        return self.world == "imagined"


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One episode, finished or under way."""

    id: str
    task: Task
    goal: str = ""
    steps: tuple[Step, ...] = ()
    last: Observation | None = None
    """The page after the last action; None when the world failed before it could be seen."""
    ending: Ending | None = None
    """None while the episode is under way."""
    evidence: Mapping[str, Json] = field(default_factory=dict)
    error: str = ""
    provenance: Provenance = Provenance()
    seconds: float = 0.0
    attempt: int = 1
    """Counts retries after infrastructure failures."""

    def page_after(self, index: int) -> Observation | None:
        """Return the page that the action of step `index` led to, where it was seen."""
        return self.steps[index + 1].observation if index + 1 < len(self.steps) else self.last


@dataclass(frozen=True, slots=True)
class Score:
    """What an evaluator says of a finished trajectory."""

    name: str
    """The score's name, as `success` or `raw_positive`."""
    value: float | None
    """In [0, 1]; None when the evaluator abstains."""
    reason: str
    evaluator: str = ""
    """Which evaluator, with its version or content hash."""
