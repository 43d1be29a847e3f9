"""A base with an adapter on it."""

from pathlib import Path

import pytest
import torch

from tests.fakes import tiny_models
from tests.webagent.models.local.conftest import Make, log_probs, said
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


async def test_a_reply_through_an_adapter_is_that_of_peft_and_has_a_version_of_its_own(
    make: Make, adapters: dict[str, Path]
) -> None:
    from peft import PeftModel

    model, other, bare = make(), make(), make()
    for each, name in ((model, "policy"), (other, "judge")):
        each.weights.put_adapter(adapters[name])
    asked = await model.complete(said("hello"), max_tokens=20)
    theirs = PeftModel.from_pretrained(make().weights.module, adapters["policy"])
    written = theirs.generate(
        input_ids=torch.tensor([asked.prompt_ids]), max_new_tokens=20, do_sample=False
    )
    assert written[0, len(asked.prompt_ids) :].tolist() == list(asked.replies[0].token_ids)
    versions = [each.weights.version() for each in (model, other, bare)]
    assert asked.model == versions[0] and len(set(versions)) == 3
    assert {each.partition("+trained@")[0] for each in versions} == {versions[2]}


def test_an_adapter_of_a_base_of_another_shape_is_refused(make, adapters, tmp_path):
    model = make(tiny_models.causal(tmp_path / "wide", hidden=32))
    with pytest.raises(SetupError, match=r"of another base: it has 128 values for .*down_proj"):
        model.weights.put_adapter(adapters["policy"])
    deep = make(tiny_models.causal(tmp_path / "flat", layers=1))
    with pytest.raises(SetupError, match="no such layer"):
        deep.weights.put_adapter(adapters["policy"])


def test_a_folder_without_an_adapter_is_named(causal_folder: Path):
    with pytest.raises(SetupError, match=r"expected adapter_config\.json"):
        LocalModel.load(str(causal_folder), causal_folder)


async def test_log_probs_through_an_adapter_are_recomputed_through_it(make, adapters):
    model, bare = make(), make()
    model.weights.put_adapter(adapters["policy"])
    asked = await model.complete(said("hello"), temperature=1.0, seed=1, max_tokens=10)
    reply = asked.replies[0]
    tokens = Tokens(asked.prompt_ids + reply.token_ids)
    with torch.no_grad():
        through, plain = (
            log_probs(each, tokens, len(asked.prompt_ids)).tolist() for each in (model, bare)
        )
    assert through == pytest.approx(list(reply.log_probs), abs=1e-4)
    assert plain != pytest.approx(list(reply.log_probs), abs=1e-4)
