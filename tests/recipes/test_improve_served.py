"""The loop with a language model whose weights a server holds, through its real entry point."""

import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

from recipes import cli
from tests.fakes.weight_server import TransformersServer, serving_weights
from tests.recipes.test_improve import finished
from tests.recipes.test_improve_language import base, improve, weights

__all__ = ["base"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(1200),
    # peft asks transformers for a property by its old name.
    pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning"),
]
MORE = ("--tasks", "click-test", "--lora", "4", "--rounds", "2", "--arms", "none", "self")
FEW = ("--steps", "10", "--base-tokens", "300", "--round-tokens", "300", "--max-tokens", "101")


def writers(run: Path) -> dict[tuple[str, int, str], set[str]]:
    """Return which weights wrote the steps of each arm, round and phase."""
    found: defaultdict[tuple[str, int, str], set[str]] = defaultdict(set)
    for one in finished(run).values():
        place = one.provenance
        if place.phase in ("collect", "evaluate"):
            found[place.arm, place.round, place.phase] |= {
                step.decision.weights for step in one.steps if step.decision.sampled_ids
            }
    return {place: found[place] for place in found if found[place]}


def check_run(run: Path, server: TransformersServer) -> None:
    """Check that each round was played by the weights of the one before."""
    wrote = writers(run)
    assert all(len(names) == 1 for names in wrote.values()), wrote
    names = {place: next(iter(names)) for place, names in wrote.items()}
    label = f"+{run.name}-"
    for number in (1, 2):
        last = "none-0-0" if number == 1 else f"self-0-{number - 1}"
        assert f"{label}{last}-" in names["self", number, "collect"]
        assert f"{label}self-0-{number}-" in names["self", number, "evaluate"]
    pushed = server.asked("load")
    assert set(server.asked("/v1/completions")) >= {
        name.partition("+")[2] for name in names.values()
    }
    assert set(pushed) <= set(server.asked("unload")), "each was unloaded when the next came"
    assert not server.adapters


@pytest.mark.very_slow
def test_each_round_is_played_by_the_adapter_that_was_pushed(base: Path) -> None:
    with serving_weights(base) as server:
        served = (*MORE, *FEW, "--server", server.url)
        assert cli.main(improve(base, "run", *served)) == 0
        run = base.parent / "run"
        check_run(run, server)
        assert len(server.asked("load")) == 4, "the first for either arm, and one each round"
        again = ["--tasks", "click-test", "--seeds", "1", "--max-tokens", "128", "--no-baselines"]
        place = ["--policy", f"local:{weights(run, 'self', 2)}", "--runs", str(base.parent)]
        place += ["--name", "measured", "--server", f"{server.url}/v1"]
        assert cli.main(["benchmark", *again, *place]) == 0
        assert "+run-self-0-2-" in str(writers(base.parent / "measured"))


@pytest.mark.very_slow
def test_a_run_whose_server_was_killed_goes_on_at_another(base: Path) -> None:
    """The server goes once the first adapter of a round is there, and the run with it."""
    run = base.parent / "run"
    with serving_weights(base) as server:
        command = improve(base, "run", *MORE, *FEW, "--server", server.url)
        program = [sys.executable, "-m", "recipes.cli"]
        process = subprocess.Popen([*program, *command], stdout=subprocess.DEVNULL)
        while not (weights(run, "self", 1) / "adapter_config.json").is_file():
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.05)
    assert process.wait() != 0, "a run without its model's server fails"
    before = {name: one for name, one in finished(run).items() if one.provenance.round < 2}
    with serving_weights(base) as server:
        assert cli.main(["improve", "--resume", str(run), "--server", server.url]) == 0
        assert {*before} <= {*finished(run)}, "nothing is lost"
        assert "+run-self-0-1-" in str(writers(run)["self", 2, "collect"])
        assert any("run-self-0-1-" in name for name in server.asked("load")), "pushed again"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--server", "URL"], "reads no whole weights while it runs; train an adapter"),
        (["--server", "URL", "--lora", "4", "--images"], "takes no images beside token ids"),
        (["--server", "localhost", "--lora", "4"], "expected an address such as http://"),
        (
            ["--server", "URL", "--policy", "builtin"],
            "--server holds the weights of --policy local",
        ),
    ],
)
def test_what_a_server_cannot_do_is_named_before_anything_is_done(base, more, complaint, capsys):
    with serving_weights(base) as server:
        flags = [server.url if each == "URL" else each for each in more]
        assert cli.main(improve(base, "run", *flags)) == 2
    assert complaint in " ".join(capsys.readouterr().err.split())
    assert not (base.parent / "run").exists()


@pytest.mark.slow
def test_a_server_that_keeps_no_grammar_is_refused_for_constrained_replies(base, capsys):
    with serving_weights(base, grammars=False) as server:
        assert cli.main(improve(base, "run", "--lora", "4", "--server", server.url)) == 3
    assert "does not hold its replies to a constraint" in " ".join(capsys.readouterr().err.split())
    assert not (base.parent / "run").exists()
