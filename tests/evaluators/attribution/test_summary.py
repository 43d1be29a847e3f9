"""Counts of causes, and the one sentence that says what to fix first."""

from evaluators.attribution import Attribution, Cause, summarize
from evaluators.statistics import wilson


def failure(number: int, cause: Cause, kind: str = "", task: str = "shop/buy@1") -> Attribution:
    return Attribution(f"e{number}", task, "shop.test", cause, kind, 0, "because")


def test_causes_are_counted_with_intervals_tasks_and_sites() -> None:
    found = [failure(n, Cause.PLANNING, "loop", f"shop/t{n % 2}@1") for n in range(6)]
    found += [failure(n, Cause.ACCESS, "login") for n in range(6, 8)]
    summary = summarize(found)
    assert summary.failures == 8 and summary.unknown == 0
    planning, access = summary.causes
    assert (planning.cause, planning.count, access.count) == (Cause.PLANNING, 6, 2)
    assert planning.share == (0.75, *wilson(6, 8))
    assert planning.by_task == (("shop/t0@1", 3), ("shop/t1@1", 3))
    assert access.by_site == (("shop.test", 2),)
    assert planning.examples[:2] == ("e0", "e1")


def test_what_to_fix_first_has_counts_a_remedy_and_examples() -> None:
    found = [failure(n, Cause.PLANNING, "loop") for n in range(3)]
    found += [failure(9, Cause.GROUNDING, "wrong twin")]
    said = summarize(found).first
    assert said.startswith("Fix planning first: 3 of 4 failures (75%, 30% to 95%), most often loop")
    assert "--prompting.loops" in said and said.endswith("See e0, e1, e2.")


def test_what_cannot_be_mended_is_not_what_to_fix_first() -> None:
    found = [failure(n, Cause.ACCESS, "captcha") for n in range(5)]
    assert "None of the 5 failures" in summarize(found).first
    found += [failure(n, Cause.UNKNOWN) for n in range(5, 9)]
    found.append(failure(9, Cause.JUDGE, "uncaptured"))
    summary = summarize(found)
    assert summary.first.startswith("Fix judge first: 1 of 10 failures")
    assert summary.unknown == 4


def test_no_failures_give_an_empty_summary() -> None:
    summary = summarize([])
    assert (summary.failures, summary.causes, summary.first) == (0, (), "")
