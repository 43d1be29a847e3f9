"""A server that speaks the protocol and answers as it is told to."""

import json
import socket
import threading
from typing import Any

from websockets.sync.server import ServerConnection, serve

BUSY = {"type": "error", "data": {"message": "2 play", "code": "CAPACITY_REACHED"}}


class ForeignServer:
    """Gives its answers one by one; None cuts the network."""

    def __init__(self) -> None:
        self.answers: list[dict[str, Any] | None] = []
        self._server = serve(self._talk, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.socket.getsockname()[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Let nobody in any more."""
        self._server.shutdown()

    def _talk(self, connection: ServerConnection) -> None:
        for message in connection:
            if '"close"' not in message:
                answer = self.answers.pop(0)
                if answer is None:
                    connection.socket.shutdown(socket.SHUT_RDWR)
                    return
                connection.send(json.dumps(answer))


def turn(reward: Any, done: bool, **more: str) -> dict[str, Any]:
    """An answer to a reset or a step."""
    seen = {"goal": "Press.", "page": "", "url": "", "outcome": "", "ending": "", "reason": ""}
    data = {"observation": seen | more, "reward": reward, "done": done}
    return {"type": "observation", "data": data}
