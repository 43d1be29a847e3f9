"""Published component libraries, worked from what an observation says."""

import pytest

from perf import components, step_language

pytestmark = [pytest.mark.browser, pytest.mark.very_slow]


@pytest.mark.parametrize("clock", ["virtual", "real"])
async def test_a_script_that_reads_observations_works_the_components(clock: str) -> None:
    if not components.CACHE.is_dir():
        pytest.skip("no packages here; python perf/components.py fetches them")
    demos = components.read_demos()
    failures = await components.measure(demos, [clock], components.CACHE, show=False)
    assert len(failures) <= len(demos) * 0.05, failures
    assert len(demos) >= 60


def test_every_demo_has_its_packages_and_steps() -> None:
    demos = components.read_demos()
    assert len({demo.name for demo in demos}) == len(demos) >= 60
    for demo in demos:
        assert demo.do and demo.done and all(map(step_language.STEP.fullmatch, demo.do)), demo.name
        for path in demo.use:
            assert components.package_of(path) in components.read_versions(), path
