"""Benchmarks are found by name."""

import pytest

from tasks.benchmarks.catalogue import BENCHMARKS, UnknownBenchmark, benchmark_named


@pytest.mark.parametrize("name", [name for name in BENCHMARKS if name == "miniwob"])
def test_a_benchmark_has_as_many_tasks_as_were_published(name: str) -> None:
    assert len(benchmark_named(name).load().names) == BENCHMARKS[name].count


def test_a_misspelt_benchmark_is_told_the_nearest_name() -> None:
    with pytest.raises(UnknownBenchmark, match="there is miniwob"):
        benchmark_named("minwob")
