"""A vLLM or SGLang server: what it serves, and the weights that it loads on request."""

import asyncio
import logging
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from webagent.errors import ModelError, SetupError
from webagent.models.endpoint.providers import read_variable
from webagent.models.endpoint.refusals import ServerRefusal, advise
from webagent.models.endpoint.settings import Endpoint

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response

logger = logging.getLogger(__name__)
_KINDS = ("vllm", "sglang")
_START_WITH: Mapping[str, str] = {
    "vllm": "VLLM_ALLOW_RUNTIME_LORA_UPDATING=True vllm serve FOLDER --enable-lora"
    " --max-lora-rank RANK --logprobs-mode processed_logprobs",
    "sglang": "python -m sglang.launch_server --model-path FOLDER --enable-lora"
    " --max-lora-rank RANK --lora-target-modules all",
}
"""What makes a server take adapters while it runs."""
_LOADING = 600.0
"""Seconds that a server may take to load weights."""
_HOT = 4.0
"""A temperature at which the most likely id is clearly less likely than at 1."""
_EQUAL = 1e-3
"""How far two log-probabilities of one distribution may lie apart by rounding."""


@dataclass(frozen=True, slots=True)
class ServedBase:
    """What a server has loaded, apart from adapters."""

    kind: str
    """`vllm` or `sglang`."""
    name: str
    """What requests ask for."""
    root: str
    """Folder or hub name of the weights, as the server knows it."""
    context: int
    """Most ids of a prompt and its reply together; 0 where the server does not say."""
    weights: str = ""
    """The version of the weights, where the server names one."""


class _Card(BaseModel):
    """One model in the server's list."""

    id: str
    owned_by: str = ""
    root: str | None = None
    parent: str | None = None
    max_model_len: int | None = None


class _Cards(BaseModel):
    data: list[_Card]


