"""A real HTTP server that speaks the OpenAI chat protocol, well or badly."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any

from tests.fakes.listening import Handler, listening

Behaviour = Callable[["ChatHandler", dict[str, Any]], None]


class ChatServer(ThreadingHTTPServer):
    """Goes through its behaviours, one a request; the last one stays."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ChatHandler)
        self.behaviours: list[Behaviour] = []
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.keys: list[str] = []
        self.times: list[float] = []
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        """The base URL for a client."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def will(self, *behaviours: Behaviour) -> None:
        """Set what the coming requests meet."""
        self.behaviours = list(behaviours)


@contextmanager
def serving(*behaviours: Behaviour) -> Iterator[ChatServer]:
    """A server that listens in a thread for as long as the block runs."""
    with listening(ChatServer()) as server:
        server.will(*behaviours)
        try:
            yield server
        finally:
            server.closing.set()


class ChatHandler(Handler):
    """One request: recorded, then treated as the server's next behaviour says."""

    server: ChatServer
    content_type = "application/json"

    def do_POST(self) -> None:
        """Answer `/v1/chat/completions`, and `/v1/completions` as well."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        self.server.paths.append(self.path)
        self.server.times.append(time.monotonic())
        self.server.keys.append(self.headers["Authorization"])
        behaviours = self.server.behaviours
        behaviour = behaviours.pop(0) if len(behaviours) > 1 else behaviours[0]
        behaviour(self, body)


def counted(body: dict[str, Any]) -> int:
    """Tokens of a request's prompt, as a server counts them."""
    if "prompt" in body:
        return len(body["prompt"])
    texts = [message["content"] for message in body["messages"]] + [body.get("system", "")]
    return max(11, sum(len(str(text)) for text in texts) // 4)


def completion(texts: list[str], finish_reason: str = "stop", prompt_tokens: int = 11) -> bytes:
    """The body of a chat completion with these choices."""
    choices = [
        {"index": index, "message": message, "finish_reason": finish_reason}
        for index, message in enumerate({"role": "assistant", "content": text} for text in texts)
    ]
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": 7}
    return json.dumps(
        {"id": "1", "object": "chat.completion", "model": "served", "choices": choices}
        | {"usage": usage, "created": 0}
    ).encode()


class Behave:
    """The ways a server can treat a request."""

    @staticmethod
    def reply(*texts: str, finish_reason: str = "stop") -> Behaviour:
        """A good completion with these choices, however many were asked for."""
        return lambda handler, body: handler.send(
            completion(list(texts), finish_reason, counted(body))
        )

    @staticmethod
    def sampled(text: str, ids: list[Any], log_probs: list[Any], **changes: Any) -> Behaviour:
        """One reply with its ids and those of the prompt, as vLLM and SGLang write them.

        Of ids and log-probabilities it gives what the request asks for. `changes` replace fields
        of the body, or of its one choice.
        """

        def behave(handler: ChatHandler, body: dict[str, Any]) -> None:
            is_chat = "messages" in body
            said = (
                {"message": {"role": "assistant", "content": text}} if is_chat else {"text": text}
            )
            choice: dict[str, Any] = {"index": 0, "finish_reason": "stop", **said}
            if body.get("return_token_ids"):
                choice["token_ids"] = ids
                choice["prompt_token_ids"] = body.get("prompt", [7, 8, 9])
            if is_chat and body.get("logprobs"):
                content = [{"token": "?", "logprob": value} for value in log_probs]
                choice["logprobs"] = {"content": content}
            elif body.get("logprobs") is not None:
                choice["logprobs"] = {"token_logprobs": log_probs}
            usage = {"prompt_tokens": counted(body), "completion_tokens": len(ids)}
            whole = {"model": "served", "usage": usage} | {
                key: value for key, value in changes.items() if key in ("usage", "model")
            }
            choice |= {key: value for key, value in changes.items() if key not in whole}
            handler.send(json.dumps(whole | {"choices": [choice]}).encode())

        return behave

    @staticmethod
    def status(status: int, *, headers: dict[str, str] | None = None, **error: str) -> Behaviour:
        """An error response; `error` goes into the protocol's error object."""
        body = json.dumps({"error": {"message": "as the test wished", **error}}).encode()
        return lambda handler, _: handler.send(body, status, headers or {})

    @staticmethod
    def raw(body: bytes) -> Behaviour:
        """Status 200 with this body."""
        return lambda handler, _: handler.send(body)

    @staticmethod
    def cut_short() -> Behaviour:
        """A completion whose connection ends in the middle of the body."""

        def behave(handler: ChatHandler, _: dict[str, Any]) -> None:
            whole = completion(["never seen"])
            handler.send(whole[: len(whole) // 2], headers={"Content-Length": str(len(whole))})
            handler.close_connection = True

        return behave

    @staticmethod
    def slow() -> Behaviour:
        """No response before the server closes."""
        return lambda handler, _: handler.server.closing.wait(60) and None

    @staticmethod
    def drip() -> Behaviour:
        """A byte now and then, so that no single read takes long."""

        def behave(handler: ChatHandler, _: dict[str, Any]) -> None:
            handler.send(b"", headers={"Content-Length": "1000"})
            while not handler.server.closing.wait(0.05):
                try:
                    handler.wfile.write(b" ")
                except OSError:
                    return

        return behave


def click(handler: ChatHandler, body: dict[str, Any]) -> None:
    """A model that writes what the task quotes into the first empty field, presses the button that
    is named after it, else the first, and then says that it is done."""
    text = "\n".join(str(message["content"]) for message in body["messages"])
    said = HINT if "ADD: " in text else f"Thought: this comes next.\nAction: {_next(text)}"
    handler.send(completion([said], prompt_tokens=counted(body)))


HINT = "ADD: A button says in its name what it is for."


def _next(text: str) -> str:
    _, _, asked = text.rpartition("The task:")
    goal, _, shown = asked.partition("The page now")
    quoted = (re.findall(r'note "([^"]+)"', goal) or [""])[0]
    if "click(" in goal.partition("What you have done so far")[2]:
        return 'answer("")'
    field = re.search(r'\[(\d+)\] textbox "New note"$', shown, re.M)
    buttons = re.findall(r'\[(\d+)\] button "([^"]*)"', shown)
    named = [mark for mark, name in buttons if quoted and quoted in name]
    if quoted and field and not named:
        return f"fill({field[1]}, {json.dumps(quoted)})"
    chosen = named or [mark for mark, _ in buttons]
    return f"click({chosen[0]})" if chosen else 'answer("")'
