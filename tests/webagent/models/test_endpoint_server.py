"""The endpoint backend against a real server process: `transformers serve` with tiny models."""

import asyncio
import io
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from tests.fakes.tiny_models import causal, llava
from webagent.errors import ModelError
from webagent.models import SERVERS, Endpoint, EndpointModel, Message

pytestmark = pytest.mark.very_slow

ASK = [Message("system", "Be brief."), Message("user", "Say something.")]
Connect = Callable[..., EndpointModel]


class Served:
    """A `transformers serve` process, to be killed and started again on the same port."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "serve.log"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The base URL for a client."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def received(self) -> int:
        """Requests that began to be answered, over all starts."""
        return self.log.read_text(errors="replace").count("[Request received]")

    def start(self) -> None:
        """Start it, and wait until it listens."""
        program = Path(sys.executable).with_name("transformers")
        command = [program, "serve", "--host", "127.0.0.1", "--port", str(self.port)]
        offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(self.folder), "OMP_NUM_THREADS": "1"}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--device", "cpu"], env=os.environ | offline, stdout=log, stderr=log
            )
        until = time.monotonic() + 120
        while not self._listens():
            assert self.process.poll() is None and time.monotonic() < until, self.log.read_text()
            time.sleep(0.1)

    def kill(self) -> None:
        """End it at once, whatever it does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def _listens(self) -> bool:
        try:
            with urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5):
                return True
        except (URLError, OSError):
            return False


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The server, with models to choose from that draw their replies where they are asked to."""
    folder = tmp_path_factory.mktemp("served")
    for made in (causal(folder / "tiny"), llava(folder / "seeing")):
        settings = made / "generation_config.json"
        settings.write_text(json.dumps(json.loads(settings.read_text()) | {"do_sample": True}))
    server = Served(folder)
    try:
        server.start()
        yield server
    finally:
        server.kill()


@pytest.fixture
async def connect(served: Served, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Connect]:
    """Make models for the server; they are closed at the end."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    models = []

    def make(name: str = "tiny", **options) -> EndpointModel:
        settings = {"base_url": served.url, "server": SERVERS["transformers"], "attempts": 2}
        models.append(EndpointModel(Endpoint(str(served.folder / name), **(settings | options))))
        return models[-1]

    yield make
    for model in models:
        await model.close()


async def test_as_many_replies_come_as_are_asked_for_with_their_cost_and_why_they_ended(connect):
    """The server gives one reply to a request."""
    completion = await connect().complete(ASK, n=3, temperature=1.0, seed=3, max_tokens=7)

    assert len({reply.text for reply in completion.replies}) == 3
    assert {reply.finish_reason for reply in completion.replies} == {"length"}
    assert completion.usage["requests"] == 3
    assert completion.usage["output_tokens"] == 21
    assert completion.usage["input_tokens"] > 30
    assert "tiny" in completion.model and completion.seconds > 0


async def test_the_seed_decides_what_is_drawn_and_nothing_is_drawn_at_temperature_zero(connect):
    model = connect()

    async def text(seed: int, temperature: float) -> str:
        options = {"seed": seed, "temperature": temperature, "max_tokens": 12}
        return (await model.complete(ASK, **options)).replies[0].text

    assert await text(5, 1.0) == await text(5, 1.0) != await text(6, 1.0)
    assert await text(5, 0.0) == await text(6, 0.0)


async def test_a_model_the_server_does_not_have_is_a_model_error_that_names_it(connect):
    with pytest.raises(ModelError, match=r"model .*unheard-of at http://127"):
        await connect("unheard-of", first_pause=0.01).complete(ASK)

    assert (await connect().complete(ASK, max_tokens=2)).replies


async def test_an_image_is_looked_at(connect):
    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", (56, 56), (200, 30, 30)).save(file, "PNG")
    model = connect("seeing")

    blind = await model.complete([Message("user", "Look.")], max_tokens=2)
    seeing = await model.complete([Message("user", "Look.", (file.getvalue(),))], max_tokens=2)

    assert seeing.usage["input_tokens"] >= blind.usage["input_tokens"] + 16


async def test_a_server_declared_to_return_ids_that_knows_of_none_is_named_at_once(connect):
    declared = replace(SERVERS["transformers"], token_ids=True)

    with pytest.raises(ModelError, match=r"refused with status 422.*Unexpected.*return_token_ids"):
        await connect(server=declared).complete(ASK)


async def test_a_server_that_dies_is_a_model_error_and_one_that_comes_back_goes_on(served, connect):
    hasty, patient = connect(first_pause=0.05), connect(attempts=200, longest_pause=0.5)
    before = served.received
    cut_off = asyncio.create_task(hasty.complete(ASK, max_tokens=8000))
    while served.received == before:
        await asyncio.sleep(0.02)
    waiting = asyncio.create_task(patient.complete(ASK, max_tokens=3))
    await asyncio.sleep(0.1)
    assert not cut_off.done()

    served.kill()

    with pytest.raises(ModelError, match="2 attempts failed; last: no connection"):
        await cut_off
    await asyncio.to_thread(served.start)
    completion = await waiting
    assert completion.usage["output_tokens"] == 3
    assert completion.usage["requests"] > 1
    assert len((await hasty.complete(ASK, max_tokens=3)).replies) == 1
