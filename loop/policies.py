"""The policies that a command can play, by name."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.oracles import OraclePolicy
from loop.flat import Important
from loop.own_code import load_own_policy
from webagent.agent.actor import builtin_policy, check_builtin, check_place, language_model
from webagent.agent.asking import Asking
from webagent.errors import UsageError, unknown_name
from webagent.models import CannedModel, Capabilities, Endpoint, EndpointModel, Model, load_endpoint
from webagent.models.local.source import Dtype
from webagent.models.served import ServedModel
from webagent.models.weight_notes import check_role, resolve_unchanged
from webagent.policy.knowledge import Knowledge
from webagent.policy.policy import Policy
from webagent.policy.prompting import Prompting
from webagent.store import ImageFolder
from webagent.store.database import ImageStore

KINDS = ("oracle", "model:FOLDER", "local:FOLDER", "endpoint", "python:FILE.py:NAME")
PLAIN = Prompting()
"""All switches off."""
_UNLOADED = CannedModel(
    [],
    name="weights that are not loaded yet",
    capabilities=Capabilities(token_ids=True, images=True, constraints=True),
)
"""Stands in for weights while settings are checked: it claims every capability they may have."""


@dataclass(frozen=True, slots=True)
class NamedPolicy:
    """A policy by name and, for a language model, how it is prompted."""

    policy: str
    """One of `KINDS`."""
    model: str = ""
    """Name of the model at its endpoint."""
    endpoint: Endpoint | None = None
    """Address and capabilities of the endpoint's server; None uses the environment."""
    asking: Asking = field(default_factory=Asking)
    images: bool = False
    """Whether the model is shown screenshots."""
    knowledge: tuple[Knowledge, ...] = ()
    temperature: float = 0.0
    max_tokens: int = 1024
    random_share: float = 0.0
    """Share of random actions of built-in weights, 0 to 1."""
    server: str = ""
    """Address of a vLLM or SGLang server that holds the weights of `local:FOLDER`; empty: they are
    loaded into this process."""

    @property
    def kind(self) -> str:
        """Return the part before the colon."""
        return self.policy.partition(":")[0]

    @property
    def place(self) -> str:
        """Return the folder, or the name on the model hub, after the colon."""
        return self.policy.partition(":")[2]

    @property
    def served(self) -> str:
        """Return the server's name of the model."""
        return self.model or (self.endpoint.model if self.endpoint else "")

    def label(self, *more: str) -> str:
        """Return the policy's name in tables: its name and the switches that are set."""
        name = self.served if self.kind == "endpoint" else self.kind
        if self.kind == "python":
            name = self.place.rpartition(":")[2]
        if self.kind == "local":
            name = Path(self.place).name if Path(self.place).name != "model" else self.place
        switches = (*str(self.asking.prompting).split(), *more)
        if self.temperature:
            switches = (*switches, f"temperature={self.temperature:g}")
        return " +".join((name, *switches))

    def check(self) -> None:
        """Check that the policy can be built, without loading weights. Raises `SetupError`."""
        if self.kind not in {name.partition(":")[0] for name in KINDS}:
            raise unknown_name("policy", self.policy, KINDS)
        if self.kind == "model":
            check_builtin(Path(self.place))
        if self.kind == "local" and not self.place:
            raise UsageError("--policy local: names no weights; give local:FOLDER or a hub name")
        if self.kind == "local":
            check_place(self.place)
        if self.server:
            self._check_server()
        if self.kind == "local":
            check_role(Path(self.place), ["policy"], f"--policy {self.policy}")
        if self.kind == "endpoint" and not self.served:
            raise UsageError(
                "--policy endpoint asks a server for a model by name; give it as --model"
            )
        if self.kind == "python":
            load_own_policy(self.place)
        if self.kind in ("endpoint", "local"):
            model = _UNLOADED if self.kind == "local" else self.language_model()
            self._policy(model, ImageFolder(Path()) if self.images else None)
        else:
            self._check_unasked()

    @asynccontextmanager
    async def ready(
        self, images: ImageStore | None, metered: Callable[[Model], Model] = lambda model: model
    ) -> AsyncIterator[Policy]:
        """Yield the policy, ready to act, and release its resources at the end.

        `images` holds the screenshots shown to its model, if any, and `metered` wraps that model in
        a meter. Raises `SetupError` or `ModelError`.
        """
        self.check()
        if self.kind == "oracle":
            yield OraclePolicy()
        elif self.kind == "python":
            yield load_own_policy(self.place)
        elif self.kind == "model":
            yield builtin_policy(Path(self.place), self.temperature, self.random_share)
        else:
            own = self.language_model()
            model = metered(own)
            try:
                if isinstance(own, ServedModel):
                    await own.start()
                yield self._policy(model, images)
            finally:
                await model.close()

    def language_model(self) -> Model:
        """Return the loaded weights, or the model at its endpoint or on its server, without sending
        a request.

        Raises `SetupError` for any other policy.
        """
        if self.kind == "local":
            return self.held_weights(self.place)
        if self.kind != "endpoint" or not self.served:
            raise UsageError(
                f"--policy {self.policy} is no language model; give local:FOLDER, or endpoint with"
                " the --model that the server knows"
            )
        given = self.endpoint or Endpoint(self.served)
        return EndpointModel(replace(given, model=self.served, images=self.images))

    def held_weights(self, place: str, dtype: Dtype = "auto") -> Model:
        """Return the weights of a folder: on the server where one is named, else loaded here."""
        if not self.server:
            return language_model(place, dtype=dtype)
        check_role(Path(place), ["policy"], f"local:{place}")
        return ServedModel(resolve_unchanged(place), self.server)

    async def check_training(self, *, adapter: bool) -> None:
        """Raise `SetupError` or `ModelError` where the server cannot play this policy, or take the
        adapter or the weights that training will make of it."""
        self._check_server()
        model = self.held_weights(self.place)
        try:
            if isinstance(model, ServedModel):
                await model.check_training(adapter=adapter)
            self._policy(model, None)
        finally:
            await model.close()

    def _check_server(self) -> None:
        if self.kind != "local":
            raise UsageError(
                f"--server holds the weights of --policy local:FOLDER, not of {self.policy}; name"
                " the server of another model with --policy endpoint and --endpoint"
            )
        if not self.server.startswith(("http://", "https://")):
            raise UsageError(
                f"--server {self.server}: expected an address such as http://localhost:8000"
            )
        if self.images:
            raise UsageError(
                "--server takes no images beside token ids; leave out --images, or leave out"
                " --server to load the weights in this process"
            )

    def _policy(self, model: Model, images: ImageStore | None) -> Policy:
        return self.asking.policy(
            model, images, self.knowledge, temperature=self.temperature, max_tokens=self.max_tokens
        )

    def _check_unasked(self) -> None:
        for_models = "--policy endpoint and --policy local"
        if self.asking.observation != "text":
            raise UsageError(
                f"--observation {self.asking.observation} is for {for_models}:"
                f" {self.policy} reads the lines alone"
            )
        if self.asking.prompting != PLAIN or self.knowledge:
            raise UsageError(
                f"--policy {self.policy} is not prompted; --prompting and --site-memory are for"
                f" {for_models}"
            )


