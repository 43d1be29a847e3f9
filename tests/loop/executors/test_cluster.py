"""Worlds on a Ray cluster of three nodes on this machine, one of which is killed."""

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loop.executors.executor import open_executor
from recipes import cli
from tests.fakes.worlds import FakeSetup
from tests.loop.executors.test_executor import assert_a_kill_costs_nothing, play
from tests.recipes.test_improve import TINY, finished, played
from webagent.errors import SetupError

ray = pytest.importorskip("ray", reason="the extra `scale` is not installed")
pytestmark = [pytest.mark.very_slow, pytest.mark.timeout(3000)]
ROOT = Path(__file__).parents[2]
MEMORY = 80_000_000
"""Bytes of each node's object store, the least that Ray allows."""

WITHOUT_LOOP = """
import sys

class WithoutLoop:
    def find_spec(self, name, path=None, target=None):
        if name == "loop":
            raise ModuleNotFoundError("No module named 'loop'")

sys.meta_path.insert(0, WithoutLoop())
"""
"""Run as a node's Python begins: this package is not installed there."""


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A head without room, which nodes can be added to."""
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        head = {"num_cpus": 0, "object_store_memory": MEMORY, "include_dashboard": False}
        started = Cluster(True, head_node_args=head)
        monkeypatch.setenv("RAY_ADDRESS", started.address)
        yield started
        started.shutdown()


def add_nodes(cluster: Any, count: int, **settings: Any) -> list[Any]:
    return [
        cluster.add_node(num_cpus=1, object_store_memory=MEMORY, **settings) for _ in range(count)
    ]


@pytest.mark.filterwarnings("ignore")
async def test_three_nodes_play_the_same_and_a_killed_one_loses_and_doubles_nothing(
    cluster, tmp_path
):
    with pytest.raises(SetupError, match="--workers 3 want a CPU each, and the cluster has 0"):
        await play("ray", 3, FakeSetup())
    nodes = add_nodes(cluster, 3)
    assert await play("ray", 3, FakeSetup()) == await play("process", 1, FakeSetup())

    def kill() -> None:
        cluster.remove_node(nodes[0], allow_graceful=False)  # kill -9 of its raylet

    await assert_a_kill_costs_nothing("ray", 3, kill, tmp_path)


@pytest.mark.filterwarnings("ignore")
async def test_a_node_without_the_package_or_a_browser_is_told(cluster, tmp_path):
    with pytest.raises(SetupError, match=r"worker \d of the cluster cannot play: no browser here"):
        add_nodes(cluster, 1)
        async with open_executor(FakeSetup(refusal="no browser here"), "ray", 1):
            pass
    cluster.remove_node(cluster.list_all_nodes()[-1])
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_LOOP)
    add_nodes(cluster, 1, env_vars={"PYTHONPATH": str(tmp_path)})
    with pytest.raises(SetupError, match=r"the node [\d.]+ has no module .loop.; install Python 3"):
        async with open_executor(FakeSetup(), "ray", 1):
            pass


@pytest.mark.browser
def test_improve_learns_on_three_nodes_what_it_learns_here(cluster: Any, tmp_path: Path) -> None:
    def improve(name: str, *flags: str) -> Path:
        more = ["--steps", "20", *flags]
        command = [sys.executable, "-m", "recipes.cli", "improve", "--name", name, *TINY, *more]
        subprocess.run([*command, "--runs", str(tmp_path)], check=True, cwd=ROOT)
        return tmp_path / name

    here = improve("here", "--workers", "1")
    add_nodes(cluster, 3)
    there = improve("there", "--executor", "ray", "--workers", "3")
    assert played(finished(there)) == played(finished(here))
    assert any(e.provenance.phase == "collect" for e in finished(there).values())
    weights = [Path("weights/self-0/1/policy/model.safetensors")]
    assert all((there / each).read_bytes() == (here / each).read_bytes() for each in weights)


def test_without_a_cluster_the_command_says_how_to_begin_one(folder, monkeypatch, capsys):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    asked = ["collect", "miniwob", "--tasks", "click-test", "--seeds", "1", "--executor", "ray"]
    assert os.environ.get("RAY_ADDRESS") is None and cli.main(asked) == 3
    assert "begin one with `ray start --head`" in capsys.readouterr().err
