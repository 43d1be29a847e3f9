"""Training sees the log-probabilities that sampling stored: mask, temperature and images."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from tests.fakes import tiny_models
from tests.fakes.pictures import picture
from webagent.models import Constraint, Message
from webagent.models.constrain import replay_masks
from webagent.models.local import LocalModel
from webagent.models.local.weights import LoadedWeights
from webagent.training.language.likelihood import ForwardOptions, compute_log_probs
from webagent.training.language.packing import Packing
from webagent.training.language.rows import Encoded, make_encoded_row

CLICK = Constraint(grammar='start: "click(" /[1-9][0-9]?/ ")"')


PICTURES = {colour: picture(size=(80, 40), colour=colour) for colour in ("red", "blue")}


def reading(weights: LoadedWeights) -> ForwardOptions:
    def masks(allowed: str, ids: Sequence[int]) -> NDArray[np.bool_]:
        ends = sorted(weights.endings.stop)
        return replay_masks(
            allowed, ids, weights.tokenizer, width=weights.width, ends=ends
        ).unpacked()

    def pictures(references: Sequence[str]) -> dict[str, Tensor]:
        return weights.reader.pixels([PICTURES[each] for each in references])

    return ForwardOptions(masks=masks, pictures=pictures, never=weights.endings.never)


@pytest.mark.parametrize("constraint", [None, CLICK], ids=["free", "constrained"])
@pytest.mark.parametrize("temperature", [1.0, 0.6])
@pytest.mark.parametrize(
    ("make", "shown"), [(tiny_models.causal, ()), (tiny_models.llava, ("red", "blue"))]
)
async def test_what_was_sampled_is_as_likely_in_training(
    tmp_path, make, shown, temperature, constraint
):
    model = LocalModel.load(str(make(tmp_path)))
    messages = [Message("user", "press it", tuple(PICTURES[each] for each in shown))]
    completion = await model.complete(
        messages, n=3, temperature=temperature, seed=1, max_tokens=12, constraint=constraint
    )
    await model.close()
    rows, start = [], len(completion.prompt_ids)
    for reply in completion.replies:  # the row that a step with it would give
        encoded = Encoded(completion.prompt_ids, reply.token_ids, shown)
        row = make_encoded_row(encoded, log_probs=reply.log_probs)
        allowed = ((start, len(row.ids), constraint.dumps()),) if constraint else ()
        rows.append(replace(row, temperature=temperature, allowed=allowed))
    with torch.no_grad():
        found = compute_log_probs(model.weights.module, rows, Packing(), reading(model.weights))
    for reply, values in zip(completion.replies, found, strict=True):
        assert values.tolist() == pytest.approx(reply.log_probs, abs=1e-4)
