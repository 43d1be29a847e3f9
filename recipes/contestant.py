"""The policies a benchmark can measure, by the names they are asked for with."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from webagent.errors import PolicyError, SetupError, unknown_name
from webagent.models import Endpoint, EndpointModel, Model
from webagent.observation.variants import VARIANTS, Variant, variant_named
from webagent.policy.knowledge import Knowledge
from webagent.policy.language import LanguagePolicy
from webagent.policy.oracles import ORACLES, OraclePolicy
from webagent.policy.policy import Policy
from webagent.policy.prompting import Prompting
from webagent.records import Decision, Observation, Trajectory
from webagent.store import ImageFolder

KINDS = ("oracle", "model:FOLDER", "endpoint")
MAX_TOKENS = 2000
"""Of a page's text in a prompt, at most; estimated."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How a model is asked: with which switches, and told of what."""

    prompting: Prompting = field(default_factory=Prompting)
    knowledge: tuple[Knowledge, ...] = ()


PLAIN = Asking()
"""Every switch off, and told of nothing."""


def check(
    policy: str,
    model: str,
    observation: str = "text",
    *,
    images: bool = False,
    asking: Asking = PLAIN,
) -> None:
    """Whether such a policy can be made, without making it. Raises `SetupError`.

    `images` says whether screenshots are shown to a model.
    """
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
    if kind != "endpoint" and asking != PLAIN:
        raise SetupError(
            f"--policy {policy} is not prompted; --prompting, --exemplars and --hints are for"
            " --policy endpoint"
        )
    if kind == "endpoint":
        shown = ImageFolder(Path()) if images else None
        _asked(_endpoint(model, shown), shown, VARIANTS[observation], asking)


def label(policy: str, model: str, *switches: str) -> str:
    """What the policy is called in tables: by its name and the switches that are set."""
    kind = policy.partition(":")[0]
    return " +".join((model if kind == "endpoint" else kind, *filter(None, switches)))


@asynccontextmanager
async def contestant(
    policy: str,
    model: str,
    images: ImageFolder | None,
    variant: Variant = VARIANTS["text"],
    asking: Asking = PLAIN,
) -> AsyncIterator[Policy]:
    """The policy, ready to act; what it holds is given back at the end.

    `images` holds the screenshots that an endpoint's model is to look at, if any, and `variant` is
    the form in which it is shown pages. Raises `SetupError` or `ModelError`.
    """
    check(policy, model, variant.name, images=images is not None, asking=asking)
    kind, _, folder = policy.partition(":")
    if kind == "oracle":
        yield Oracles()
    elif kind == "model":
        yield _builtin(Path(folder))
    else:
        served = _endpoint(model, images)
        try:
            yield _asked(served, images, variant, asking)
        finally:
            await served.close()


def _endpoint(model: str, images: ImageFolder | None) -> Model:
    """The model behind the endpoint; nothing is sent yet."""
    return EndpointModel(Endpoint(model, images=images is not None))


def _asked(
    model: Model, images: ImageFolder | None, variant: Variant, asking: Asking
) -> LanguagePolicy:
    return LanguagePolicy(
        model,
        partial(_write, variant),
        images=images.get if images else None,
        variant=variant,
        prompting=asking.prompting,
        knowledge=asking.knowledge,
        add_image=images.add if images else None,
    )


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
