"""The policies a benchmark can measure, by the names they are asked for with."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from webagent.errors import PolicyError, SetupError, unknown_name
from webagent.models.model import Model
from webagent.observation.variants import VARIANTS, Variant, variant_named
from webagent.policy.oracles import ORACLES, OraclePolicy
from webagent.policy.policy import Policy
from webagent.records import Decision, Observation, Trajectory
from webagent.store import ImageFolder

KINDS = ("oracle", "model:FOLDER", "endpoint")
MAX_TOKENS = 2000
"""Of a page's text in a prompt, at most; estimated."""


def check(policy: str, model: str, observation: str = "text") -> None:
    """Whether such a policy can be made, without making it. Raises `SetupError`."""
    kind, _, folder = policy.partition(":")
    if kind not in {name.partition(":")[0] for name in KINDS}:
        raise unknown_name("policy", policy, KINDS)
    if kind == "model" and not Path(folder, "config.json").is_file():
        raise SetupError(
            f"--policy {policy}: no saved model in {folder or 'that folder'!r}; "
            "name the folder that `webagent improve` saved weights to, as model:runs/…/policy"
        )
    if kind == "endpoint" and not model:
        raise SetupError("--policy endpoint asks a server for a model by name; give it as --model")
    if variant_named(observation) is not VARIANTS["text"] and kind != "endpoint":
        raise SetupError(
            f"--observation {observation} is for --policy endpoint: {policy} reads the lines alone"
        )


def label(policy: str, model: str) -> str:
    """What the policy is called in tables."""
    kind = policy.partition(":")[0]
    return model if kind == "endpoint" else kind


@asynccontextmanager
async def contestant(
    policy: str,
    model: str,
    images: ImageFolder | None,
    variant: Variant = VARIANTS["text"],
    metered: Callable[[Model], Model] = lambda model: model,
) -> AsyncIterator[Policy]:
    """The policy, ready to act; what it holds is given back at the end.

    `images` holds the screenshots that an endpoint's model is to look at, if any, and `variant` is
    the form in which it is shown pages; `metered` puts a meter on a model that is paid for. Raises
    `SetupError` or `ModelError`.
    """
    check(policy, model, variant.name)
    kind, _, folder = policy.partition(":")
    if kind == "oracle":
        yield Oracles()
    elif kind == "model":
        yield _builtin(Path(folder))
    else:
        from webagent.models import Endpoint, EndpointModel
        from webagent.policy.language import LanguagePolicy

        served = metered(EndpointModel(Endpoint(model, images=images is not None)))
        try:
            yield LanguagePolicy(
                served,
                partial(_write, variant),
                images=images.get if images else None,
                variant=variant,
            )
        finally:
            await served.close()


def _write(variant: Variant, page: Observation) -> str:
    return variant.write(page, MAX_TOKENS)


def _builtin(folder: Path) -> Policy:
    from webagent.models.builtin.model import BuiltinModel
    from webagent.policy.builtin import BuiltinPolicy
    from webagent.rollout import Batcher

    return BuiltinPolicy(BuiltinModel.load(folder), batched=Batcher)


class Oracles:
    """The oracle of whichever task is played; a task without one is a failure like any other."""

    def __init__(self) -> None:
        self._oracles: dict[str, OraclePolicy] = {}

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """As the task's oracle. Raises `PolicyError` where there is none."""
        return await self._of(trajectory).act(trajectory, observation)

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """As the task's oracle. Raises `PolicyError` where there is none."""
        return await self._of(trajectory).propose(trajectory, observation, n)

    def _of(self, trajectory: Trajectory) -> OraclePolicy:
        name = trajectory.task.name
        if name not in ORACLES:
            raise PolicyError(f"no oracle knows how {name} is done")
        return self._oracles.setdefault(name, OraclePolicy(name))
