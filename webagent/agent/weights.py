"""Weights in this process, found by the place where they lie."""

import json
from pathlib import Path

from webagent.errors import SetupError
from webagent.models.model import Model
from webagent.policy.policy import Policy


def language_model(place: str) -> Model:
    """The weights in a folder or of a hub name, or the base of an adapter with the adapter on.

    Raises `SetupError` for a folder that holds no such thing.
    """
    from webagent.models.local import LocalModel

    noted = Path(place, "adapter_config.json")
    if not noted.is_file():
        return LocalModel.load(place)
    try:
        base = json.loads(noted.read_text(encoding="utf-8"))["base_model_name_or_path"]
    except (OSError, ValueError, KeyError) as error:
        raise SetupError(f"{noted} does not say what it is an adapter of ({error!r})") from error
    model = LocalModel.load(str(base))
    model.add_adapter("trained", Path(place))
    model.use_adapter("trained")
    return model


def builtin_policy(folder: Path, temperature: float = 0.0, random_share: float = 0.0) -> Policy:
    """The policy of the built-in weights in a folder; concurrent turns are answered together.

    It strays from its best guess only where one of the two is above zero. Raises `SetupError`
    where no such weights lie, and `ModelError` where they cannot be read.
    """
    from webagent.models.builtin.model import BuiltinModel
    from webagent.policy.builtin import BuiltinPolicy
    from webagent.policy.exploration import Exploration
    from webagent.rollout import Batcher

    if not (folder / "config.json").is_file():
        raise SetupError(
            f"model:{folder}: no saved model in {str(folder)!r}; name the folder that"
            " `webagent improve` saved weights to, as model:runs/…/policy"
        )
    strays = temperature > 0 or random_share > 0
    exploration = Exploration(temperature or 1.0, random_share) if strays else None
    return BuiltinPolicy(BuiltinModel.load(folder), exploration=exploration, batched=Batcher)
