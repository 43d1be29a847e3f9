"""An agent as one tool of somebody else's: for LangChain, and for the OpenAI Agents SDK."""

import json
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, Field

from webagent.agent import Agent
from webagent.errors import SetupError


class BrowserTask(BaseModel):
    """What the tool is called with."""

    task: str = Field(description="What is to be done or found out, in one or two sentences.")
    url: str = Field(description="The address at which it begins, with http:// or https://.")


NAME = "browse"
MEANING = (
    "Have a browser agent do a task on a website and report. It reads pages, clicks and types, and"
    " returns JSON with outcome, answer, reason and url. Each call is a fresh session."
)


async def _browse(agent: Agent, request: BrowserTask) -> str:
    """Return what came of the task, failures included, for a model to read."""
    # A copy for each call: the framework may call from several threads and event loops.
    result = await replace(agent).run(request.task, url=request.url)
    facts = result.to_dict()
    return json.dumps({name: facts[name] for name in ("outcome", "answer", "reason", "url")})


def langchain_tool(agent: Agent) -> Any:
    """Return the agent as a LangChain `StructuredTool`, for `invoke` and `ainvoke` alike."""
    try:
        from langchain_core.tools import StructuredTool
    except ImportError as error:
        raise SetupError(f"{error}; to fix it: pip install langchain-core") from error

    async def browse(task: str, url: str) -> str:
        return await _browse(agent, BrowserTask(task=task, url=url))

    def browse_now(task: str, url: str) -> str:
        from anyio.from_thread import start_blocking_portal

        with start_blocking_portal() as portal:
            return portal.call(browse, task, url)

    return StructuredTool.from_function(
        browse_now, browse, name=NAME, description=MEANING, args_schema=BrowserTask
    )


def openai_agents_tool(agent: Agent) -> Any:
    """Return the agent as a `FunctionTool` of the OpenAI Agents SDK."""
    try:
        from agents import FunctionTool
    except ImportError as error:
        raise SetupError(f"{error}; to fix it: pip install openai-agents") from error

    async def invoke(_context: Any, arguments: str) -> str:
        return await _browse(agent, BrowserTask.model_validate_json(arguments))

    schema = BrowserTask.model_json_schema() | {"additionalProperties": False}
    return FunctionTool(NAME, MEANING, schema, invoke)
