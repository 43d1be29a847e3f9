"""Episodes, steps and model calls as OpenTelemetry spans: off unless asked, without contents."""

import json
from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.fakes import FakeWorld, fake_task
from webagent.agent.asking import Asking
from webagent.errors import ModelError
from webagent.models.canned import CannedModel
from webagent.models.spending import Ledger, MeteredModel
from webagent.rollout import run_episode

TYPED = "correct horse"
PROVIDER, MEMORY = TracerProvider(), InMemorySpanExporter()
PROVIDER.add_span_processor(SimpleSpanProcessor(MEMORY))


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """A program with a provider of its own, as one that is traced as a whole has."""
    monkeypatch.setattr("webagent.rollout.traces._tracer", lambda: PROVIDER.get_tracer("webagent"))
    MEMORY.clear()
    yield MEMORY


async def play(*replies: str | ModelError) -> str:
    """Play an episode by a model that says these; return the id."""
    model = MeteredModel(CannedModel(replies, name="openai/m"), Ledger())
    return (await run_episode(fake_task(3), Asking().policy(model, None), FakeWorld())).id


def named(spans: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    """The spans of this operation, in order."""
    found = [span for span in spans.get_finished_spans() if span.name.startswith(name)]
    return sorted(found, key=lambda span: span.start_time or 0)


async def test_spans_nest_and_follow_the_conventions(exported, monkeypatch) -> None:
    monkeypatch.setenv("WEBAGENT_TRACES", "1")

    episode = await play(f'Thought: {TYPED}\nAction: answer("{TYPED}")')

    (whole,), (step,) = named(exported, "invoke_agent"), named(exported, "step")
    (call,), (tool,) = named(exported, "chat"), named(exported, "execute_tool")
    assert [each.parent and each.parent.span_id for each in (whole, step, call, tool)] == [
        None,
        *(each.context.span_id for each in (whole, step, step)),
    ]
    assert whole.attributes["gen_ai.conversation.id"] == episode
    assert whole.attributes["webagent.ending"] == "answered"
    assert (call.name, tool.name) == ("chat openai/m", "execute_tool answer")
    assert call.kind is trace.SpanKind.CLIENT
    assert call.attributes["gen_ai.operation.name"] == "chat"
    assert call.attributes["gen_ai.request.model"] == "openai/m"
    assert call.attributes["gen_ai.usage.output_tokens"] > 0
    assert call.attributes["gen_ai.response.finish_reasons"] == ("stop",)
    assert step.start_time <= call.start_time <= call.end_time <= step.end_time


async def test_nothing_that_was_said_is_in_a_span_unless_asked(exported, monkeypatch) -> None:
    monkeypatch.setenv("WEBAGENT_TRACES", "1")
    reply = f'Action: answer("{TYPED}")'
    await play(reply)
    text = "".join(span.to_json() for span in exported.get_finished_spans())
    assert TYPED not in text and "Tick" not in text

    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    exported.clear()
    await play(reply)
    (call,) = named(exported, "chat")
    said = json.loads(call.attributes["gen_ai.output.messages"])
    assert said == [{"role": "assistant", "parts": [{"type": "text", "content": reply}]}]
    assert "Tick" in call.attributes["gen_ai.input.messages"]


async def test_a_call_that_failed_is_an_error_without_the_server_s_words(exported, monkeypatch):
    monkeypatch.setenv("WEBAGENT_TRACES", "1")
    await play(ModelError(f"500: {TYPED}"))
    (call,), (whole,) = named(exported, "chat"), named(exported, "invoke_agent")
    for span in (call, whole):
        assert span.attributes["error.type"] == "model failed"
        assert span.status.status_code is trace.StatusCode.ERROR
    assert TYPED not in call.to_json() + whole.to_json()


async def test_without_being_asked_there_are_no_spans(exported, monkeypatch) -> None:
    monkeypatch.delenv("WEBAGENT_TRACES", raising=False)
    await play('Action: answer("x")')
    assert not exported.get_finished_spans()