class WeightServer:
    """Asks a server what it serves, and has it load and drop weights.

    The server reads weights from folders, so it must see this machine's files under the same
    paths. A failure that may pass is tried again as requests to endpoints are.

    - vLLM: `/v1/load_lora_adapter` and `/v1/unload_lora_adapter` (since 0.6.1, PR 6566), the fields
      `lora_name` and `lora_path`; a name that is taken is refused. No route reads whole weights.
    - SGLang: `/load_lora_adapter` and `/unload_lora_adapter` with the same fields,
      `/update_weights_from_disk` with `model_path` and `weight_version`, which `/model_info` and
      every reply name from then on (routes as of 0.5, July 2026).
    """

    def __init__(self, url: str, settings: Endpoint) -> None:
        self.url = url.rstrip("/").removesuffix("/v1")
        self._settings = settings
        self._client: AsyncClient | None = None

    async def open(self) -> ServedBase:
        """Return what it serves. Raises `ModelError` when it does not answer, `SetupError` when it
        is neither vLLM nor SGLang."""
        health = await self._ask("GET", "/health")
        cards = await self._list() if health.is_success else []
        base = next((card for card in cards if not card.parent), None)
        if base is None or base.owned_by not in _KINDS:
            found = f"is one of {base.owned_by!r}" if base else "serves no model"
            raise SetupError(
                f"the server at {self.url} {found}; --server is for vLLM and SGLang, which take"
                " token ids and load weights while they run"
            )
        context = base.max_model_len or 0
        if base.owned_by == "vllm":
            return ServedBase("vllm", base.id, base.root or base.id, context)
        info = await self._describe()
        path, version = str(info.get("model_path", base.id)), str(info.get("weight_version", ""))
        return ServedBase("sglang", base.id, path, context, version)

    async def holds(self, adapter: str) -> bool:
        """Return whether an adapter of this name is loaded; asked once only."""
        return any(card.id == adapter for card in await self._list(attempts=1))

    async def weights(self) -> str:
        """Return the version of an SGLang server's weights; asked once only."""
        return str((await self._describe(attempts=1)).get("weight_version", ""))

    async def check_adapters(self, base: ServedBase) -> None:
        """Raise `SetupError` for a server that was not started to take adapters.

        Asks it to drop one that it does not have: the refusal says whether it could.
        """
        path = f"{_prefix(base)}/unload_lora_adapter"
        response = await self._ask("POST", path, {"lora_name": "webagent-asks"})
        if _is_no_route(response) or "enable" in response.text.lower():
            raise self._cannot_adapt(base)

    async def load_adapter(self, base: ServedBase, name: str, folder: Path) -> None:
        """Have it load an adapter; one of this name that it holds already is the same.

        Raises `SetupError` where it takes none, `ModelError` where it fails.
        """
        body = {"lora_name": name, "lora_path": str(folder)}
        response = await self._ask("POST", f"{_prefix(base)}/load_lora_adapter", body)
        if _is_no_route(response) or "enable_lora" in response.text.replace("-", "_"):
            raise self._cannot_adapt(base)
        if not _is_done(response) and "already" not in response.text:
            raise ModelError(
                f"the server at {self.url} does not load the adapter in {folder}"
                f" ({_said(response)}); it must see that folder, and be started with a"
                " --max-lora-rank of at least the adapter's rank"
            )

    async def unload_adapter(self, base: ServedBase, name: str) -> None:
        """Have it forget an adapter; a failure is noted and nothing else."""
        path = f"{_prefix(base)}/unload_lora_adapter"
        try:
            response = await self._ask("POST", path, {"lora_name": name}, attempts=1)
            failure = "" if _is_done(response) else _said(response)
        except ModelError as error:
            failure = str(error)
        if failure:
            logger.info("the adapter %s stays loaded at %s: %s", name, self.url, failure)

    async def load_weights(self, folder: str, version: str) -> None:
        """Have an SGLang server read whole weights. Raises `ModelError` where it does not."""
        body = {"model_path": folder, "weight_version": version}
        response = await self._ask("POST", "/update_weights_from_disk", body)
        if not _is_done(response):
            raise ModelError(
                f"the server at {self.url} does not load the weights in {folder}"
                f" ({_said(response)}); it must see that folder, and have been started with"
                " weights of the same shape"
            )

    async def check_replies(self, base: ServedBase, prompt: Sequence[int]) -> None:
        """Raise `SetupError` where replies have no ids, or log-probabilities of another temperature
        than they were sampled at."""
        cold = await self._try_token(base, prompt, 0.0)
        hot = await self._try_token(base, prompt, _HOT)
        if abs(cold - hot) < _EQUAL:
            raise SetupError(
                f"the server at {self.url} returns raw log-probabilities, which are not those that"
                " replies are sampled with; start vLLM with --logprobs-mode processed_logprobs, and"
                " SGLang without SGLANG_RETURN_ORIGINAL_LOGPROB"
            )

    async def close(self) -> None:
        """Close the connections. Safe to call twice."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _try_token(self, base: ServedBase, prompt: Sequence[int], heat: float) -> float:
        """Return the log-probability of the most likely id behind a prompt."""
        body = {"model": base.name, "prompt": list(prompt), "max_tokens": 1, "temperature": heat}
        body |= {"logprobs": 1, "return_token_ids": True, "top_p": 1.0, "top_k": -1, "seed": 0}
        response = await self._ask("POST", "/v1/completions", body)
        if not response.is_success:
            raise SetupError(
                f"the server at {self.url} does not take token ids of this vocabulary"
                f" ({_said(response)}); serve the folder that --policy names"
            )
        try:
            choice = response.json()["choices"][0]
            found = max(map(float, choice["logprobs"]["top_logprobs"][0].values()))
            ids = choice["token_ids"]
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            ids, found = None, 0.0
        if not isinstance(ids, list) or len(ids) != 1:
            raise SetupError(
                f"the server at {self.url} returns no token ids with log-probabilities; expected"
                " vLLM since 0.10.2, or an SGLang that knows return_token_ids (July 2026)"
            )
        return float(found)

    async def _list(self, attempts: int = 0) -> list[_Card]:
        response = await self._ask("GET", "/v1/models", attempts=attempts)
        try:
            return _Cards.model_validate_json(response.text).data
        except ValidationError:
            raise SetupError(
                f"{self.url}/v1/models is no list of models ({_said(response)}); --server takes the"
                " address of a vLLM or SGLang server, such as http://localhost:8000"
            ) from None

    async def _describe(self, attempts: int = 0) -> dict[str, Any]:
        """Return what SGLang says of its model; older ones say it at another address."""
        response = await self._ask("GET", "/model_info", attempts=attempts)
        if response.status_code == 404:
            response = await self._ask("GET", "/get_model_info", attempts=attempts)
        try:
            found = response.json()
        except ValueError:
            found = None
        return found if isinstance(found, dict) else {}

    async def _ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, attempts: int = 0
    ) -> "Response":
        """Return a response that is no failure that may pass. Raises `ModelError` without one."""
        from httpx2 import AsyncClient, TransportError

        if self._client is None:
            key = read_variable(self._settings.api_key_variable) or "none"
            headers = {"Authorization": f"Bearer {key}"}
            self._client = AsyncClient(base_url=self.url, headers=headers, timeout=None)
        settings, pause = self._settings, self._settings.first_pause
        most, reason, advice = attempts or settings.attempts, "", ""
        for attempt in range(1, most + 1):
            asked = 0.0
            try:
                async with asyncio.timeout(_LOADING):
                    response = await self._client.request(method, path, json=body)
            except (TimeoutError, TransportError) as error:
                reason = f"no answer ({str(error) or type(error).__name__})"
                advice = "check that it runs, and start it again if not"
            else:
                refusal = ServerRefusal(response.status_code, response.text, response.headers)
                if response.is_success or not refusal.may_pass:
                    return response
                reason, asked, advice = refusal.said, refusal.pause, advise(refusal)
            if attempt < most:
                wait = max(asked, pause * random.uniform(0.5, 1.0))
                await asyncio.sleep(min(wait, settings.longest_pause))
                pause *= 2
        raise ModelError(
            f"the server at {self.url} failed at {path} {most} times; last: {reason}; {advice}"
        )

    def _cannot_adapt(self, base: ServedBase) -> SetupError:
        return SetupError(
            f"the server at {self.url} takes no adapters while it runs; start it with:"
            f" {_START_WITH[base.kind]}"
        )


def _prefix(base: ServedBase) -> str:
    return "/v1" if base.kind == "vllm" else ""


def _is_no_route(response: "Response") -> bool:
    """Whether it is the framework, not the server, that knows nothing of the address."""
    return response.status_code == 405 or (
        response.status_code == 404 and '"detail":"Not Found"' in response.text.replace(": ", ":")
    )


def _is_done(response: "Response") -> bool:
    """Whether it was done: SGLang says so in the body, too."""
    return response.is_success and '"success":false' not in response.text.replace(": ", ":")


def _said(response: "Response") -> str:
    return ServerRefusal(response.status_code, response.text, response.headers).said
