"""The weights of a folder, held by a vLLM or SGLang server while a trainer goes on with them."""

from webagent.models.served.model import ServedModel

__all__ = ["ServedModel"]
