"""Why an attempt failed, written once it was over, for the next attempt at the same task.

After "Reflexion: Language Agents with Verbal Reinforcement Learning" (Shinn et al. 2023, arXiv
2303.11366). That an attempt failed is said by whoever asks for the reflection, between episodes;
the writer sees the episode and no score. A second attempt with a reflection knows that the first
one failed, so it is measured against a second attempt without one, never against a first.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tasks.task import Task
from webagent.errors import ModelError
from webagent.models.model import Message, Model
from webagent.models.prompt import Prompt, fence, load_prompt
from webagent.policy.knowledge.lived import lived_of, require_finished
from webagent.policy.prompting.wording import line
from webagent.records import Observation, Trajectory

PROMPT = load_prompt(Path(__file__).parents[1] / "prompts" / "reflect.md")
_LONGEST = 1200


@dataclass(frozen=True, slots=True)
class Reflection:
    """What was made of one failed attempt."""

    task: str
    seed: int
    episode: str
    """The id of the attempt."""
    text: str
    weights: str = ""
    """The weights that wrote it."""
    prompt_hash: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)


async def reflect(model: Model, trajectory: Trajectory, *, max_tokens: int = 4000) -> Reflection:
    """Ask why a finished attempt failed; the episode is told within so many tokens.

    Raises `SetupError` for an attempt that is not finished or failed with its world, and
    `ModelError` when the model fails or writes nothing.
    """
    require_finished(trajectory)
    episode = fence("episode", lived_of(trajectory, with_last=True).within(max_tokens))
    messages = (
        Message("system", PROMPT.fill("system")),
        Message("user", PROMPT.fill("user", episode=episode)),
    )
    completion = await model.complete(messages, max_tokens=512)
    text = line(completion.replies[0].text.rpartition("</think>")[2], _LONGEST)
    if not text:
        raise ModelError(f"{model.name} wrote an empty reflection on {trajectory.id}")
    task = trajectory.task
    return Reflection(
        task.id, task.seed, trajectory.id, text, completion.model, PROMPT.hash, completion.usage
    )


class Reflections:
    """Reflections as `Knowledge`: shown in episodes of the same task and seed, and in no other."""

    def __init__(self, reflections: Iterable[Reflection], *, count: int = 3) -> None:
        """The last `count` of an episode are shown."""
        self.prompt: Prompt = PROMPT
        self._count = count
        self._known: dict[tuple[str, int], list[str]] = {}
        for each in reflections:
            self._known.setdefault((each.task, each.seed), []).append(each.text)

    def recall(self, task: Task, goal: str, first: Observation) -> str:
        """What was written of earlier attempts; empty where there were none."""
        texts = self._known.get((task.id, task.seed), [])[-self._count :]
        if not texts:
            return ""
        count = "it" if len(texts) == 1 else f"the last {len(texts)} attempts"
        written = fence("reflections", "\n".join(f"- {text}" for text in texts))
        return PROMPT.fill("shown", count=count, reflections=written)
