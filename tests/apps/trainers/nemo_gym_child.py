"""NeMo Gym's own agent on our resources server, in a Python that has nemo-gym.

    python nemo_gym_child.py URL < JSON

`URL` is where episodes are served; the JSON has `rows` as `gym eval run` reads them, and `script`,
pairs of all that a model has read and what it says then. Printed is what the agent's `/run`
answers to each row, with its status.
"""

import asyncio
import json
import socket
import sys
from typing import Any

import uvicorn
from fastapi import FastAPI
from nemo_gym.config_types import ModelServerRef, ResourcesServerRef
from nemo_gym.server_utils import (
    BaseServerConfig,
    GlobalAIOHTTPAsyncClientConfig,
    ServerClient,
    set_global_aiohttp_client,
)
from omegaconf import OmegaConf
from responses_api_agents.gymnasium_agent.app import GymnasiumAgent, GymnasiumAgentConfig

from apps.trainers.nemo_gym_server import WebResources, WebResourcesConfig

KINDS = {
    "webagent": ("resources_servers", "webagent"),
    "policy_model": ("responses_api_models", "scripted"),
    "web_agent": ("responses_api_agents", "gymnasium_agent"),
}


def make_model(script: list[tuple[list[str], str]]) -> FastAPI:
    """A model's server in NeMo Gym's form."""
    app = FastAPI()

    @app.post("/v1/responses")
    async def respond(body: dict[str, Any]) -> dict[str, Any]:
        said = [each["content"] for each in body["input"] if each.get("role") == "user"]
        action = next((action for read, action in script if read == said), "give_up('lost')")
        text = {"type": "output_text", "text": f"I act.\nAction: {action}", "annotations": []}
        message = {"id": "m", "type": "message", "role": "assistant", "status": "completed"}
        return {
            "id": "r",
            "object": "response",
            "created_at": 0,
            "model": "scripted",
            "output": [message | {"content": [text]}],
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": [],
        }

    return app


async def main(url: str, asked: dict[str, Any]) -> None:
    """Serve all three and send the rows."""
    set_global_aiohttp_client(GlobalAIOHTTPAsyncClientConfig())
    listening = {name: socket.create_server(("127.0.0.1", 0)) for name in KINDS}
    where = {
        name: {"host": "127.0.0.1", "port": each.getsockname()[1], "entrypoint": "app.py"}
        for name, each in listening.items()
    }
    known = {name: {kind: {of: where[name]}} for name, (kind, of) in KINDS.items()}
    head = BaseServerConfig(host="127.0.0.1", port=1)
    client = ServerClient(head_server_config=head, global_config_dict=OmegaConf.create(known))
    resources = WebResourcesConfig(name="webagent", url=url, patience=5, **where["webagent"])
    agent = GymnasiumAgentConfig(
        name="web_agent",
        resources_server=ResourcesServerRef(type="resources_servers", name="webagent"),
        model_server=ModelServerRef(type="responses_api_models", name="policy_model"),
        max_steps=30,
        **where["web_agent"],
    )
    apps = {"policy_model": make_model(asked["script"])}
    for name, server in (
        ("webagent", WebResources(config=resources, server_client=client)),
        ("web_agent", GymnasiumAgent(config=agent, server_client=client)),
    ):
        apps[name] = server.setup_webserver()
        server.setup_exception_middleware(apps[name])
    servers = [uvicorn.Server(uvicorn.Config(apps[name], log_level="error")) for name in KINDS]
    pairs = zip(servers, listening.values(), strict=True)
    serving = [asyncio.ensure_future(server.serve(sockets=[at])) for server, at in pairs]
    for row in asked["rows"]:
        answer = await client.post("web_agent", "/run", json=row)
        told = [answer.status, json.loads(await answer.read())]
        sys.stdout.write(json.dumps(told) + "\n")
    for server in servers:
        server.should_exit = True
    await asyncio.gather(*serving)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], json.load(sys.stdin)))
