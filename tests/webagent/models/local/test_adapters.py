"""Policy, judge and world model share one base, each through an adapter of its own."""

import asyncio
from pathlib import Path

import pytest
import torch

from tests.fakes import tiny_models
from tests.webagent.models.local.conftest import Make, said
from webagent.errors import SetupError
from webagent.models import Tokens
from webagent.models.local import LocalModel

pytestmark = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")
"""peft asks transformers for it by its old name."""


@pytest.fixture(scope="session")
def adapters(causal_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two LoRA adapters of the causal model, strong enough to be heard."""
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    folders = {}
    for seed, name in enumerate(("policy", "judge")):
        torch.manual_seed(seed)
        base = AutoModelForCausalLM.from_pretrained(causal_folder)
        config = LoraConfig(r=4, target_modules=["q_proj", "v_proj", "down_proj"])
        made = get_peft_model(base, config)
        for path, weight in made.named_parameters():
            if "lora_B" in path:
                torch.nn.init.normal_(weight, std=0.3)
        folders[name] = tmp_path_factory.mktemp(name)
        made.save_pretrained(folders[name])
    return folders


@pytest.fixture
def shared(make: Make, adapters: dict[str, Path]) -> LocalModel:
    """A model with both."""
    model = make()
    for name, folder in adapters.items():
        model.add_adapter(name, folder)
    return model


async def ids(model: LocalModel) -> tuple[int, ...]:
    """What it says to a fixed prompt."""
    return (await model.complete(said("hello"), max_tokens=20)).replies[0].token_ids


async def test_adapters_are_swapped_and_the_base_stays_what_it_was(make: Make, shared: LocalModel):
    bare = make()
    assert await ids(shared) == await ids(bare)
    found = {}
    for name in ("policy", "judge", None, "policy"):
        shared.use_adapter(name)
        assert found.setdefault(name, await ids(shared)) == await ids(shared)
    assert len(set(found.values())) == 3 and found[None] == await ids(bare)


async def test_a_reply_through_an_adapter_is_that_of_peft(make, adapters, shared):
    from peft import PeftModel

    asked = await shared.on_adapter("judge").complete(said("hello"), max_tokens=20)
    theirs = PeftModel.from_pretrained(make().weights.module, adapters["judge"])
    written = theirs.generate(
        input_ids=torch.tensor([asked.prompt_ids]), max_new_tokens=20, do_sample=False
    )
    assert written[0, len(asked.prompt_ids) :].tolist() == list(asked.replies[0].token_ids)


async def test_views_with_different_adapters_are_asked_at_once_and_never_mixed(shared):
    views = [shared.on_adapter(name) for name in ("policy", "judge", None)]
    alone = [await ids(view) for view in views]
    together = await asyncio.gather(*(ids(view) for view in views * 4))
    assert together == alone * 4


async def test_each_adapter_has_a_version_and_the_bases_does_not_change(make, shared):
    assert shared.version() == make().version()
    policy, judge = shared.on_adapter("policy"), shared.on_adapter("judge")
    before = [shared.version(), policy.version(), judge.version()]
    assert len(set(before)) == 3
    with torch.no_grad():
        for path, weight in shared.weights.module.named_parameters():
            if "policy" in path:
                weight.add_(0.1)
    after = [shared.version(), policy.version(), judge.version()]
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False, True]


async def test_closing_a_view_leaves_the_model_open(shared: LocalModel):
    view = shared.on_adapter("policy")
    await view.close()
    assert await ids(view)


async def test_swapping_does_not_change_what_is_trained(shared: LocalModel):
    flags = {name: "policy" in name for name, _ in shared.weights.module.named_parameters()}
    for name, weight in shared.weights.module.named_parameters():
        weight.requires_grad_(flags[name])
    for name in ("judge", None, "policy"):
        await ids(shared.on_adapter(name))
    found = {name: p.requires_grad for name, p in shared.weights.module.named_parameters()}
    assert found == flags and any(flags.values())


async def test_an_adapter_is_added_while_replies_are_written(make: Make, adapters: dict[str, Path]):
    alone = await make().complete(said("long"), temperature=2.0, seed=3, max_tokens=300)
    model = make()
    asked = asyncio.create_task(
        model.complete(said("long"), temperature=2.0, seed=3, max_tokens=300)
    )
    while not model._worker.engine.decoder.rows:
        await asyncio.sleep(0.001)
    model.add_adapter("policy", adapters["policy"])
    assert (await asked).replies[0].token_ids == alone.replies[0].token_ids


def test_an_unknown_adapter_is_named(shared: LocalModel):
    with pytest.raises(SetupError, match="unknown adapter 'polcy'; did you mean policy"):
        shared.use_adapter("polcy")
    with pytest.raises(SetupError, match="cannot be named 'policy'"):
        shared.add_adapter("policy", "anywhere")
    with pytest.raises(SetupError, match="cannot be named 'layers'"):
        shared.add_adapter("layers", "anywhere")


def test_an_adapter_of_a_base_of_another_shape_is_refused(make, adapters, tmp_path):
    model = make(tiny_models.causal(tmp_path / "wide", hidden=32))
    with pytest.raises(SetupError, match=r"of another base: it has 128 values for .*down_proj"):
        model.add_adapter("policy", adapters["policy"], any_base=True)
    deep = make(tiny_models.causal(tmp_path / "flat", layers=1))
    with pytest.raises(SetupError, match="no such layer"):
        deep.add_adapter("policy", adapters["policy"], any_base=True)


def test_an_adapter_of_a_base_of_another_name_is_refused_unless_told(make, adapters, tmp_path):
    model = make(tiny_models.causal(tmp_path / "other"))
    with pytest.raises(SetupError, match=r"was trained on .*, not on .*any_base"):
        model.add_adapter("policy", adapters["policy"])
    model.add_adapter("policy", adapters["policy"], any_base=True)


def test_a_folder_without_an_adapter_is_named(make: Make, causal_folder: Path):
    with pytest.raises(SetupError, match=r"expected adapter_config\.json"):
        make().add_adapter("policy", causal_folder)


async def test_log_probs_through_an_adapter_are_recomputed_through_it(shared: LocalModel):
    view = shared.on_adapter("policy")
    asked = await view.complete(said("hello"), temperature=1.0, seed=1, max_tokens=10)
    reply = asked.replies[0]
    tokens = Tokens(asked.prompt_ids + reply.token_ids)
    with shared.weights.alone(), torch.no_grad():
        shared.weights.adapters.use("policy")
        through = shared.weights.log_probs(tokens, len(asked.prompt_ids)).tolist()
        shared.weights.adapters.use(None)
        bare = shared.weights.log_probs(tokens, len(asked.prompt_ids)).tolist()
    assert through == pytest.approx(list(reply.log_probs), abs=1e-4)
    assert bare != pytest.approx(list(reply.log_probs), abs=1e-4)
