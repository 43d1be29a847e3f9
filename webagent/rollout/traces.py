"""OpenTelemetry spans of episodes, steps and model calls, for whoever sets WEBAGENT_TRACES=1.

Names and attributes follow the semantic conventions for generative AI. What pages, people and
models said is in none of them, unless OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true.
"""

import json
import os
import time
from collections.abc import Iterable, Sequence
from functools import cache
from multiprocessing.util import Finalize
from typing import Any

from webagent.action import format_action
from webagent.errors import SetupError
from webagent.exchange import Exchange
from webagent.records import Step, Trajectory

_ASK, _ASK_CONTENT = "WEBAGENT_TRACES", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_TRUE = ("1", "true", "on")
_USAGE = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "cached_input_tokens": "gen_ai.usage.cache_read.input_tokens",
}
_SECOND = 1_000_000_000


class EpisodeSpans:
    """The spans of one episode: `invoke_agent`, in it a `step` each, in these `chat` for every
    model call and `execute_tool` for the action."""

    def __init__(self, trajectory: Trajectory) -> None:
        from opentelemetry.trace import set_span_in_context

        self._tracer, self._nest = _tracer(), set_span_in_context
        self._shows_content = os.environ.get(_ASK_CONTENT, "").lower() in _TRUE
        task, place = trajectory.task, trajectory.provenance
        self._episode = self._tracer.start_span(
            "invoke_agent webagent",
            attributes={
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "webagent",
                "gen_ai.conversation.id": trajectory.id,
                "webagent.task.id": task.id,
                "webagent.task.seed": task.seed,
                "webagent.attempt": trajectory.attempt,
                **{
                    f"webagent.{name}": getattr(place, name)
                    for name in ("run", "arm", "repeat", "round", "phase", "world")
                },
            },
        )
        self._since = time.time_ns()

    def add_step(self, position: int, step: Step | None, exchanges: Sequence[Exchange]) -> None:
        """Add a step that is over; None for one that no action came of."""
        ended, began = time.time_ns(), self._since
        self._since = ended
        acted = ended - round((step.seconds if step else 0.0) * _SECOND)
        inside = self._nest(self._episode)
        span = self._tracer.start_span(f"step {position + 1}", inside, start_time=began)
        span.set_attribute("webagent.step", position + 1)
        at = began
        for exchange in exchanges:  # when each began is not kept; most came one after another
            until = min(at + round(exchange.seconds * _SECOND), acted)
            self._add_call(span, exchange, at, until)
            at = until
        if step is not None:
            call = format_action(step.decision.action)
            name = call.partition("(")[0]
            attributes = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": name,
                "webagent.source": step.decision.source,
            }
            if self._shows_content:
                attributes["gen_ai.tool.call.arguments"] = call
            inside = self._nest(span)
            acting = self._tracer.start_span(
                f"execute_tool {name}", inside, attributes=attributes, start_time=acted
            )
            acting.end(ended)
        span.end(ended)

    def finish(self, trajectory: Trajectory) -> None:
        """End the episode's span, with what it came to."""
        from opentelemetry.trace import StatusCode

        self._episode.set_attribute("webagent.ending", str(trajectory.ending))
        self._episode.set_attribute("webagent.steps", len(trajectory.steps))
        if trajectory.ending is not None and trajectory.ending.is_infrastructure:
            self._episode.set_attribute("error.type", str(trajectory.ending))
            self._episode.set_status(StatusCode.ERROR)
        self._episode.end()

    def _add_call(self, step: Any, exchange: Exchange, began: int, ended: int) -> None:
        from opentelemetry.trace import SpanKind, StatusCode

        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": exchange.model,
            "gen_ai.response.finish_reasons": [each.finish_reason for each in exchange.replies],
            "webagent.role": exchange.role,
            "webagent.requests": max(1, len(exchange.attempts)),
        }
        for name, key in (("temperature", "temperature"), ("max_tokens", "max_tokens")):
            if name in exchange.options:
                attributes[f"gen_ai.request.{key}"] = exchange.options[name]
        attributes |= {
            _USAGE[name]: count for name, count in exchange.usage.items() if name in _USAGE
        }
        if self._shows_content:
            sent = ((each.role, each.text) for each in exchange.messages)
            replies = (("assistant", each.text) for each in exchange.replies)
            attributes["gen_ai.input.messages"] = _messages(sent)
            attributes["gen_ai.output.messages"] = _messages(replies)
        span = self._tracer.start_span(
            f"chat {exchange.model}",
            self._nest(step),
            SpanKind.CLIENT,
            attributes,
            start_time=began,
        )
        if exchange.error:
            span.set_attribute("error.type", "model failed")
            span.set_status(StatusCode.ERROR, exchange.error if self._shows_content else None)
        span.end(ended)


def open_spans(trajectory: Trajectory) -> EpisodeSpans | None:
    """Return the spans of an episode that begins; None where nobody asked for any.

    Raises `SetupError` where they are asked for and OpenTelemetry is not installed.
    """
    if os.environ.get(_ASK, "").lower() not in _TRUE:
        return None
    return EpisodeSpans(trajectory)


@cache
def _tracer() -> Any:
    """Return the tracer of the program's own provider, else of one that sends by OTLP to where
    OTEL_EXPORTER_OTLP_ENDPOINT says."""
    try:
        from opentelemetry import trace
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider

        if not isinstance(trace.get_tracer_provider(), TracerProvider):
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.trace.export import BatchSpanProcessor

            named = Resource.create(
                {"service.name": os.environ.get("OTEL_SERVICE_NAME", "webagent")}
            )
            provider = TracerProvider(resource=named, shutdown_on_exit=False)
            provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
            trace.set_tracer_provider(provider)
            # Workers of `improve` end without running what is registered with atexit.
            Finalize(None, provider.shutdown, exitpriority=0)
    except ImportError as error:
        raise SetupError(
            f"{_ASK} asks for traces, and {error.name} is not installed; pip install"
            f" 'webagent-loop[otel]', or unset {_ASK}"
        ) from error
    return trace.get_tracer("webagent")


def _messages(messages: Iterable[tuple[str, str]]) -> str:
    return json.dumps(
        [{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in messages]
    )
