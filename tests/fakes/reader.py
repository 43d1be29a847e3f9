"""A world that reads pages over HTTP, for tests of sites without a browser."""

import asyncio
import json
from collections.abc import Callable, Mapping
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from tasks.task import Json, Task
from webagent.action import Action
from webagent.action.actions import Fill, Goto
from webagent.errors import WorldError
from webagent.records import Node, Observation


class ReaderWorld:
    """Goto opens an address, Fill posts the text as an entry of the diary to the page's server."""

    def __init__(self, logins: Callable[[Task], Mapping[str, object] | None] | None = None) -> None:
        self.logins = logins or (lambda task: None)
        self.tasks: list[Task] = []
        self.is_closed = False
        self._cookie = ""
        self._url = ""

    async def reset(self, task: Task) -> Observation:
        """Open the start page, logged in as the task says."""
        if self.is_closed:
            raise WorldError("the world has been closed")
        self.tasks.append(task)
        known = self.logins(task)
        cookies = known["cookies"] if known else []
        assert isinstance(cookies, list)
        self._cookie = "; ".join(f"{each['name']}={each['value']}" for each in cookies)
        return await self._open(task.start_url)

    async def step(self, action: Action) -> Observation:
        """Open or write; anything else has no effect."""
        match action:
            case Goto(url=url):
                return await self._open(url)
            case Fill(text=text):
                base = "/".join(self._url.split("/")[:3])
                await self._open(f"{base}/entries", {"text": text})
                return await self._open(f"{base}/")
        return Observation("", self._url, "", (), outcome="no effect")

    async def evidence(self, task: Task) -> Mapping[str, Json]:
        """What each probe's page says."""
        return {probe.name: await self._text(probe.url) for probe in task.probes}

    async def close(self) -> None:
        """No more after this."""
        self.is_closed = True

    async def _open(self, url: str, form: Mapping[str, str] | None = None) -> Observation:
        self._url = url
        text = await self._text(url, form)
        return Observation("", url, text.partition("</title>")[0], (Node(0, "text", text),))

    async def _text(self, url: str, form: Mapping[str, str] | None = None) -> str:
        data = urlencode(form).encode() if form else None
        request = Request(url, data, headers={"Cookie": self._cookie})

        def read() -> str:
            with urlopen(request, timeout=10) as reply:
                return str(reply.read().decode())

        try:
            return await asyncio.to_thread(read)
        except HTTPError as error:
            with error:
                return f"status {error.code}"
        except (URLError, ConnectionError) as error:
            return json.dumps({"unreachable": str(error)})
