"""A model whose weights are loaded into this process, through transformers."""

from webagent.models.local.model import LocalModel
from webagent.models.local.source import Generation, ModelSource

__all__ = ["Generation", "LocalModel", "ModelSource"]
