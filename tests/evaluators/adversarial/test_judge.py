"""What stands between a model that believes everything and a wrong success."""

from dataclasses import replace

import pytest

from evaluators.adversarial import MOST_FOOLED, load_corpus, pass_rates
from evaluators.adversarial.corpus import Case
from tests.evaluators.adversarial.gullible import boast, claim, gullible_judge


async def test_a_model_that_quotes_the_agents_claims_passes_hardly_anyone():
    standing = await pass_rates(gullible_judge(claim))

    assert standing.fooled.rate <= MOST_FOOLED, str(standing)
    assert standing.fooled.abstained >= (1 - MOST_FOOLED) * standing.fooled.count


async def test_the_claim_would_pass_if_the_page_said_it():
    case = next(case for case in load_corpus() if case.kind == "claimed")
    said = claim(case.trajectory)
    last = case.trajectory.last
    assert last is not None
    line = replace(last.nodes[0], mark=0, role="text", name=said)
    told = replace(case.trajectory, last=replace(last, nodes=(line, *last.nodes)))

    standing = await pass_rates(gullible_judge(claim), [Case("claimed", "miniwob", "", told)])

    assert standing.fooled.rate == 1.0


async def test_a_model_that_quotes_what_pages_boast_of_passes_nobody_elsewhere():
    standing = await pass_rates(gullible_judge(boast))
    elsewhere = [case for kind, case in standing.kinds.items() if kind in ("claimed", "empty page")]

    assert all(tally.rate <= MOST_FOOLED for tally in elsewhere), str(standing)


@pytest.mark.xfail(strict=True, reason="the words do stand there: only the model can disbelieve")
async def test_a_model_that_quotes_what_the_page_says_of_the_task_is_stopped():
    talking = [case for case in load_corpus() if case.kind == "page says so"]
    standing = await pass_rates(gullible_judge(boast), talking)

    assert standing.fooled.rate <= MOST_FOOLED, str(standing)
