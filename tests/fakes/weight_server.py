"""A small model server over HTTP that holds weights as vLLM and SGLang do, by transformers."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import torch

from tests.fakes.listening import Handler, listening
from webagent.models.constrain import compile_constraint
from webagent.models.model import Constraint, Matcher

Answer = tuple[int, dict[str, Any]]
_NO_ROUTE: Answer = (404, {"detail": "Not Found"})


class TransformersServer(ThreadingHTTPServer):
    """Serves one folder, and adapters and weights that it is told to load."""

    daemon_threads = True
    block_on_close = False

    def __init__(
        self,
        folder: Path | str,
        kind: str = "vllm",
        *,
        port: int = 0,
        adapts: bool = True,
        raw: bool = False,
        grammars: bool = True,
    ) -> None:
        """Load the folder. `adapts`, `raw` and `grammars` are flags of the real servers."""
        super().__init__(("127.0.0.1", port), _Handler)
        self.kind, self.adapts, self.raw, self.grammars = kind, adapts, raw, grammars
        self.root, self.weight_version = str(folder), "default"
        self.adapters: dict[str, str] = {}
        self.lock = threading.Lock()
        self.record: list[tuple[str, str]] = []
        """What was asked for, in order: a path, and the adapter or the version that it was of."""
        self.troubles: list[Answer | bytes] = []
        """What the coming completions get in place of an answer."""
        self.load(self.root)

    @property
    def url(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self.server_port}"

    def load(self, folder: str) -> None:
        """Hold these weights and no adapter."""
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.module: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self.root, self.peft = folder, None

    def adapt(self, name: str, folder: str) -> None:
        """Load an adapter beside the others."""
        from peft import PeftModel

        if self.peft is None:
            self.peft: Any = PeftModel.from_pretrained(self.module, folder, adapter_name=_key(name))
        else:
            self.peft.load_adapter(folder, adapter_name=_key(name))
        self.adapters[name] = folder

    def asked(self, path: str) -> list[str]:
        """Return what was asked for by one path, in order."""
        return [what for each, what in self.record if each == path]

    def list_models(self) -> Answer:
        """Answer `/v1/models`; SGLang's root is the served name, which is the folder here."""
        base = {"id": self.root, "root": self.root, "owned_by": self.kind, "max_model_len": 8192}
        more = [
            {"id": name, "root": path, "parent": self.root} for name, path in self.adapters.items()
        ]
        return 200, {"data": [base, *more]}

    def change_adapter(self, verb: str, body: dict[str, Any]) -> Answer:
        """Answer the requests to load and to unload one."""
        name = body["lora_name"]
        if not self.adapts:
            said = "LoRA is not enabled. Please set `--enable-lora`"
            return _NO_ROUTE if self.kind == "vllm" else (400, {"error_message": said})
        if verb == "unload":
            if self.adapters.pop(name, None) is None:
                return 404, {"error": {"message": f"The lora adapter '{name}' cannot be found."}}
            self.peft.delete_adapter(_key(name))
            return 200, {}
        if name in self.adapters:
            said = f"The lora adapter '{name}' has already been loaded."
            return 400, {"error": {"message": said}}
        if not Path(body["lora_path"], "adapter_config.json").is_file():
            return 500, {"error": {"message": f"no adapter in {body['lora_path']}"}}
        self.adapt(name, body["lora_path"])
        return 200, {}

    def complete(self, body: dict[str, Any]) -> Answer:
        """Answer `/v1/completions` for ids."""
        adapter = body.get("lora_path", "") if self.kind == "sglang" else body["model"]
        adapter = "" if adapter == self.root else adapter
        if adapter and adapter not in self.adapters:
            return 404, {"error": {"message": f"The model `{adapter}` does not exist."}}
        self.record.append(("/v1/completions", adapter or self.weight_version))
        ids = body["prompt"]
        if max(ids) >= self.module.get_input_embeddings().weight.shape[0]:
            return 400, {"error": {"message": f"Token id {max(ids)} is out of vocabulary"}}
        held = body.get("structured_outputs") or {"grammar": body.get("ebnf", "")}
        if held.get("grammar") and not self.grammars:
            return 400, {"error": {"message": "Invalid grammar specification."}}
        with torch.no_grad():
            if self.peft is not None and adapter:
                self.peft.base_model.enable_adapter_layers()
                self.peft.set_adapter(_key(adapter))
            elif self.peft is not None:
                self.peft.base_model.disable_adapter_layers()
            choices = [self._sample(ids, body, held, at) for at in range(body.get("n", 1))]
        written = sum(len(choice["token_ids"]) for choice in choices)
        usage = {"prompt_tokens": len(ids), "completion_tokens": written}
        answer = {"model": body["model"], "choices": choices, "usage": usage}
        if self.kind == "sglang":
            answer["metadata"] = {"weight_version": self.weight_version}
        return 200, answer

    def _sample(self, prompt, body, held, reply):
        heat, matcher = body["temperature"], self._matcher(body, held)
        source = torch.Generator().manual_seed(body.get("seed", 0) + reply)
        ends = {self.tokenizer.eos_token_id, *body.get("stop_token_ids", ())}
        ids, log_probs, tops = list[int](), list[float](), list[dict[str, float]]()
        unread, cache, finish = prompt, None, "length"
        while len(ids) < body["max_tokens"]:
            out = self.module(
                input_ids=torch.tensor([unread]), past_key_values=cache, use_cache=True
            )
            logits, cache = out.logits[0, -1].float(), out.past_key_values
            for each, bias in body.get("logit_bias", {}).items():
                logits[int(each)] += bias
            if matcher is not None:
                logits[~torch.from_numpy(matcher.mask())] = -torch.inf
            chances = torch.log_softmax(logits / (heat or 1.0), -1)
            said = torch.log_softmax(logits, -1) if self.raw else chances
            drawn = torch.multinomial(chances.exp(), 1, generator=source)
            ids.append(int(drawn) if heat else int(chances.argmax()))
            unread = ids[-1:]
            log_probs.append(float(said[ids[-1]]))
            tops.append({str(int(said.argmax())): float(said.max()), str(ids[-1]): log_probs[-1]})
            if matcher is not None:
                matcher.accept(ids[-1])
            if ids[-1] in ends:
                finish = "stop"
                break
        told = {"token_logprobs": log_probs, "top_logprobs": tops}
        text = self.tokenizer.decode(ids, skip_special_tokens=True)
        given = {"text": text, "finish_reason": finish, "logprobs": told}
        return given | {"token_ids": ids, "prompt_token_ids": prompt}

    def _matcher(self, body: dict[str, Any], held: dict[str, Any]) -> Matcher | None:
        grammar = str(held.get("grammar", "")).removeprefix("%llguidance {}\n")
        if not grammar and not held.get("choice"):
            return None
        constraint = Constraint(tuple(held.get("choice", ())), grammar)
        ends = sorted({self.tokenizer.eos_token_id, *body.get("stop_token_ids", ())})
        width = self.module.get_output_embeddings().weight.shape[0]
        return compile_constraint(constraint, self.tokenizer, width=width, ends=ends)()


