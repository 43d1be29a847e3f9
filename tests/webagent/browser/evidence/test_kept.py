"""Evidence outlives its pages: what is scored from a run folder is what was there."""

import json

import pytest

from benchmarks.rules import checks_hold
from tasks.task import Probe, TaskCheck
from webagent.action import actions as act
from webagent.policy.policy import ScriptedPolicy, play_actions
from webagent.rollout import run_episode
from webagent.store import Store

pytestmark = pytest.mark.browser

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)
MANY = """<title>Many \\ud800</title><canvas id=c></canvas><img id=i src="/dot.png"><script>
const ask = (n) => fetch("/second?" + n, { method: "POST", body: "é".repeat(3000) });
Promise.all(Array.from({ length: 150 }, (_, n) => ask(n))).then(() => document.title = "\\ud800");
</script>"""


async def test_a_big_log_and_pictures_are_scored_again_from_the_run_folder(
    browser, shop_task, site, tmp_path
):
    site.page("/many", MANY)
    site.page("/dot.png", PNG, Content_Type="image/png")
    task = shop_task(
        "/many",
        records=("network", "elements"),
        probes=(
            Probe("title", script="document.title"),
            Probe("dot", "pictures", script="document.images"),
        ),
        checks=(TaskCheck("title", "equals", "\ufffd"),),
    )
    with Store.open(tmp_path / "run", create=True) as store:
        world = await browser.world(keep_picture=store.images.add)
        policy = ScriptedPolicy(play_actions([act.Wait(1000), act.Answer("done")]))
        played = await run_episode(task, policy, world, recorder=store)
        await world.close()
    network = played.evidence["network"]
    assert isinstance(network, list) and len(network) > 150
    assert len(json.dumps(network)) > 400_000
    with Store.open(tmp_path / "run") as store:
        loaded = store.load(played.id)
        assert loaded is not None
        assert loaded.evidence == played.evidence
        assert await checks_hold()(loaded) == await checks_hold()(played)
        (dot,) = loaded.evidence["dot"]  # type: ignore[union-attr, misc]
        assert store.images.get(str(dot)).startswith(b"\x89PNG")
