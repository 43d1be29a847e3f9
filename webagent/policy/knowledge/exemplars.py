"""Whole episodes that went well, shown to the model as examples for tasks like theirs.

After "Synapse: Trajectory-as-Exemplar Prompting with Memory" (Zheng et al. 2023, arXiv 2306.07863):
whole trajectories, retrieved by similarity; and "AdaptAgent" (Verma et al. 2024, arXiv 2411.13451):
one or two are enough. There the task's description is compared; here also the first page. They are
chosen once for an episode, by its first page, so that its prompts begin alike.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tasks.task import Task
from webagent.errors import SetupError
from webagent.models.prompt import Prompt, fence, load_prompt
from webagent.observation.variants.pruned import prune
from webagent.policy.knowledge.similarity import compare_by_words
from webagent.policy.knowledge.transcript import Transcript, require_finished, transcribe
from webagent.records import Observation, Trajectory

PROMPT = load_prompt(Path(__file__).parents[1] / "prompts" / "exemplars.md")
_PAGE_TOKENS = 1000
_REMEMBERED = 256
"""Answers kept, so that episodes under way are not searched for again at every turn."""


@dataclass(frozen=True, slots=True)
class Exemplar:
    """One episode, with where it came from."""

    task: str
    """The task's full id."""
    seed: int
    goal: str
    page: str
    """The first page as text, to compare by."""
    transcript: Transcript
    """What was seen, thought and done."""
    source: str
    """The episode's id, behind the run it was played in."""


def exemplar_of(trajectory: Trajectory) -> Exemplar:
    """Return an episode as an example; whether it went well is for the caller to say.

    Raises `SetupError` for one that is not finished, failed with its world, or has no turns.
    """
    require_finished(trajectory)
    if not trajectory.steps:
        raise SetupError(f"the episode {trajectory.id} has no turns; expected one to learn from")
    task = trajectory.task
    page = prune(trajectory.steps[0].observation, _PAGE_TOKENS)
    run = trajectory.provenance.run
    source = f"{run}/{trajectory.id}" if run else trajectory.id
    goal = trajectory.goal or task.goal
    return Exemplar(task.id, task.seed, goal, page, transcribe(trajectory), source)


class Exemplars:
    """A memory of episodes that went well, as `Knowledge`.

    An episode of the very task and seed at hand is never shown, in whatever version of the task.
    """

    def __init__(
        self,
        exemplars: Iterable[Exemplar],
        *,
        count: int = 2,
        max_tokens: int = 1500,
        page_share: float = 0.3,
    ) -> None:
        """`max_tokens` holds for all that are shown together; `page_share` is how much the
        likeness of the first pages counts beside that of the tasks. Raises `SetupError` for bounds
        that leave nothing to show."""
        if count < 1 or max_tokens < 1:
            raise SetupError(f"{count} examples, {max_tokens} tokens; expected at least 1 of both")
        self.prompt: Prompt = PROMPT
        self.exemplars = tuple(sorted(exemplars, key=lambda each: (each.source, each.task)))
        self._count, self._max_tokens, self._page_share = count, max_tokens, page_share
        self._goals = compare_by_words([each.goal for each in self.exemplars])
        self._pages = compare_by_words([each.page for each in self.exemplars])
        self._recalled: dict[tuple[str, int, str, str], str] = {}

    def similar(self, task: Task, goal: str, first: Observation) -> list[Exemplar]:
        """Return the most similar ones, the best first; the same for the same task and page."""
        share = self._page_share
        goals, pages = self._goals(goal), self._pages(prune(first, _PAGE_TOKENS))
        scores = [(1 - share) * a + share * b for a, b in zip(goals, pages, strict=True)]
        order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
        at_hand = task.id.partition("@")[0], task.seed
        chosen = []
        for exemplar in (self.exemplars[place] for place in order if scores[place] > 0):
            if (exemplar.task.partition("@")[0], exemplar.seed) != at_hand:
                chosen.append(exemplar)
        return chosen[: self._count]

    def recall(self, task: Task, goal: str, first: Observation) -> str:
        """Return the most similar episodes, fenced, the best one last; empty for none."""
        key = (task.id, task.seed, goal, prune(first, _PAGE_TOKENS))
        if key in self._recalled:
            return self._recalled[key]
        if len(self._recalled) >= _REMEMBERED:
            self._recalled.clear()
        text = ""
        if chosen := self.similar(task, goal, first):
            room = self._max_tokens // len(chosen)
            shown = [fence("episode", each.transcript.within(room)) for each in reversed(chosen)]
            text = PROMPT.fill("shown", episodes="\n\n".join(shown))
        self._recalled[key] = text
        return text
