"""NeMo Gym (0.4): a resources server for its `gymnasium_agent`, in which the page is the user.

`WorldError` is answered with status 500, which that agent raises: a lost rollout has no reward.
"""

import asyncio
from typing import Any

from nemo_gym.base_resources_server import BaseResourcesServerConfig
from resources_servers.gymnasium import GymnasiumServer, extract_text

from apps.trainers.episode import EpisodeChoice, TrainerEpisode, read_reply_action
from webagent.errors import WorldError


class WebResourcesConfig(BaseResourcesServerConfig):
    """Its YAML file: where `webagent serve` is, and seconds to try again what does not begin."""

    url: str = "http://127.0.0.1:8000"
    patience: float = 120.0


class WebResources(GymnasiumServer):
    """Episodes of a `webagent serve`, one for each session; rows name `task` and `seed`."""

    config: WebResourcesConfig

    async def reset(self, metadata: dict[str, Any], session_id: str | None = None) -> Any:
        """Begin a row's episode; return its first page. Raises `WorldError` where none begins."""
        episode = TrainerEpisode(self.config.url, self.config.patience)
        self.session_state[session_id] = episode
        choice = EpisodeChoice(metadata["task"], metadata["seed"], metadata.get("split", ""))
        return await asyncio.to_thread(episode.begin, choice), {}

    async def step(self, action: Any, metadata: Any, session_id: str | None = None) -> Any:
        """Do what a reply says. Raises `WorldError` where the episode is lost."""
        episode = self.session_state.get(session_id)
        if episode is None:
            raise WorldError("no episode has begun in this session, or this server is a new one")
        page = await asyncio.to_thread(episode.act, read_reply_action(extract_text(action)))
        if not episode.is_over:
            return page, 0.0, False, False, {}
        episode.close()
        result = episode.verdict()
        return page, result.reward, True, False, {"ending": result.ending, "reason": result.reason}
