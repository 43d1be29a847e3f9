"""Weights on a server reply as they do in this process; what a server lacks is told or mended."""

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.fakes import tiny_models
from tests.fakes.weight_server import TransformersServer, serving_weights
from tests.fakes.world import FakeWorld, fake_task
from tests.webagent.models.local.conftest import log_probs, sharpen
from webagent.agent.asking import Asking
from webagent.errors import ModelError, PromptTooLongError, SetupError
from webagent.models import Constraint, Endpoint, Message, Tokens
from webagent.models.local import LocalModel
from webagent.models.served import ServedModel
from webagent.policy.prompting import Prompting
from webagent.rollout import run_episode

pytestmark = [
    pytest.mark.slow,
    # peft asks transformers for a property by its old name.
    pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning"),
]
ASKED = (Message("system", "Press buttons."), Message("user", "Press [12] button <|end|> OK"))
HELD = Constraint(grammar='start: "click(" /[0-9]{1,2}/ ")"')
QUICK = Endpoint("", images=False, first_pause=0.01, attempts=3)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama, whose replies differ from prompt to prompt."""
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(1)
    folder = tiny_models.causal(tmp_path_factory.mktemp("base"))
    module = AutoModelForCausalLM.from_pretrained(folder)
    sharpen(module)
    module.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def adapter(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter that changes what is said, where a run leaves it."""
    return make_adapter(base, tmp_path_factory.mktemp("runs") / "run/weights/self-0/2/policy", 5)


def make_adapter(base: Path, folder: Path, seed: int) -> Path:
    """Save an adapter with random weights."""
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    torch.manual_seed(seed)
    config = LoraConfig(r=4, lora_alpha=8, init_lora_weights=False, target_modules="all-linear")
    get_peft_model(AutoModelForCausalLM.from_pretrained(base), config).save_pretrained(folder)
    return folder


async def ask(model: Any, **options: Any) -> Any:
    """Return a short reply to the question."""
    return await model.complete(ASKED, max_tokens=12, **options)


@pytest.mark.parametrize("kind", ["vllm", "sglang"])
async def test_greedy_replies_are_those_of_the_same_weights_in_this_process(base, adapter, kind):
    with serving_weights(base, kind) as server:
        for place in (base, adapter):
            local = LocalModel.load(str(base), adapter if place == adapter else None)
            served = ServedModel(str(place), server.url)
            for options in ({}, {"constraint": HELD}, {"n": 2}):
                here, there = await ask(local, **options), await ask(served, **options)
                assert there.prompt_ids == here.prompt_ids, "the template's control token is broken"
                assert len(there.replies) == len(here.replies)
                for one, other in zip(there.replies, here.replies, strict=True):
                    assert one.token_ids == other.token_ids and one.text == other.text
                    assert one.finish_reason == other.finish_reason
                    assert one.log_probs == pytest.approx(other.log_probs, abs=1e-4)
            await served.close()
            await local.close()
        assert server.asked("unload") == server.asked("load")
        assert server.asked("load")[0].startswith("run-self-0-2-")


async def test_a_greedy_episode_is_the_one_that_is_played_in_this_process(base, adapter):
    local = LocalModel.load(str(base), adapter)
    asking = Asking("brief", prompting=Prompting(constrained=True, thought_tokens=0))
    with serving_weights(base) as server:
        served = ServedModel(str(adapter), server.url)
        await served.start()
        played = [
            await run_episode(
                fake_task(max_steps=3), asking.policy(model, max_tokens=101), FakeWorld()
            )
            for model in (local, served)
        ]
        await served.close()
    here, there = ([step.decision for step in one.steps] for one in played)
    assert len(here) == len(there) > 1
    for one, other in zip(here, there, strict=True):
        assert (one.action, one.allowed) == (other.action, other.allowed)
        assert (one.prompt_ids, one.sampled_ids) == (other.prompt_ids, other.sampled_ids)
        assert one.log_probs == pytest.approx(other.log_probs, abs=1e-4)
        assert "+run-self-0-2-" in other.weights and one.temperature == other.temperature
    await local.close()


async def test_log_probabilities_of_a_sample_are_those_that_training_computes(base, adapter):
    local = LocalModel.load(str(base), adapter)
    with serving_weights(base) as server:
        served = ServedModel(str(adapter), server.url)
        found = await ask(served, temperature=1.3, seed=3, n=2)
        await served.close()
    assert len({reply.token_ids for reply in found.replies}) == 2
    for reply in found.replies:
        tokens = Tokens(found.prompt_ids + reply.token_ids)
        computed = log_probs(
            local, tokens, len(found.prompt_ids), lambda logits: torch.log_softmax(logits / 1.3, -1)
        )
        assert reply.log_probs == pytest.approx(computed.tolist(), abs=1e-4)
    assert found.temperature == 1.3
    await local.close()


