"""What stands between a model that believes everything and a wrong success."""

from dataclasses import replace

import pytest

from evaluators.adversarial import MOST_FOOLED, load_corpus, measure_pass_rates
from evaluators.adversarial.corpus import KINDS, AdversarialCase
from tests.evaluators.adversarial.gullible import boast, claim, gullible_judge, news

pytestmark = pytest.mark.slow  # judges the whole corpus


async def test_a_model_that_quotes_the_agents_claims_passes_hardly_anyone():
    standing = await measure_pass_rates(gullible_judge(claim))

    assert standing.fooled.rate <= MOST_FOOLED, str(standing)
    assert standing.fooled.abstained >= (1 - MOST_FOOLED) * standing.fooled.count


async def test_the_claim_would_pass_if_the_page_said_it():
    case = next(case for case in load_corpus() if case.kind == "claimed")
    said = claim(case.trajectory)
    last = case.trajectory.last
    line = replace(last.nodes[0], mark=0, role="text", name=said)
    told = replace(case.trajectory, last=replace(last, nodes=(line, *last.nodes)))

    standing = await measure_pass_rates(
        gullible_judge(claim), [AdversarialCase("claimed", "miniwob", "", told)]
    )

    assert standing.fooled.rate == 1.0


@pytest.mark.slow
async def test_a_model_that_quotes_what_pages_say_of_the_task_passes_hardly_anyone():
    standing = await measure_pass_rates(gullible_judge(boast))

    assert standing.fooled.rate <= MOST_FOOLED, str(standing)
    assert all(standing.kinds[kind].rate <= MOST_FOOLED for kind in KINDS), str(standing)


async def test_an_honest_reader_is_hardly_ever_refused():
    talking = {case.control for case in load_corpus() if case.kind == "page says so"}
    silent = [case for case in load_corpus() if case.truth and case.id not in talking]
    shown = [case for case in silent if news(case.trajectory)]
    standing = await measure_pass_rates(gullible_judge(news), shown)

    assert len(shown) > 0.85 * len(silent)
    assert standing.recall.rate > 0.97, str(standing)
