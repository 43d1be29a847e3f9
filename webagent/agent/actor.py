"""Whoever acts for an agent: a model by name, a model at hand, or any policy."""

import json
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, cast

from webagent.agent.asking import Asking
from webagent.errors import SetupError, UsageError
from webagent.models.endpoint import Endpoint, EndpointModel
from webagent.models.local.source import Dtype, ModelSource
from webagent.models.model import Model
from webagent.models.spending import Ledger, MeteredModel, Prices
from webagent.models.weight_notes import check_role, resolve_unchanged
from webagent.policy.policy import Knowledge, Policy
from webagent.store.database import ImageStore


def language_model(
    place: str, roles: Collection[str] = ("policy",), dtype: Dtype = "auto"
) -> Model:
    """Return the weights in a folder or of a hub name, or the base of an adapter with the adapter
    on, held in this precision.

    Raises `SetupError` for a folder that holds no such thing, or weights of none of these roles.
    """
    from webagent.models.local import LocalModel

    check_place(place)
    check_role(Path(place), roles, f"local:{place}")
    place = resolve_unchanged(place)
    noted = Path(place, "adapter_config.json")
    if not noted.is_file():
        return LocalModel.load(ModelSource(place, dtype))
    try:
        base = json.loads(noted.read_text(encoding="utf-8"))["base_model_name_or_path"]
    except (OSError, ValueError, KeyError) as error:
        raise SetupError(f"{noted} does not say what it is an adapter of ({error!r})") from error
    return LocalModel.load(ModelSource(str(base), dtype), Path(place))


def check_place(place: str) -> None:
    """Raise `UsageError` for a folder that is not there, which no hub is to be asked for."""
    is_path = place.startswith((".", "/", "~", "runs/")) or place.count("/") > 1
    # As `webagent train --out FOLDER` names its weights.
    is_path = is_path or place.endswith("/model") or Path(place.partition("/")[0]).is_dir()
    if is_path and not Path(place).expanduser().is_dir():
        raise UsageError(f"local:{place}: there is no such folder; name one, or a model of the hub")


def find_memory(folder: Path) -> Path | None:
    """Return the folder of the memory beside built-in weights or in a run; None for none."""
    from webagent.policy.remembering import MEMORY

    place = (folder.parent if (folder / "config.json").is_file() else folder) / MEMORY
    return place if place.is_dir() else None


def builtin_policy(folder: Path, temperature: float = 0.0, random_share: float = 0.0) -> Policy:
    """Return the policy of the built-in weights in a folder; concurrent turns are answered
    together.

    A memory that the run saved beside them acts first; a run that has nothing but the memory
    that `webagent memory RUN --rebuild` made acts by it alone. The policy strays from its best
    guess only where one of the two is above zero. Raises `SetupError` where nothing of the kind
    lies, `ModelError` where weights cannot be read, and `StoreError` where the memory cannot.
    """
    from webagent.memory import Memory
    from webagent.policy.remembering import Exploration, MemoryPolicy

    place = find_memory(folder)
    memory = Memory.load(place) if place else None
    strays = temperature > 0 or random_share > 0
    if memory is not None and not (folder / "config.json").is_file():
        if strays:
            raise UsageError(f"model:{folder} has no network, and a memory alone tries nothing new")
        return MemoryPolicy(memory)
    check_builtin(folder)
    from webagent.models.builtin.model import BuiltinModel
    from webagent.policy.builtin import BuiltinPolicy
    from webagent.rollout import Batcher

    exploration = Exploration(temperature or 1.0, random_share) if strays else None
    model = BuiltinModel.load(folder)
    return BuiltinPolicy(model, exploration=exploration, batched=Batcher, memory=memory)


def check_builtin(folder: Path) -> None:
    """Raise `UsageError` where a folder holds neither built-in weights of a policy nor a memory."""
    if not (folder / "config.json").is_file() and not find_memory(folder):
        raise UsageError(
            f"model:{folder}: no saved model in {str(folder)!r}; name the folder that"
            " `webagent improve` saved weights to, as model:runs/…/policy, or a run after"
            " `webagent memory RUN --rebuild`"
        )
    check_role(folder, ["policy"], f"model:{folder}")


