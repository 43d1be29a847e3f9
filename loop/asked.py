"""Which language model a recipe asks, as its settings name it."""

from dataclasses import dataclass
from pathlib import Path

from loop.contestant import Contestant
from webagent.models import load_endpoint


@dataclass(frozen=True)
class AskedModel:
    """A model in this process, or behind an endpoint."""

    policy: str = "endpoint"
    """`local:FOLDER` (or a hub name) for weights in this process, or `endpoint`
    (OPENAI_BASE_URL)."""
    model: str = ""
    """Name of the model behind the endpoint."""
    endpoint: Path | None = None
    """File whose table [endpoint] says where the server is and what it can do (docs/models.md)."""

    @property
    def is_named(self) -> bool:
        """Whether any model was asked for."""
        return bool(self.model or self.endpoint) or self.policy != "endpoint"

    @property
    def paid(self) -> str:
        """What the server calls the model that is paid for; empty for weights in this process."""
        return self.contestant().served if self.policy == "endpoint" else ""

    def contestant(self, *, images: bool = False) -> Contestant:
        """It, as benchmarks name a policy. Raises `SetupError` for a file that says nothing."""
        served = load_endpoint(self.endpoint) if self.endpoint else None
        return Contestant(self.policy, self.model, served, images=images)
