"""Holding a reply to a constraint, id by id, while it is sampled and when it is trained on."""

from webagent.models.constrain.compiled import compile_constraint
from webagent.models.constrain.replay import Masks, replay

__all__ = ["Masks", "compile_constraint", "replay"]
