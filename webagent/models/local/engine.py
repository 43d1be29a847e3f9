"""Which requests are written together, and what happens when memory runs out."""

from collections import deque
from collections.abc import Callable
from typing import Any

import torch

from webagent.errors import ModelError, WebAgentError
from webagent.models.local.decoding import Decoder, Joining
from webagent.models.local.request import Request, Row
from webagent.models.local.settings import Generation
from webagent.models.local.weights import Weights
from webagent.models.model import Constraint, Matcher

CompileConstraint = Callable[[Constraint, Any], Callable[[], Matcher]]

_FAILURES = (RuntimeError, ValueError, TypeError, KeyError, IndexError, AttributeError)
"""What code of a model, a processor or a template raises at inputs it was not made for."""


class Engine:
    """Requests in order of arrival, as many replies at once as fit.

    Requests join between two forward passes. Those of one adapter are written together; one for
    another adapter waits until these are done, and later ones wait behind it.
    """

    def __init__(
        self, weights: Weights, settings: Generation, compile_constraint: CompileConstraint
    ) -> None:
        self._weights = weights
        self._settings = settings
        self._compile = compile_constraint
        self._capacity = settings.max_rows
        self._revision = -1
        self.decoder = Decoder(weights, settings)
        self.waiting: deque[Request] = deque()

    @property
    def is_busy(self) -> bool:
        """Whether a round would do anything."""
        return bool(self.waiting or self.decoder.rows)

    def round(self) -> None:
        """Take in who waits, then one forward pass."""
        if self._weights.module.training:
            self._weights.module.eval()
        self._notice_changes()
        self.waiting = deque(request for request in self.waiting if not request.is_closed)
        if any(row.request.is_closed for row in self.decoder.rows):
            self.decoder.join([])
        self._admit()
        if self.decoder.rows:
            rows = list(self.decoder.rows)
            try:
                self._weights.adapters.use(rows[0].request.adapter)
                self.decoder.step()
            except _FAILURES as error:
                if _is_memory(error):
                    self._shrink([])
                else:
                    self.decoder.drop()
                    for row in rows:
                        row.request.fail(_failed(error))
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
        joining: list[Joining] = []
        while (group := self._next_group(joining)) is not None:
            if not group:
                continue
            request = group[0].request
            try:
                self._weights.adapters.use(request.adapter)
                joining.append(self.decoder.read(group))
            except _FAILURES as error:
                if _is_memory(error):
                    self._shrink([*self._joined(joining), *group])
                    return
                request.fail(_failed(error))
        if joining:
            self._join(joining)

    def _join(self, joining: list[Joining]) -> None:
        rows = self._joined(joining)
        try:
            self.decoder.join(joining)
        except RuntimeError as error:
            if not _is_memory(error):
                raise
            self._shrink(rows)
        self._settle(rows)

    def _joined(self, joining: list[Joining]) -> list[Row]:
        return [row for one in joining for row in one.rows]

    def _next_group(self, joining: list[Joining]) -> list[Row] | None:
        """The rows whose prompt is read next, empty to ask again, None when nobody may join."""
        here = [*self.decoder.rows, *self._joined(joining)]
        free = self._capacity - len(here)
        if not self.waiting or free <= 0:
            return None
        request = self.waiting[0]
        if here and not self._may_join(request, here[0].request):
            return None
        if request.is_closed or not self._prepare(request):
            self.waiting.popleft()
            return []
        count = 1 if request.pending[0].said or not self._settings.shared_prefill else free
        fresh = [row for row in request.pending[:count] if not row.said]
        group = fresh or request.pending[:1]
        request.pending = [row for row in request.pending if row not in group]
        if not request.pending:
            self.waiting.popleft()
        return group

    def _may_join(self, request: Request, there: Request) -> bool:
        if request.adapter != there.adapter:
            return False
        return self._settings.batching or request is there

    def _prepare(self, request: Request) -> bool:
        """Read the prompt into ids, once. False when that failed, and was answered so."""
        if request.reading is None:
            try:
                reading = self._weights.reader.read(request.prompt)
                if request.constraint is not None:
                    request.matcher = self._compile(request.constraint, self._weights.tokenizer)
                request.begin(reading, self._weights.reader.context)
            except WebAgentError as error:
                request.fail(error)
                return False
            except _FAILURES as error:
                request.fail(_failed(error))
                return False
        request.version = request.version or self._weights.version(request.adapter)
        return True

    def _settle(self, rows: list[Row]) -> None:
        for request in dict.fromkeys(row.request for row in rows):
            request.settle(self._text)

    def _text(self, ids: list[int]) -> str:
        said = ids[:-1] if ids[-1] in self._weights.endings.stop else ids
        text: str = self._weights.tokenizer.decode(
            said, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text

    def _shrink(self, more: list[Row]) -> None:
        """Memory ran out: forget all caches, and go on with half the rows."""
        rows = [*self.decoder.drop(), *more]
        self.decoder.prefixes.clear()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        rows = list(dict.fromkeys(row for row in rows if not row.is_over))
        if len(rows) == 1:
            rows[0].request.fail(_too_large(rows[0], self._weights))
            return
        self._capacity = max(1, len(rows) // 2)
        self._return(rows)

    def _return(self, rows: list[Row]) -> None:
        """Put rows back to the front, in their order."""
        for request in reversed(dict.fromkeys(row.request for row in rows)):
            mine = [row for row in rows if row.request is request]
            request.pending = mine + request.pending
            if request in self.waiting:
                self.waiting.remove(request)
            self.waiting.appendleft(request)

    def _notice_changes(self) -> None:
        """After a change of the weights nothing that was computed before it holds."""
        if self.waiting or self._weights.is_touched:
            self._weights.refresh()
        if self._weights.revision == self._revision:
            return
        self._revision = self._weights.revision
        self.decoder.prefixes.clear()
        rows = self.decoder.drop()
        self._return(rows)
        for request in self.waiting:
            request.version = ""
            for row in request.rows:
                row.restart()
            request.pending = list(request.rows)


def _is_memory(error: BaseException) -> bool:
    if isinstance(error, torch.OutOfMemoryError):
        return True
    said = str(error).lower()
    return isinstance(error, RuntimeError) and (
        "can't allocate memory" in said or "out of memory" in said
    )


def _too_large(row: Row, weights: Weights) -> ModelError:
    length = len(row.request.reading) if row.request.reading else 0
    return ModelError(
        f"out of memory on {weights.device} with a single reply: a prompt of {length:,} ids and"
        f" {len(row.said):,} of the reply; show less of the page, lower max_tokens, or load the"
        " model with a smaller dtype"
    )


def _failed(error: BaseException) -> ModelError:
    said = " ".join(str(error).split())[:300]
    return ModelError(f"the model failed on this request: {type(error).__name__}: {said}")