async def test_each_version_has_a_name_of_its_own(base, adapter, tmp_path):
    other = make_adapter(base, tmp_path / "run/weights/self-0/2/policy", 6)
    with serving_weights(base) as server:
        found = []
        for place in (base, adapter, other):
            served = ServedModel(str(place), server.url)
            found.append(await ask(served))
            await served.close()
    names = [one.model for one in found]
    assert len(set(names)) == 3 and all(name.startswith(f"{base.name}@") for name in names)
    assert all("+run-self-0-2-" in name for name in names[1:])
    assert found[1].replies != found[2].replies, "a run of the same name is another adapter"


async def test_what_a_restarted_server_has_lost_is_pushed_again(base: Path, adapter: Path) -> None:
    with serving_weights(base) as server:
        served = ServedModel(str(adapter), server.url, QUICK)
        before = await ask(served)
        port = server.server_port
    with pytest.raises(ModelError, match="3 attempts failed; last: no connection"):
        await ask(served)
    with serving_weights(base, port=port) as server:
        assert (await ask(served)).replies == before.replies
        assert len(server.asked("load")) == 1
        await served.close()


async def test_whole_weights_are_loaded_by_sglang_and_told_from_those_of_a_restart(base, tmp_path):
    trained = tiny_models.causal(tmp_path / "trained", seed=4)
    local = LocalModel.load(str(trained))
    with serving_weights(base, "sglang") as server:
        served = ServedModel(str(trained), server.url, QUICK)
        assert (await ask(served)).replies[0].token_ids == (await ask(local)).replies[0].token_ids
        port = server.server_port
    with serving_weights(base, "sglang", port=port) as server:
        assert (await ask(served)).replies[0].token_ids == (await ask(local)).replies[0].token_ids
        assert server.asked("update") == [served._version]
        await served.close()
    await local.close()


async def test_a_failure_that_passes_is_asked_again(base: Path) -> None:
    with serving_weights(base) as server:
        served = ServedModel(str(base), server.url, QUICK)
        calm = await ask(served)
        server.troubles += [(503, {"error": "overloaded"}), b"<html>bad gateway</html>"]
        found = await ask(served)
        assert found.replies == calm.replies and found.usage["requests"] == 3
        server.troubles += [(429, {"error": "slow down"})] * 3
        with pytest.raises(ModelError, match="3 attempts failed; last: status 429"):
            await ask(served)
        await served.close()


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        ({"raw": True}, "returns raw log-probabilities"),
        ({"kind": "llama.cpp"}, "is one of 'llama.cpp'; --server is for vLLM and SGLang"),
        ({"adapts": False}, "takes no adapters while it runs; start it with: VLLM_ALLOW"),
        ({"adapts": False, "kind": "sglang"}, "python -m sglang.launch_server"),
    ],
)
async def test_a_server_that_cannot_do_it_is_refused(base, adapter, flags, complaint):
    with serving_weights(base, **flags) as server:
        served = ServedModel(str(adapter), server.url, QUICK)
        with pytest.raises(SetupError, match=complaint):
            await served.start()
        await served.close()
        served = ServedModel(str(base), server.url, QUICK)
        with pytest.raises(SetupError, match=complaint):
            await served.check_training(adapter=True)
        await served.close()


async def test_another_model_on_the_server_is_refused(base: Path, tmp_path: Path) -> None:
    larger = tiny_models.causal(tmp_path / "larger", layers=3)
    for kind in ("vllm", "sglang"):
        with serving_weights(larger, kind) as server:
            served = ServedModel(str(base), server.url, QUICK)
            with pytest.raises(SetupError, match=f"serves {larger}, expected {base}"):
                await served.start()
            await served.close()


async def test_what_a_server_does_not_take_is_refused_by_name(base: Path) -> None:
    with serving_weights(base, grammars=False) as server:
        served = ServedModel(str(base), server.url, QUICK)
        with pytest.raises(SetupError, match="takes no images beside token ids"):
            await served.complete([Message("user", "look", (b"png",))])
        assert not served.capabilities.constraints
        with pytest.raises(SetupError, match="--lora 16, or serve the folder with SGLang"):
            await served.check_training(adapter=False)
        with pytest.raises(PromptTooLongError, match="the server reads 8,192"):
            await served.complete(Tokens((7,) * 8192))
        await served.close()


async def test_a_server_that_is_not_there_is_said(base: Path) -> None:
    with TransformersServer(base) as server:
        url = server.url
    served = ServedModel(str(base), url, QUICK)
    with pytest.raises(ModelError, match="failed at /health 3 times; last: no answer"):
        await served.start()
    await served.close()
