"""A run's failures are attributed through the real entry point."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apps.report.templating import make_environment
from evaluators.attribution.cause import REMEDIES
from loop.failures import summarize_failures
from recipes import cli
from recipes.commands import load
from recipes.settings import options_of
from tests.evaluators.attribution.cases import LAMPS, Made, all_cases, played
from webagent.action.actions import Answer
from webagent.errors import StoreError
from webagent.records import Provenance, Score
from webagent.store import Store


def stored(folder: Path, *cases: Made) -> Path:
    """A run of these failures and one success."""
    with Store.open(folder / "run", create=True) as store:
        for index, made in enumerate(cases):
            place = Provenance(index=index, phase="evaluate")
            store.add(replace(made.trajectory, id=f"e{index}", provenance=place))
            store.score(f"e{index}", *made.scores)
        good = replace(played("good", "Open it.", (LAMPS, Answer("x"))), id="good")
        store.add(replace(good, provenance=Provenance(phase="collect")))
        store.score("good", Score("success", 1.0, "it holds", "checks_hold@2"))
    return folder / "run"


def test_a_run_gets_a_table_a_file_and_a_sentence(tmp_path, capsys):
    cases = all_cases()
    run = stored(tmp_path, *cases)
    assert cli.main(["report", str(run), "--failures"]) == 0
    out = capsys.readouterr().out
    assert f"why {len(cases)} of {len(cases)} evaluation episodes did not" in out
    assert "Fix grounding first" in out
    result = json.loads((run / "attribution.json").read_text())
    assert result["summary"]["failures"] == len(cases) == len(result["failures"])
    assert {row["cause"] for row in result["summary"]["causes"]} >= {"guard", "memory"}


def test_the_result_is_printed_as_json_and_a_phase_can_be_chosen(tmp_path, capsys):
    run = stored(tmp_path, *all_cases()[:3])
    assert cli.main(["report", str(run), "--failures", "--json", "--phase", "evaluate"]) == 0
    assert json.loads(capsys.readouterr().out)["episodes"] == 3
    assert cli.main(["report", str(run), "--failures", "--phase", "collect"]) == 0
    assert "none of 1 collect episodes with a verdict failed" in capsys.readouterr().out


def test_the_reports_table_is_escaped_and_knows_what_the_file_says(tmp_path: Path) -> None:
    cases = all_cases()
    name = "<b>odd"
    odd = replace(cases[0].trajectory, task=replace(cases[0].trajectory.task, id=f"made/{name}@1"))
    run = stored(tmp_path, replace(cases[0], trajectory=odd), *cases[20:30])
    ruled = summarize_failures(run)
    assert ruled.first.startswith("Fix ")
    tables: Any = make_environment().get_template("tables.html").module
    assert name not in tables.failures(ruled) and "&lt;b&gt;odd" in tables.failures(ruled)
    assert cli.main(["report", str(run), "--failures"]) == 0
    assert summarize_failures(run) == ruled
    file = run / "attribution.json"
    written = json.loads(file.read_text())
    for one in written["failures"]:
        one["cause"] = "memory"
    file.write_text(json.dumps(written))
    assert [row.cause for row in summarize_failures(run).causes] == ["memory"]
    file.write_text("{}")
    with pytest.raises(StoreError, match="write it again with"):
        summarize_failures(run)


def test_a_remedy_names_flags_that_commands_have() -> None:
    known = {
        f"--{option.name}"
        for command in cli.COMMANDS.values()
        for option in options_of(load(command.settings))
    }
    named = {flag for text in REMEDIES.values() for flag in re.findall(r"--[\w.-]+", text)}
    assert named and named <= known


def test_a_run_without_failures_has_nothing_to_fix(tmp_path: Path) -> None:
    assert summarize_failures(stored(tmp_path)).failures == 0