Acting: TypeAlias = str | Endpoint | Model | Policy
"""The name of a model behind an OpenAI-compatible server; `local:FOLDER` (or a hub name) for
weights in this process, `model:FOLDER` for built-in ones; an `Endpoint`; a `Model`; a `Policy`."""


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How a language model is asked."""

    asking: Asking | None = None
    """None: as the weights were trained to be asked, else as always."""
    vision: bool = False
    """Whether it is shown screenshots."""
    knowledge: tuple[Knowledge, ...] = ()
    temperature: float = 0.0
    max_tokens: int = 1024
    """Of a reply, at most."""
    actions: tuple[str, ...] = ()
    """Functions of one's own that it may call."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Makes the policy of each task; holds the model between them."""

    model: Model | None
    policy: Policy | None
    manner: ModelOptions

    def policy_of(self, ledger: Ledger, images: ImageStore) -> Policy:
        """Return the policy of one task, whose requests the ledger books. Raises `SetupError`."""
        if self.model is None:
            assert self.policy is not None
            return self.policy
        manner = self.manner
        return default_asking(manner).policy(
            cast(Model, MeteredModel(self.model, ledger)),
            images if manner.vision else None,
            manner.knowledge,
            temperature=manner.temperature,
            max_tokens=manner.max_tokens,
        )

    def restate(self, policy: Policy, ledger: Ledger) -> Policy:
        """Return a policy whose goals this model puts in words that its memory knows. Raises
        `UsageError` where it has none, or this is no model."""
        from webagent.policy.restating import put_in_front

        if self.model is None:
            raise UsageError("the restater is a language model; a policy cannot restate goals")
        return put_in_front(policy, cast(Model, MeteredModel(self.model, ledger, "restate")))


def check_actor(who: Acting, manner: ModelOptions) -> None:
    """Raise `SetupError` where nobody is named; load and ask nothing."""
    if isinstance(who, str) and (not who.strip() or who in ("local:", "model:")):
        raise UsageError(
            f"model={who!r} names nobody to act; expected the name of a model behind a server,"
            " local:FOLDER, model:FOLDER, or an Endpoint, Model or Policy"
        )
    if not isinstance(who, str | Endpoint) and not _acts(who) and not _completes(who):
        raise UsageError(
            f"model is {type(who).__name__}; expected a name, an Endpoint, or an object with"
            " `act` (a Policy) or `complete` (a Model)"
        )
    is_asked = not _acts(who) and not (isinstance(who, str) and who.startswith("model:"))
    if manner.vision and not is_asked:
        raise UsageError("vision is for language models: this policy looks at what it likes")


def check_price(who: Acting, prices: Prices, max_cost: float | None) -> None:
    """Raise `SetupError` where a cap on money cannot be kept, as nothing tells the cost."""
    if max_cost is None:
        return
    name = name_of(who)
    others = "cap it with max_tokens_total or max_minutes"
    if not name:
        raise UsageError(f"max_cost={max_cost:g} is for models that are paid for; {others}")
    if reason := prices.why_untold(name):
        raise UsageError(f"max_cost={max_cost:g} cannot be kept: {reason}, or {others}")


def name_of(who: Acting) -> str:
    """Return the name under which a model is paid for; empty where none is."""
    if isinstance(who, str):
        return "" if who.startswith(("local:", "model:")) else who
    if isinstance(who, Endpoint):
        return who.model
    return cast(Model, who).name if _completes(who) else ""


@asynccontextmanager
async def actor_of(who: Acting, manner: ModelOptions) -> AsyncIterator[Actor]:
    """Yield whoever acts, ready. Weights are loaded and given back, a server is asked nothing yet;
    what was at hand before stays open. Raises `SetupError` or `ModelError`."""
    if _acts(who):
        yield Actor(None, cast(Policy, who), manner)
    elif isinstance(who, str) and who.startswith("model:"):
        yield Actor(None, builtin_policy(Path(who.removeprefix("model:"))), manner)
    elif _completes(who):
        yield _check_vision(Actor(cast(Model, who), None, manner))
    else:
        model: Model
        if isinstance(who, str) and who.startswith("local:"):
            place = who.removeprefix("local:")
            manner = replace(manner, asking=manner.asking or Asking.load(Path(place)))
            model = language_model(place)
        else:
            endpoint = Endpoint(who) if isinstance(who, str) else cast(Endpoint, who)
            model = served = EndpointModel(replace(endpoint, images=manner.vision))
            served.check()
        try:
            yield _check_vision(Actor(model, None, manner))
        finally:
            await model.close()


def default_asking(manner: ModelOptions) -> Asking:
    """Return how the model is asked, where nothing else is said."""
    asking = manner.asking or Asking()
    return replace(asking, actions=tuple(dict.fromkeys((*asking.actions, *manner.actions))))


def _check_vision(actor: Actor) -> Actor:
    assert actor.model is not None
    if actor.manner.vision and not actor.model.capabilities.images:
        raise UsageError(f"vision=True, but {actor.model.name} looks at no images")
    return actor


def _acts(who: object) -> bool:
    return callable(getattr(who, "act", None))


def _completes(who: object) -> bool:
    return callable(getattr(who, "complete", None))
