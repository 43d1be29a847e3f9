"""A server that speaks the protocol and answers as it is told to."""

import json
import socket
import threading
from typing import Any

from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, Request, TextMessage

BUSY = {"type": "error", "data": {"message": "2 play", "code": "CAPACITY_REACHED"}}


class ForeignServer:
    """Gives its answers one by one; None cuts the network."""

    def __init__(self) -> None:
        self.answers: list[dict[str, Any] | None] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._run, daemon=True).start()

    def close(self) -> None:
        """Let nobody in any more."""
        self._listening.close()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:  # closed
                return
            with connection:
                self._talk(connection, WSConnection(ConnectionType.SERVER))

    def _talk(self, connection: socket.socket, wire: WSConnection) -> None:
        while received := connection.recv(1 << 16):
            wire.receive_data(received)
            for event in wire.events():
                if isinstance(event, Request):
                    connection.sendall(wire.send(AcceptConnection()))
                elif isinstance(event, TextMessage) and '"close"' not in event.data:
                    answer = self.answers.pop(0)
                    if answer is None:
                        return
                    connection.sendall(wire.send(TextMessage(json.dumps(answer))))


def turn(reward: Any, done: bool, **more: str) -> dict[str, Any]:
    """An answer to a reset or a step."""
    seen = {"goal": "Press.", "page": "", "url": "", "outcome": "", "ending": "", "reason": ""}
    data = {"observation": seen | more, "reward": reward, "done": done}
    return {"type": "observation", "data": data}
