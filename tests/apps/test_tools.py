"""An agent as one tool of LangChain and of the OpenAI Agents SDK, held to what these document."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel

from apps.tools import langchain_tool, openai_agents_tool
from webagent import Agent
from webagent.action import Answer, GiveUp
from webagent.errors import SetupError
from webagent.policy.policy import ScriptedPolicy, play_actions

ASKED = {"task": "What does it cost?", "url": "about:blank"}


@dataclass
class StructuredTool:
    """What `langchain_core.tools.StructuredTool.from_function` is documented to take."""

    func: Callable[..., str]
    coroutine: Callable[..., Awaitable[str]]
    name: str
    description: str
    args_schema: type[BaseModel]

    @classmethod
    def from_function(
        cls, func: Any, coroutine: Any, *, name: str, description: str, args_schema: Any
    ) -> "StructuredTool":
        """Return the tool."""
        return cls(func, coroutine, name, description, args_schema)


@dataclass
class FunctionTool:
    """What `agents.FunctionTool` is documented to take."""

    name: str
    description: str
    params_json_schema: dict[str, Any]
    on_invoke_tool: Callable[[Any, str], Awaitable[str]]


@pytest.fixture(autouse=True)
def frameworks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both frameworks, as far as a tool is concerned."""
    for name, tool in (("langchain_core.tools", StructuredTool), ("agents", FunctionTool)):
        module = ModuleType(name)
        setattr(module, tool.__name__, tool)
        monkeypatch.setitem(sys.modules, name.partition(".")[0], module)
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.browser
async def test_both_frameworks_get_what_came_of_the_task() -> None:
    chain = langchain_tool(Agent(ScriptedPolicy(play_actions([Answer("420 euros")]))))
    assert set(chain.args_schema.model_json_schema()["required"]) == {"task", "url"}
    told = {"outcome": "answered", "answer": "420 euros", "reason": "", "url": "about:blank"}
    assert json.loads(await asyncio.to_thread(chain.func, **ASKED)) == told
    assert json.loads(await chain.coroutine(**ASKED)) == told
    agents = openai_agents_tool(Agent(ScriptedPolicy(play_actions([GiveUp("no kayak")]))))
    assert agents.params_json_schema["additionalProperties"] is False
    said = json.loads(await agents.on_invoke_tool(None, json.dumps(ASKED)))
    assert (said["outcome"], said["reason"]) == ("gave up", "no kayak")


def test_a_framework_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = Agent("NAME")
    monkeypatch.setitem(sys.modules, "langchain_core.tools", None)
    monkeypatch.setitem(sys.modules, "agents", None)
    with pytest.raises(SetupError, match="pip install langchain-core"):
        langchain_tool(agent)
    with pytest.raises(SetupError, match="openai-agents"):
        openai_agents_tool(agent)
