"""A model whose weights are loaded into this process, through transformers."""

from webagent.models.local.model import LocalModel
from webagent.models.local.settings import Generation, Source

__all__ = ["Generation", "LocalModel", "Source"]
