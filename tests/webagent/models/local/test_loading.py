"""Loading from several threads: transformers changes torch's defaults for all of them meanwhile."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from webagent.models.fresh import ModelShape, create_model
from webagent.models.local.loading import load_weights
from webagent.models.local.source import ModelSource


def test_threads_load_models_at_the_same_time(tmp_path: Path) -> None:
    shape = ModelShape(vocabulary=300, width=32, layers=1, heads=2)
    create_model(tmp_path / "model", ["Action: click(1)"], shape)
    with ThreadPoolExecutor(4) as threads:
        loaded = list(threads.map(load_weights, [ModelSource(str(tmp_path / "model"))] * 12))
    assert len({weights.version() for weights in loaded}) == 1