@dataclass(frozen=True)
class ModelChoice:
    """An in-process model, or one behind an endpoint."""

    policy: Important[str] = "endpoint"
    """The model: `local:FOLDER` (or a hub name) for in-process weights, or `endpoint`
    (OPENAI_BASE_URL)."""
    model: Important[str] = ""
    """Name of the model at its endpoint; `anthropic/NAME`, `ollama/NAME` and similar names also
    select the provider (docs/models.md)."""
    endpoint: Path | None = None
    """File whose table [endpoint] describes the server: its address and capabilities
    (docs/models.md)."""

    @classmethod
    def named(cls, name: str) -> "ModelChoice":
        """Return the model of a setting that takes the name of a model, `local:FOLDER`, or a file
        whose table [endpoint] describes the model's server."""
        if name.startswith("local:"):
            return cls(name)
        return cls("endpoint", "", Path(name)) if name.endswith(".toml") else cls("endpoint", name)

    @property
    def acting(self) -> str | Endpoint:
        """Return the model as an agent is given it. Raises `SetupError` for an invalid file."""
        if self.policy != "endpoint":
            return self.policy
        if self.endpoint is None:
            return self.model
        endpoint = load_endpoint(self.endpoint)
        return replace(endpoint, model=self.model) if self.model else endpoint

    @property
    def is_named(self) -> bool:
        """Return whether a model was named."""
        return bool(self.model or self.endpoint) or self.policy != "endpoint"

    @property
    def paid(self) -> str:
        """Return the server's name of the paid model; empty for in-process weights."""
        return self.contestant().served if self.policy == "endpoint" else ""

    def contestant(self, *, images: bool = False) -> NamedPolicy:
        """Return the model as a named policy. Raises `SetupError` for an invalid endpoint file."""
        served = load_endpoint(self.endpoint) if self.endpoint else None
        return NamedPolicy(self.policy, self.model, served, images=images)
