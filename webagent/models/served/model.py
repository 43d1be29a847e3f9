"""The `Model` that reads and writes text here and has a server sample the ids."""

import asyncio
import hashlib
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webagent.errors import ModelError, PromptTooLongError, SetupError, UsageError
from webagent.models.endpoint import SERVERS, Endpoint, EndpointModel
from webagent.models.local.source import adapter_config
from webagent.models.model import Capabilities, Completion, Constraint, Message, Reply, Tokens
from webagent.models.served.server import ServedBase, WeightServer

if TYPE_CHECKING:
    from webagent.models.local.loading import TextReading

_SAMPLES, _BLOCK = 16, 1 << 16
"""Blocks, and bytes of each, by which a file of whole weights is distinguished from another."""
_SHAPE = ("model_type", "vocab_size", "hidden_size", "num_hidden_layers")
"""What weights have in common that one server can load one after another."""
_UNNAMED = "default"
"""What SGLang calls the weights that it was started with."""
_ANYTHING = Constraint(grammar='start: "a"')


class ServedModel:
    """Replies with the weights of a folder, or an adapter on its base, held by a server.

    Prompts are tokenised here and sent as ids; the ids and log-probabilities that come back are
    recorded as a `LocalModel` records its own. An adapter is pushed under a name with a digest of
    its content, which the server's prefix cache tells apart; what a restarted server has lost is
    pushed again.
    """

    def __init__(self, place: str, url: str, settings: Endpoint | None = None) -> None:
        """Take a folder or a hub name and the server's address; read and ask nothing yet.

        `settings` says how patiently the server is asked.
        """
        self.place, self._adapter = place, ""
        self.base = place
        if Path(place, "adapter_config.json").is_file():
            self.base = str(adapter_config(Path(place)).get("base_model_name_or_path"))
            self._adapter = name_adapter(Path(place))
        self.name = f"{place} at {url}"
        self._settings = settings or Endpoint("", images=False)
        self._server = WeightServer(url, self._settings)
        self._reading: TextReading | None = None
        self._served: ServedBase | None = None
        self._asked: EndpointModel | None = None
        self._context = 0
        self._version = ""
        self._has_grammars = False
        self._is_pushed = False
        """Whether the weights had to be pushed, so that a restarted server has lost them."""
        self._pushes = 0
        self._lock = asyncio.Lock()

    @property
    def capabilities(self) -> Capabilities:
        """Ids and a prefix cache always, no images; constraints once `start` has seen them kept."""
        return Capabilities(token_ids=True, constraints=self._has_grammars)

    async def start(self) -> None:
        """Check that the server serves this model as it must, and push what it lacks.

        Raises `SetupError` for another model, or a server that cannot do what is needed,
        `ModelError` where it fails.
        """
        async with self._lock:
            if self._asked is not None:
                return
            from webagent.models.local.loading import load_text_reading

            self._reading = reading = load_text_reading(self.base)
            self._served = base = await self._server.open()
            self._check_base(base)
            self._context = min(reading.context, base.context or reading.context)
            never = {*reading.endings.never, *reading.endings.stop}
            known = [id for id in range(len(reading.tokenizer)) if id not in never]
            await self._server.check_replies(base, [known[0], known[-1]])
            server = SERVERS[base.kind]
            server = replace(server, log_probs="processed", grammars=await self._keeps(base))
            self._has_grammars = server.grammars
            digest = await asyncio.to_thread(_digest_weights, self.base)
            adapter = f"+{self._adapter}" if self._adapter else ""
            self._version = f"{Path(self.base).name}@{digest}{adapter}"
            await self._push()
            endpoint = self._endpoint(base)
            parameters: dict[str, Any] = {"stop_token_ids": sorted(reading.endings.stop)}
            if reading.endings.never:
                parameters["logit_bias"] = {str(id): -100 for id in reading.endings.never}
            if self._adapter and base.kind == "sglang":
                parameters["lora_path"] = self._adapter
            elif self._adapter:
                endpoint = replace(endpoint, model=self._adapter)
            endpoint = replace(endpoint, server=server, version=self._version)
            weights = self._version if self._is_pushed and not self._adapter else ""
            self._asked = EndpointModel(endpoint, parameters, weights)

    async def check_training(self, *, adapter: bool) -> None:
        """Raise `SetupError` where what will be trained cannot be pushed to the server."""
        await self.start()
        assert self._served is not None
        if adapter:
            await self._server.check_adapters(self._served)
        elif self._served.kind == "vllm":
            raise UsageError(
                f"the vLLM server at {self._server.url} reads no whole weights while it runs; train"
                " an adapter with --lora 16, or serve the folder with SGLang"
            )

    async def complete(
        self,
        prompt: Sequence[Message] | Tokens,
        *,
        n: int = 1,
        temperature: float = 0.0,
        seed: int | None = None,
        max_tokens: int = 1024,
        constraint: Constraint | None = None,
    ) -> Completion:
        """Return exactly n replies; at temperature 0 they are one reply n times.

        Raises `ModelError` where the server fails for good or the prompt is too long, `SetupError`
        for images and for what `start` refuses.
        """
        await self.start()
        assert self._asked is not None and self._reading is not None
        if isinstance(prompt, Tokens):
            tokens = prompt
        elif any(message.images for message in prompt):
            raise SetupError(
                f"{self.name}: a server takes no images beside token ids; leave --server out to"
                " load the weights in this process, or leave the images out"
            )
        else:
            writer = self._reading.chat_writer
            tokens = Tokens(tuple(writer.encode(writer.write(prompt))))
        room = self._context - len(tokens.ids)
        if room <= 0:
            raise PromptTooLongError(
                f"the prompt has {len(tokens.ids):,} ids and the server reads {self._context:,};"
                " show less of the page or of the history, or serve it with a longer context"
            )
        before = self._pushes
        try:
            found = await self._ask(tokens, n, temperature, seed, min(max_tokens, room), constraint)
        except ModelError as failure:
            if isinstance(failure, PromptTooLongError) or not await self._restore(before):
                raise
            found = await self._ask(tokens, n, temperature, seed, min(max_tokens, room), constraint)
        replies = tuple(map(self._read, found.replies))
        return replace(found, replies=replies * (n // len(replies)), model=self._version)

    async def close(self) -> None:
        """Have the server forget the adapter, and close the connections. Safe to call twice."""
        asked, self._asked = self._asked, None
        if asked is not None:
            await asked.close()
            if self._adapter and self._served is not None:
                await self._server.unload_adapter(self._served, self._adapter)
        await self._server.close()

    async def _ask(
        self,
        tokens: Tokens,
        n: int,
        temperature: float,
        seed: int | None,
        max_tokens: int,
        constraint: Constraint | None,
    ) -> Completion:
        assert self._asked is not None
        return await self._asked.complete(
            tokens,
            n=n if temperature else 1,
            temperature=temperature,
            seed=seed,
            max_tokens=max_tokens,
            constraint=constraint,
        )

    def _read(self, reply: Reply) -> Reply:
        """Return the reply with the text that the tokenizer here gives its ids."""
        assert self._reading is not None
        is_ended = reply.token_ids[-1] in self._reading.endings.stop
        text = self._reading.tokenizer.decode(
            reply.token_ids[:-1] if is_ended else reply.token_ids,
            skip_special_tokens=True,
            clean_up_tokenization_spaces=False,
        )
        return replace(reply, text=text, finish_reason="stop" if is_ended else reply.finish_reason)

    def _check_base(self, base: ServedBase) -> None:
        """Raise `SetupError` where the server has loaded another model than the folder's, and
        cannot load its weights for want of the same shape."""
        if _is_same(base.root, self.base):
            return
        can_load = base.kind == "sglang" and not self._adapter and Path(self.base).is_dir()
        shapes = []
        with suppress(OSError, ValueError):
            for place in (base.root, self.base) if can_load else ():
                config = json.loads(Path(place, "config.json").read_text(encoding="utf-8"))
                shapes.append([config.get(name) for name in _SHAPE])
        if len(shapes) != 2 or shapes[0] != shapes[1]:
            raise SetupError(
                f"the server at {self._server.url} serves {base.root}, expected {self.base}; start"
                " it with that model"
            )

    async def _push(self, *, again: bool = False) -> None:
        """Have the server load what it has not loaded; `again`, what it has lost."""
        base = self._served
        assert base is not None
        if self._adapter:
            self._is_pushed = True
            await self._server.load_adapter(base, self._adapter, Path(self.place).resolve())
            return
        is_started_so = _is_same(base.root, self.base) and base.weights in ("", _UNNAMED)
        if base.kind == "sglang" and (again or not is_started_so):
            self._is_pushed = True
            if again or base.weights != self._version:
                folder = str(Path(self.base).resolve())
                await self._server.load_weights(folder, self._version)

    async def _restore(self, before: int) -> bool:
        """Push again what a server lost, as by a restart; return whether since `before` pushes."""
        async with self._lock:
            if self._pushes == before and self._is_pushed:
                try:
                    if self._adapter:
                        is_held = await self._server.holds(self._adapter)
                    else:
                        is_held = await self._server.weights() == self._version
                except (ModelError, SetupError):
                    return False
                if not is_held:
                    await self._push(again=True)
                    self._pushes += 1
            return self._pushes != before

    async def _keeps(self, base: ServedBase) -> bool:
        """Return whether the server holds a reply to a grammar, as seen from one that it gives."""
        server = replace(SERVERS[base.kind], grammars=True)
        model = EndpointModel(replace(self._endpoint(base), server=server, attempts=1))
        assert self._reading is not None
        prompt = Tokens(tuple(self._reading.chat_writer.encode("a")))
        try:
            found = await model.complete(prompt, max_tokens=4, constraint=_ANYTHING)
        except (ModelError, SetupError):
            return False
        finally:
            await model.close()
        return found.replies[0].text.strip() == "a"

    def _endpoint(self, base: ServedBase) -> Endpoint:
        return replace(self._settings, model=base.name, base_url=f"{self._server.url}/v1")


def name_adapter(folder: Path) -> str:
    """Return the name under which an adapter is pushed: run, arm, repeat and round where it lies in
    a run, and a digest of its content.

    The digest keeps a run of the same name from playing with what an earlier one has pushed.
    """
    parts = [part for part in folder.resolve().parts[-5:] if part not in ("weights", "policy", "/")]
    with (folder / "adapter_model.safetensors").open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:8]
    return re.sub(r"[^A-Za-z0-9._-]", "_", "-".join((*parts, digest)))


def _digest_weights(place: str) -> str:
    """Return 16 digits over blocks of each file of weights; the name itself for a hub's."""
    found = hashlib.sha256(b"" if Path(place).is_dir() else place.encode())
    for path in sorted(Path(place).glob("*.safetensors")):
        size = path.stat().st_size
        found.update(f"{path.name} {size}".encode())
        with path.open("rb") as file:
            for block in range(_SAMPLES):
                file.seek(max(0, (size - _BLOCK) * block // (_SAMPLES - 1)))
                found.update(file.read(_BLOCK))
    return found.hexdigest()[:16]


def _is_same(root: str, base: str) -> bool:
    """Whether two names mean the same weights: one folder or, if one is not here, one last name."""
    there, here = Path(root).expanduser(), Path(base).expanduser()
    if there.is_dir() and here.is_dir():
        return there.samefile(here)
    return there.name == here.name
