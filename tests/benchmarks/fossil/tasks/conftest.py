"""Sites are built into a folder of the test run."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def sites_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Builds go into a folder that the run throws away."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEBAGENT_SITES", str(tmp_path_factory.mktemp("sites")))
        yield
