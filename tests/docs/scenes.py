"""What lies in the folder in which a page's commands are run."""

import csv
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perf.documentation import ROOT, blocks
from tests.fakes.tiny_models import causal
from webagent.store import Store

MODEL = "small-1"
SMALL = {"TASKS": "click-test", "SEEDS": "1", "BASELINES": "false", "MAX_TOKENS": "24"}
"""Settings of `webagent benchmark` that a page leaves open, made small."""


@dataclass(frozen=True, slots=True)
class Place:
    """The folder of one page, and the run that all pages share."""

    folder: Path
    run: Path

    def copy_run(self, name: str) -> Path:
        """The run again, under the name that the page has for it."""
        return Path(shutil.copytree(self.run, self.folder / name))


Lay = Callable[[Place], None]


def run(*names: str) -> Lay:
    """Run folders of these names."""

    def lay(place: Place) -> None:
        for name in names:
            place.copy_run(name)

    return lay


def page_block(language: str, name: str, of: str, number: int = 0) -> Lay:
    """A file with what the page itself shows in its number-th block of a language."""

    def lay(place: Place) -> None:
        found = [b for b in blocks(ROOT / of) if b.language == language]
        (place.folder / name).write_text(found[number].text, encoding="utf-8")

    return lay


def written(name: str, text: str) -> Lay:
    """A file of this text."""

    def lay(place: Place) -> None:
        target = place.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    return lay


def prices(place: Place) -> None:
    """What the models of the pages cost."""
    table = "input = 2.5\noutput = 10.0\ndate = 2026-11-01\nsource = 'made up'\n"
    text = "currency = 'USD'\n" + "".join(f"[models.'{m}']\n{table}" for m in ("big-1", MODEL))
    (place.folder / "prices.toml").write_text(text)


def labels(place: Place) -> None:
    """Somebody's labels of the run's episodes."""
    with Store.open(place.run) as store:
        names = sorted(store.ids("finished"))
    with (place.folder / "labels.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("episode", "success"))
        rows.writerows((name, index % 2) for index, name in enumerate(names))


def example(name: str) -> Lay:
    """The small site of docs/example, as a reader has copied it."""
    return lambda place: void(shutil.copytree(ROOT / "docs/example", place.folder / name))


def weights(name: str) -> Lay:
    """A language model of random weights in this folder."""
    return lambda place: void(causal(place.folder / name))


def void(_: object) -> None:
    """Nothing, of whatever was made."""


def endpoint_file(place: Place) -> None:
    """`server.toml`, which says where the model is; the address comes from the environment."""
    (place.folder / "server.toml").write_text('[endpoint]\nmodel = "qwen"\n')


def task_lines(name: str, *tasks: dict[str, Any]) -> Lay:
    """A file of tasks, a line each, as `webagent benchmark own --files` reads it."""
    lines = [{"task": task, "source": "manual", "reason": "for a test"} for task in tasks]
    return written(name, "".join(json.dumps(line) + "\n" for line in lines))
