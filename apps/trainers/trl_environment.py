"""TRL: `GRPOTrainer(environment_factory=make_environment(url), train_dataset=make_rows(...))`.

TRL (1.16) gives what a tool raises to the model and takes the reward all the same; so a lost
episode says None there, which TRL masks. Where none begins, `reset` raises, and training stops.
"""

from base64 import b64decode
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from itertools import product
from sys import is_finalizing
from typing import Any

from apps.trainers.episode import INSTRUCTION, EpisodeChoice, TrainerEpisode
from apps.trainers.tools import check_names, shape_tool
from webagent.errors import SetupError, UsageError, WorldError

_MASKS_SINCE = (1, 16)
"""The first TRL that is known to leave out rewards of None, not to add them as 0."""


def make_rows(tasks: Iterable[str], seeds: Iterable[int], **more: Any) -> list[dict[str, Any]]:
    """Return rows for `Dataset.from_list`: each task with each seed, which a group plays together.

    `more` is the same in all rows, as `split="train"` or `screenshots=True`.
    """
    same = {"prompt": [{"role": "user", "content": INSTRUCTION + "\n"}], **more}
    return [{**same, "task": task, "seed": seed} for seed, task in product(seeds, tasks)]


def make_environment(url: str, actions: Sequence[str] = (), patience: float = 120.0) -> type:
    """Return the class of an environment whose methods are the actions as tools.

    `url` is that of `webagent serve`; without `actions` there are the usual ones. For `patience`
    seconds an episode that does not begin is tried again. Raises `SetupError` for a wrong address,
    an unknown action, and a TRL that adds lost episodes as 0.
    """
    _check_version()
    TrainerEpisode(url).close()  # tells a wrong address now, not in the middle of training

    class BrowserEnvironment:
        """A browser of `webagent serve`; TRL makes one for each member of a batch."""

        def __init__(self) -> None:
            self._episode = TrainerEpisode(url, patience)

        def reset(
            self, task: str = "", seed: int | None = None, split: str = "", **row: Any
        ) -> Any:
            """Begin the episode of a row. Raises `WorldError` where none begins."""
            if not task or seed is None:
                raise UsageError(
                    "a row lacks task or seed, so the members of its group would play different"
                    " pages; make_rows of apps.trainers.trl_environment makes rows"
                )
            choice = EpisodeChoice(task, seed, split, bool(row.get("screenshots")))
            return _show(self._episode, self._episode.begin(choice))

        def get_reward(self) -> float | None:
            """Return the judge's; None, which TRL masks, where the episode is lost."""
            try:
                return self._episode.verdict().reward
            except WorldError:
                return None

        def __del__(self) -> None:
            if not is_finalizing():  # the process ends, and its sockets with it
                self._episode.close()

    for name in check_names(actions):
        setattr(BrowserEnvironment, name, shape_tool(name, _make_method(name), is_method=True))
    return BrowserEnvironment


def leave_out_lost(reward: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """Return a reward function of yours that says None, too, where the episode is lost.

    TRL sums the rewards that are there: without this, a lost episode would have yours alone.
    """

    @wraps(reward)
    def masked(*arguments: Any, environments: Sequence[Any], **more: Any) -> list[Any]:
        given = reward(*arguments, environments=environments, **more)
        return [
            None if each.get_reward() is None else value
            for each, value in zip(environments, given, strict=True)
        ]

    return masked


def _check_version() -> None:
    try:
        found = version("trl")
    except PackageNotFoundError:  # whoever brings their own trainer
        return
    if tuple(int(part) for part in found.split(".")[:2]) < _MASKS_SINCE:
        raise SetupError(
            f"TRL {found} may add the reward of a lost episode as 0; pip install 'trl>=1.16'"
        )


def _make_method(name: str) -> Callable[..., Any]:
    def method(self: Any, **arguments: Any) -> Any:
        return _show(self._episode, self._episode.act(name, arguments))

    return method


def _show(episode: TrainerEpisode, text: str) -> Any:
    """Return text, or with a screenshot the blocks that TRL takes for a model that sees."""
    image = episode.seen.get("image")
    if image is None or episode.is_over:
        return text
    from PIL import Image

    picture = Image.open(BytesIO(b64decode(image))).convert("RGB")
    return [{"type": "image", "image": picture}, {"type": "text", "text": text}]