class _Handler(Handler):
    """One request, treated while no other is."""

    server: TransformersServer
    content_type = "application/json"

    def do_GET(self) -> None:
        """Answer what says how the server is and what it serves."""
        info = {"model_path": self.server.root, "weight_version": self.server.weight_version}
        routes: dict[str, Callable[[], Answer]] = {
            "/health": lambda: (200, {}),
            "/v1/models": self.server.list_models,
            "/get_model_info": lambda: (200, info) if self.server.kind == "sglang" else _NO_ROUTE,
        }
        self._send(routes.get(self.path, lambda: _NO_ROUTE)())

    def do_POST(self) -> None:
        """Answer completions, and what changes weights."""
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prefix = "/v1" if server.kind == "vllm" else ""
        with server.lock:
            if self.path == "/v1/completions":
                answer = server.troubles.pop(0) if server.troubles else server.complete(body)
            elif self.path in (f"{prefix}/load_lora_adapter", f"{prefix}/unload_lora_adapter"):
                verb = "unload" if "unload" in self.path else "load"
                server.record.append((verb, body["lora_name"]))
                answer = server.change_adapter(verb, body)
            elif self.path == "/update_weights_from_disk" and server.kind == "sglang":
                server.record.append(("update", body["weight_version"]))
                server.load(body["model_path"])
                server.weight_version = body["weight_version"]
                answer = 200, {"success": True, "message": ""}
            else:
                answer = _NO_ROUTE
        self._send(answer)

    def _send(self, answer: Answer | bytes) -> None:
        status, body = (200, answer) if isinstance(answer, bytes) else (answer[0], answer[1])
        self.send(body if isinstance(body, bytes) else json.dumps(body), status)


def _key(name: str) -> str:
    """Return the name without dots, which peft does not take."""
    return name.replace(".", "_")


@contextmanager
def serving_weights(
    folder: Path | str, *flags: str, **options: Any
) -> Iterator[TransformersServer]:
    """Yield a server that listens in a thread; it forgets everything when the block ends."""
    with listening(TransformersServer(folder, *flags, **options)) as server:
        yield server
