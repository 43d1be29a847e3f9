"""The thread that runs the forward passes, so that the event loop stays free."""

import sys
import threading
from collections import deque

from webagent.errors import ModelError
from webagent.models.local.engine import Engine
from webagent.models.local.request import Request
from webagent.models.local.weights import Weights

_IDLE = 2.0
"""Seconds without a request after which the thread ends; the next request starts another."""


class Worker:
    """Runs an engine while there are requests."""

    def __init__(self, engine: Engine, weights: Weights) -> None:
        self.engine = engine
        self._weights = weights
        self._inbox: deque[Request] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def submit(self, request: Request) -> None:
        """Hand a request over. Raises `ModelError` after `close`."""
        with self._changed:
            if self._closed:
                raise ModelError(_CLOSED)
            self._inbox.append(request)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="generate", daemon=True)
                self._thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Fail what waits or is under way, and end the thread. Blocks for one forward pass."""
        with self._changed:
            self._closed = True
            thread = self._thread
            self._changed.notify()
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        try:
            while self._take():
                with self._weights.turn():
                    self.engine.round()
        finally:
            self._leave(sys.exception())

    def _take(self) -> bool:
        """Move new requests to the engine; False when the thread is to end."""
        with self._changed:
            if not self.engine.is_busy:
                self._changed.wait_for(lambda: self._inbox or self._closed, timeout=_IDLE)
            self.engine.waiting.extend(self._inbox)
            self._inbox.clear()
            if self._closed or not self.engine.is_busy:
                self._thread = None
                return False
            return True

    def _leave(self, error: BaseException | None) -> None:
        """After the end of the thread: whoever still waits is told why."""
        with self._changed:
            if error is None and not self._closed:
                return
            self._thread = None
            reason = ModelError(_CLOSED if error is None else f"generation broke off: {error!r}")
            self.engine.waiting.extend(self._inbox)
            self._inbox.clear()
            self.engine.fail(reason)


_CLOSED = "the model was closed; make a new one to go on"
