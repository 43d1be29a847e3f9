"""World models: predict the effects of actions on pages."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from worldmodel.accuracy import Accuracy, CopyPage, measure
    from worldmodel.layers import LayeredWorld
    from worldmodel.lookahead import Imagination, LookAhead, Reranked, Vote
    from worldmodel.prediction import Outcome, Prediction, WorldModel
    from worldmodel.prompted import PromptedWorld
    from worldmodel.recall import RememberedWorld
    from worldmodel.simulate import ImaginedWorld
    from worldmodel.transitions import Situation, Transition

__all__ = [
    "Accuracy",
    "CopyPage",
    "Imagination",
    "ImaginedWorld",
    "LayeredWorld",
    "LookAhead",
    "Outcome",
    "Prediction",
    "PromptedWorld",
    "RememberedWorld",
    "Reranked",
    "Situation",
    "Transition",
    "Vote",
    "WorldModel",
    "measure",
]

_PLACES = {
    "Accuracy": "accuracy",
    "CopyPage": "accuracy",
    "ImaginedWorld": "simulate",
    "Imagination": "lookahead",
    "LayeredWorld": "layers",
    "LookAhead": "lookahead",
    "Outcome": "prediction",
    "Prediction": "prediction",
    "PromptedWorld": "prompted",
    "RememberedWorld": "recall",
    "Reranked": "lookahead",
    "Situation": "transitions",
    "Transition": "transitions",
    "Vote": "lookahead",
    "WorldModel": "prediction",
    "measure": "accuracy",
}


def __getattr__(name: str) -> Any:
    """Return a public name, importing its module on first use, as most of them load torch."""
    if name in _PLACES:
        return getattr(import_module(f"worldmodel.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
