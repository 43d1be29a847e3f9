"""Which requests are written together, and what happens when memory runs out."""

import sys
import threading
from collections import deque

import torch

from webagent.errors import ModelError, WebAgentError
from webagent.models.constrain import compile_constraint
from webagent.models.local.decoding import Decoder, Joining
from webagent.models.local.requests import GenerationRequest, ReplyRow
from webagent.models.local.source import Generation
from webagent.models.local.weights import LoadedWeights

_FAILURES = (RuntimeError, ValueError, TypeError, KeyError, IndexError, AttributeError)
"""What code of a model, a processor or a template raises at inputs it was not made for."""
_IDLE = 2.0
"""Seconds without a request after which the thread ends; the next request starts another."""
_CLOSED = "the model was closed; make a new one to go on"


class GenerationEngine:
    """Requests in order of arrival, as many at once as fit; they join between forward passes."""

    def __init__(self, weights: LoadedWeights, settings: Generation) -> None:
        self._weights = weights
        self._settings = settings
        self._capacity = settings.max_rows
        self._revision = -1
        self.decoder = Decoder(weights, settings)
        self.waiting: deque[GenerationRequest] = deque()

    @property
    def is_busy(self) -> bool:
        """Whether a round would do anything."""
        return bool(self.waiting or self.decoder.rows)

    def round(self) -> None:
        """Take in who waits, then one forward pass."""
        if self._weights.module.training:
            self._weights.module.eval()
        if self.waiting and not self.decoder.rows:
            # What was read with other weights is of no use.
            self._weights.refresh()
            if self._weights.revision != self._revision:
                self._revision = self._weights.revision
                self.decoder.prefixes.clear()
        self.waiting = deque(request for request in self.waiting if not request.is_closed)
        if any(row.request.is_closed for row in self.decoder.rows):
            self.decoder.join([])
        self._admit()
        if self.decoder.rows:
            rows = list(self.decoder.rows)
            try:
                self.decoder.step()
            except _FAILURES as error:
                if _is_memory(error):
                    self._shrink([])
                else:
                    self.decoder.drop()
                    for row in rows:
                        row.request.fail(_explain_failure(error))
            self._settle(rows)
        if not self.is_busy:
            self._capacity = min(self._settings.max_rows, 2 * self._capacity)

    def fail(self, error: WebAgentError) -> None:
        """Fail everything that waits or is under way."""
        requests = [row.request for row in self.decoder.drop()] + list(self.waiting)
        self.waiting.clear()
        self.decoder.prefixes.clear()
        for request in requests:
            request.fail(error)

    def _admit(self) -> None:
        """Read the prompts of those who may join, and take them into the batch."""
        joining: list[Joining] = []
        rows: list[ReplyRow] = []
        while (group := self._next_group(rows)) is not None:
            if not group:
                continue
            request = group[0].request
            try:
                joining.append(self.decoder.read(group))
            except _FAILURES as error:
                if _is_memory(error):
                    self._shrink([*rows, *group])
                    return
                request.fail(_explain_failure(error))
            else:
                rows += group
        if not joining:
            return
        try:
            self.decoder.join(joining)
        except RuntimeError as error:
            if not _is_memory(error):
                raise
            self._shrink(rows)
        self._settle(rows)

    def _next_group(self, joining: list[ReplyRow]) -> list[ReplyRow] | None:
        """Return the rows whose prompt is read next, empty to ask again, None for nobody."""
        free = self._capacity - len(self.decoder.rows) - len(joining)
        if not self.waiting or free <= 0:
            return None
        request = self.waiting[0]
        if request.is_closed or not self._prepare(request):
            self.waiting.popleft()
            return []
        count = 1 if request.pending[0].sampled_ids else free
        fresh = [row for row in request.pending[:count] if not row.sampled_ids]
        group = fresh or request.pending[:1]
        request.pending = [row for row in request.pending if row not in group]
        if not request.pending:
            self.waiting.popleft()
        return group

    def _prepare(self, request: GenerationRequest) -> bool:
        """Read the prompt into ids, once. False when that failed, and was answered so."""
        if request.encoded is None:
            try:
                encoded = self._weights.reader.read(request.prompt)
                if request.constraint is not None:
                    request.matcher = compile_constraint(
                        request.constraint,
                        self._weights.tokenizer,
                        width=self._weights.width,
                        ends=sorted(self._weights.endings.stop),
                    )
                request.begin(encoded, self._weights.reader.context)
            except WebAgentError as error:
                request.fail(error)
                return False
            except _FAILURES as error:
                request.fail(_explain_failure(error))
                return False
        request.version = request.version or self._weights.version()
        return True

    def _settle(self, rows: list[ReplyRow]) -> None:
        def decode(ids: list[int]) -> str:
            text_ids = ids[:-1] if ids[-1] in self._weights.endings.stop else ids
            text: str = self._weights.tokenizer.decode(
                text_ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
            return text

        for request in dict.fromkeys(row.request for row in rows):
            request.settle(decode)

    def _shrink(self, more: list[ReplyRow]) -> None:
        """Memory ran out: forget all caches, and go on with half the rows."""
        rows = [*self.decoder.drop(), *more]
        self.decoder.prefixes.clear()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        rows = list(dict.fromkeys(row for row in rows if not row.is_over))
        if len(rows) == 1:
            request = rows[0].request
            length = len(request.encoded) if request.encoded else 0
            request.fail(
                ModelError(
                    f"out of memory on {self._weights.device} with a single reply: a prompt of"
                    f" {length:,} ids and {len(rows[0].sampled_ids):,} of the reply; show less of"
                    " the page, lower max_tokens, or load the model with a smaller dtype"
                )
            )
            return
        self._capacity = max(1, len(rows) // 2)
        # They go back to the front, in their order.
        for request in reversed(dict.fromkeys(row.request for row in rows)):
            mine = [row for row in rows if row.request is request]
            request.pending = mine + request.pending
            if request in self.waiting:
                self.waiting.remove(request)
            self.waiting.appendleft(request)


def _is_memory(error: BaseException) -> bool:
    if not isinstance(error, RuntimeError):  # torch.OutOfMemoryError is one
        return False
    message = str(error).lower()
    is_named = "can't allocate memory" in message or "out of memory" in message
    return is_named or isinstance(error, torch.OutOfMemoryError)


def _explain_failure(error: BaseException) -> ModelError:
    message = " ".join(str(error).split())[:300]
    return ModelError(f"the model failed on this request: {type(error).__name__}: {message}")


class GenerationWorker:
    """Runs an engine while there are requests."""

    def __init__(self, engine: GenerationEngine) -> None:
        self.engine = engine
        self._inbox: deque[GenerationRequest] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def submit(self, request: GenerationRequest) -> None:
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
        """Run rounds until nobody waits any more; fail who still waits when it ends otherwise."""
        try:
            while True:
                with self._changed:
                    if not self.engine.is_busy:
                        self._changed.wait_for(lambda: self._inbox or self._closed, timeout=_IDLE)
                    self.engine.waiting.extend(self._inbox)
                    self._inbox.clear()
                    if self._closed or not self.engine.is_busy:
                        self._thread = None
                        return
                self.engine.round()
        finally:
            error = sys.exception()
            with self._changed:
                if error is not None or self._closed:
                    self._thread = None
                    reason = _CLOSED if error is None else f"generation broke off: {error!r}"
                    self.engine.waiting.extend(self._inbox)
                    self._inbox.clear()
                    self.engine.fail(ModelError(reason))
