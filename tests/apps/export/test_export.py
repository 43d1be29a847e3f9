"""An export holds what was stored, as it was shown, and nothing that it should not."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

import pytest

from apps.export import CONSUMERS
from loop.console.output import Status
from loop.costs import Caps, open_ledger
from recipes import cli
from tasks.suite import seed_of
from tests.fakes.played import JUDGE, SEEN_BY_MODEL, dream, export, fail, play, rows, run_folder
from webagent.models.spending import Price, Prices
from webagent.policy.reply import read_reply
from webagent.records import Provenance, Score, Step, Trajectory
from webagent.store import Store

pytestmark = pytest.mark.slow  # seconds together


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run's folder, without episodes yet."""
    return run_folder(tmp_path / "run").path


@pytest.fixture
def store(run: Path) -> Iterator[Store]:
    with Store.open(run) as opened:
        yield opened


def add_like(
    store: Store, whole: Trajectory, name: str, *steps: Step, success: float = 1.0
) -> None:
    """Store the episode once more, under another name and with other steps."""
    store.add(replace(whole, id=name, steps=steps))
    store.score(name, Score("success", success, "", JUDGE))


def test_steps_carry_the_very_prompts_that_the_model_was_asked(run: Path, store: Store) -> None:
    played = [play(store, 0), play(store, 1, right=False, index=1)]
    found = rows(export(run) / "steps")
    assert [(row["episode"], row["position"]) for row in found] == [
        (t.id, i) for t in played for i in range(len(t.steps))
    ]
    for row in found:
        *prompt, reply = row["messages"]
        asked = SEEN_BY_MODEL[row["episode"], row["position"]]
        assert [m["content"][0]["text"] for m in prompt] == [m.text for m in asked]
        assert [m["role"] for m in prompt] == ["system", "user"]
        assert row["prompt"] == "as shown"
        assert reply["role"] == "assistant"
        assert row["images"] == []
    first = played[0].steps[0].decision
    assert read_reply(found[0]["messages"][-1]["content"][0]["text"]) == (
        first.thought,
        first.action,
    )
    assert found[0]["input_tokens"] == first.usage["input_tokens"]
    assert found[0]["weights"] == "tiny-1"


def test_episodes_carry_scores_endings_evidence_and_tools(run: Path, store: Store) -> None:
    good, bad = play(store, 0), play(store, 1, right=False, index=1)
    found = {row["episode"]: row for row in rows(export(run) / "episodes")}
    assert [found[t.id]["success"] for t in (good, bad)] == [1.0, 0.0]
    assert found[good.id]["ending"] == "task over"
    assert json.loads(found[good.id]["evidence"]) == {"reward": 1.0}
    assert found[good.id]["scores"][0]["evaluator"] == JUDGE
    tools = json.loads(found[good.id]["tools"])
    click = next(t["function"] for t in tools if t["function"]["name"] == "click")
    assert click["parameters"]["properties"]["mark"] == {"type": "integer"}
    assert click["parameters"]["required"] == ["mark"]
    assert found[good.id]["input_tokens"] == sum(
        s.decision.usage["input_tokens"] for s in good.steps
    )


def test_ids_and_probabilities_come_through_exactly(run: Path, store: Store) -> None:
    whole = play(store, 0)
    decision = replace(
        whole.steps[0].decision,
        prompt_ids=(5, 6, 7),
        sampled_ids=(8, 9),
        log_probs=(-0.1234567890123, -2.5),
        allowed='{"choices": ["a"]}',
    )
    step = replace(whole.steps[0], decision=decision)
    store.add(replace(whole, id="ids-1", steps=(step, *whole.steps[1:])))
    row = next(r for r in rows(export(run) / "steps") if r["episode"] == "ids-1")
    assert (row["prompt_ids"], row["sampled_ids"]) == ([5, 6, 7], [8, 9])
    assert row["log_probs"] == [-0.1234567890123, -2.5]
    assert row["mask"] == [0, 0, 0, 1, 1]
    assert row["allowed"] == '{"choices": ["a"]}'


def test_steps_and_episodes_tell_their_money_where_the_price_is_known(run, store):
    whole = play(store, 0)
    unknown = export(run, out="unknown")
    assert {row["money"] for row in rows(unknown / "steps")} == {None}
    assert rows(unknown / "episodes")[0]["money"] is None
    open_ledger(
        store, Caps(), Prices({"tiny*": Price(input=1000.0, output=2000.0, currency="USD")})
    )
    known = export(run, out="known")
    usages = [step.decision.usage for step in whole.steps]
    money = [(u["input_tokens"] * 1000 + u["output_tokens"] * 2000) / 1e6 for u in usages]
    steps, (episode,) = rows(known / "steps"), rows(known / "episodes")
    assert [row["money"] for row in steps] == pytest.approx(money)
    assert episode["money"] == pytest.approx(sum(money))
    assert {row["currency"] for row in (*steps, episode)} == {"USD"}


def test_a_failure_outside_the_agent_is_in_no_export(run: Path, store: Store) -> None:
    good = play(store, 0)
    broken = fail(store, 1, index=1)
    assert broken.steps
    for to, what, folder in (
        ("datasets", "episodes", "episodes"),
        ("trl", "sft", "data"),
        ("trl", "kto", "data"),
        ("verl", "rl", "data"),
    ):
        out = export(run, "--to", to, "--what", what, out=f"{to}-{what}")
        text = str(rows(out / folder))
        assert good.id in text
        assert broken.id not in text
        info = json.loads((out / "meta" / "info.json").read_text())
        assert info["left_out_episodes"] == {
            "episodes that failed for a reason outside the agent": 1
        }


def test_only_what_the_frozen_judge_passed_is_imitated(run: Path, store: Store) -> None:
    good, bad = play(store, 0), play(store, 1, right=False, index=1)
    store.score(bad.id, Score("success", 1.0, "a judge that is not frozen", "guess@1"))
    store.score(play(store, 2, index=2).id, Score("success", None, "abstains", JUDGE))
    found = rows(export(run, "--to", "trl") / "data")
    assert {json.loads(row["origin"])["episode"] for row in found} == {good.id}
    assert len(found) == 3
    other = rows(export(run, "--to", "trl", "--judge", "guess", out="guess") / "data")
    assert {json.loads(row["origin"])["episode"] for row in other} == {bad.id}


def test_steps_without_effect_and_detours_are_not_imitated(run: Path, store: Store) -> None:
    whole = play(store, 0)
    first, *others = whole.steps
    idle = replace(others[0], observation=replace(others[0].observation, outcome="no effect"))
    add_like(store, whole, "idle-1", first, idle, *others[1:])
    found = [json.loads(row["origin"]) for row in rows(export(run, "--to", "trl") / "data")]
    assert [o["position"] for o in found if o["episode"] == "idle-1"] == [1, 2]


def test_imagined_episodes_stay_out_until_asked_for_and_are_capped_and_marked(run, store):
    real = [play(store, seed, index=seed) for seed in range(2)]
    dreams = [dream(store, real[0], index) for index in range(10)]
    doubted = dream(store, real[0], 10, believed=False)
    refused = dream(store, real[0], 11)
    store.score(refused.id, Score("believed", 0.0, "not what was asked for", "judge@1"))
    assert len(rows(export(run, "--to", "trl") / "data")) == 6
    found = rows(export(run, "--to", "trl", "--imagined", out="dreamt") / "data")
    origins = [json.loads(row["origin"]) for row in found]
    assert [o["imagined"] for o in origins] == [False] * 6 + [True] * 2
    assert {o["episode"] for o in origins[6:]} <= {d.id for d in dreams}
    assert {o["seeded_from"] for o in origins[6:]} == {f"{real[0].id}:0"}
    assert doubted.id not in str(origins) and refused.id not in str(origins)
    steps = rows(export(run, "--imagined", "--imagined-share", "0.6", out="all") / "steps")
    assert sum(row["imagined"] for row in steps) == 9
    info = json.loads((run.parent / "all" / "meta" / "info.json").read_text())
    assert (info["rows"], info["imagined_rows"]) == (15, 9)


def test_a_pair_is_made_where_a_failure_parts_from_a_success(run: Path, store: Store) -> None:
    good = play(store, 0)
    bad = play(store, 0, right=False, index=1)
    play(store, 1, right=False, index=2)
    (row,) = rows(export(run, "--to", "trl", "--what", "preference") / "data")
    origin = json.loads(row["origin"])
    assert (origin["episode"], origin["rejected_episode"]) == (good.id, bad.id)
    assert origin["position"] == 1
    assert (
        [m["content"] for m in row["prompt"]]
        == [m.text for m in SEEN_BY_MODEL[good.id, 1]]
        == [m.text for m in SEEN_BY_MODEL[bad.id, 1]]
    )
    assert "fill" in row["chosen"][0]["content"]
    assert row["rejected"][0]["content"].endswith("Action: click(8)")


def test_a_failure_that_shares_no_page_with_a_success_makes_no_pair(run, store):
    play(store, 0)
    bad = play(store, 0, right=False, index=1)
    first = bad.steps[0]
    other = replace(first, observation=replace(first.observation, title="another page"))
    add_like(store, bad, "other-1", other, *bad.steps[1:], success=0.0)
    out = export(run, "--to", "trl", "--what", "preference")
    assert len(rows(out / "data")) == 1
    counts = json.loads((out / "meta" / "info.json").read_text())["counts"]
    assert counts["failures that part from no success on a shared page"] == 1


def test_every_judged_step_has_the_label_of_its_episode(run: Path, store: Store) -> None:
    good, bad = play(store, 0), play(store, 1, right=False, index=1)
    found = rows(export(run, "--to", "trl", "--what", "kto") / "data")
    labels = [(json.loads(row["origin"])["episode"], row["label"]) for row in found]
    assert labels == [(good.id, True)] * 3 + [(bad.id, False)] * 2


def test_each_start_is_tried_once_with_its_checks_as_ground_truth(run: Path, store: Store) -> None:
    good = play(store, 0)
    play(store, 0, right=False, index=1)
    play(store, 1, index=2)
    found = rows(export(run, "--to", "verl", "--what", "rl") / "data")
    assert [row["extra_info"]["seed"] for row in found] == [0, 1]
    assert [row["extra_info"]["index"] for row in found] == [0, 1]
    assert found[0]["data_source"] == "fake"
    assert [m["content"] for m in found[0]["prompt"]] == [m.text for m in SEEN_BY_MODEL[good.id, 0]]
    truth = json.loads(found[0]["reward_model"]["ground_truth"])
    assert truth["checks"] == [{"evidence": "reward", "rule": "equals", "expected": 1.0}]


def test_measurements_are_for_training_on_training_seeds_or_where_asked_for(run, store, capsys):
    play(store, seed_of("test", 0), phase="evaluate")
    assert cli.main(["export", str(run), "--to", "trl", "--out", str(run / "x")]) == 3
    said = capsys.readouterr().err
    assert "1 episodes of phase evaluate" in said
    assert "add --phases evaluate" in said
    assert not (run / "x").exists()
    assert len(rows(export(run, "--to", "trl", "--phases", "evaluate") / "data")) == 3
    assert len(rows(export(run, out="plain") / "steps")) == 3
    play(store, seed_of("train", 0), phase="evaluate", index=1)
    out = export(run, "--to", "trl", out="training")
    assert len(rows(out / "data")) == 3
    left_out = json.loads((out / "meta" / "info.json").read_text())["left_out_episodes"]
    assert left_out == {"episodes of phase evaluate": 1}


def test_another_policys_steps_are_put_as_a_language_model_would_see_them(run, store):
    whole = play(store, 0)
    steps = tuple(
        replace(s, decision=replace(s.decision, prompt_hash="", source="demonstration", thought=""))
        for s in whole.steps
    )
    store.add(replace(whole, id="demo-1", steps=steps))
    found = [row for row in rows(export(run) / "steps") if row["episode"] == "demo-1"]
    assert [row["prompt"] for row in found] == ["rebuilt"] * 3
    assert found[0]["messages"][-1]["content"][0]["text"] == f"Action: {found[0]['action']}"


def test_a_thought_that_cannot_be_read_back_is_flattened_or_left_out(run, store):
    whole = play(store, 0)
    odd = ("first\n\nsecond ", "I might\nAction: click(1) instead", "fine")
    steps = tuple(
        replace(s, decision=replace(s.decision, thought=thought))
        for s, thought in zip(whole.steps, odd, strict=True)
    )
    store.add(replace(whole, id="odd-1", steps=steps))
    found = [row for row in rows(export(run) / "steps") if row["episode"] == "odd-1"]
    for row, step in zip(found, steps, strict=True):
        assert read_reply(row["messages"][-1]["content"][0]["text"])[1] == step.decision.action
        assert row["thought"] == step.decision.thought
    assert found[2]["messages"][-1]["content"][0]["text"].startswith("Thought: fine\n")


def test_the_screenshots_of_a_prompt_are_exported_as_the_model_saw_them(tmp_path):
    run = run_folder(tmp_path / "shots", observation="set-of-marks").path
    with Store.open(run) as store:
        whole = play(store, 0, variant="screenshot")
    with pytest.raises(AssertionError):
        export(run)
    run = run_folder(tmp_path / "plain", observation="screenshot").path
    with Store.open(run) as store:
        whole = play(store, 0, variant="screenshot")
    found = rows(export(run, out="b") / "steps")
    assert [len(row["images"]) for row in found] == [1] * 3
    for row in found:
        assert row["images"][0]["bytes"] == SEEN_BY_MODEL[whole.id, row["position"]][1].images[0]
        kinds = [block["type"] for block in row["messages"][1]["content"]]
        assert kinds == ["text", "image"]
    assert rows(export(run, "--no-images", out="c") / "steps")[0]["images"] == []


def test_the_same_run_gives_the_same_bytes(run: Path, store: Store) -> None:
    play(store, 0)
    play(store, 0, right=False, index=1)
    asked = [(), ("--to", "trl", "--what", "kto"), ("--to", "llamafactory"), ("--to", "verl")]
    for number, more in enumerate(asked):
        first, again = (export(run, *more, out=f"{number}{name}") for name in "ab")
        assert contents(first) == contents(again)


def contents(folder: Path) -> dict[Path, bytes]:
    """Every file below, by its place."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder): path.read_bytes() for path in files}


def test_nothing_is_overwritten(run, store, capsys):
    play(store, 0)
    out = export(run)
    before = contents(out)
    assert cli.main(["export", str(run), "--out", str(out)]) == 3
    assert "already exists and is not overwritten" in capsys.readouterr().err
    assert contents(out) == before


@pytest.mark.slow
def test_a_killed_export_leaves_nothing_in_place_and_the_next_one_clears_up(run, store):
    for seed in range(3):
        play(store, seed, index=seed)
    out = run.parent / "out"
    code = (
        "import os, signal, sys\n"
        "import apps.export.table as table\n"
        "def die(self): os.kill(os.getpid(), signal.SIGKILL)\n"
        "table.Table._flush = die\n"
        "from recipes import cli\n"
        f"cli.main(['export', {str(run)!r}, '--out', {str(out)!r}])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, timeout=60)
    assert done.returncode == -9
    assert not out.exists()
    assert [path.name for path in run.parent.glob(".out.draft-*")] != []
    export(run)
    assert [path.name for path in run.parent.glob(".out.draft-*")] == []
    assert len(rows(out / "steps")) == 9


TOKENS = (
    *("<|im_end|>", "<|im_start|>", "<|image_pad|>", "<|eot_id|>", "<|endoftext|>", "</s>", "<s>"),
    *("[INST]", "[/INST]", "<<SYS>>", "<start_of_turn>", "<end_of_turn>", "<image>", "<video>"),
)


@pytest.mark.parametrize("to", ["datasets", *CONSUMERS])
def test_what_a_page_spells_reaches_no_trainer_as_a_control_token(run, store, to):
    whole = play(store, 0)
    title = f"{' '.join(TOKENS)} and \ud800"
    first, *others = whole.steps
    page = replace(first.observation, title=title, url="file:///home/jo/pages/shop.html")
    typed = replace(first.decision, thought=f"It shows {TOKENS[0]}.")
    add_like(store, whole, "odd-1", replace(first, observation=page, decision=typed), *others)
    out = export(run, "--to", to)
    folder = out / "steps" if to == "datasets" else next(out.rglob("*.parquet")).parent
    found = str([row.get("messages") or row for row in rows(folder)])
    assert not [token for token in TOKENS if token in found]
    assert "< image> < video> and ?" in found and "It shows < |im_end|>." in found
    assert "file:///shop.html" in found and "home/jo" not in found


def test_what_was_left_out_and_the_largest_share_are_printed(run, store, capsys):
    good = play(store, 0)
    play(store, seed_of("test", 0), phase="evaluate", index=1)
    play(store, 1, phase="baseline", index=2)
    for index in (3, 4):
        play(store, seed_of("train", index), phase="evaluate", index=index)
    store.add(replace(good, id="single-1", provenance=Provenance()))
    store.score("single-1", Score("success", 1.0, "", JUDGE))
    out = export(run, "--to", "trl")
    printed = capsys.readouterr().out
    assert "left out, episodes of phase evaluate: 1" in printed
    assert "left out, episodes of phase baseline: 1" in printed
    assert "largest share of a task: 100%, fake/" in printed
    origins = [json.loads(row["origin"]) for row in rows(out / "data")]
    assert {o["phase"] for o in origins} == {"collect", "practice", "single"}
    assert len(rows(export(run, "--to", "trl", "--phases", "baseline", out="base") / "data")) == 3


def test_formats_and_kinds_go_by_their_other_names(run: Path, store: Store) -> None:
    play(store, 0)
    play(store, 0, right=False, index=1)
    assert len(rows(export(run, "--to", "trl", "--what", "dpo", out="dpo") / "data")) == 1
    assert rows(export(run, "--to", "parquet", out="plain") / "steps")


USAGE, SETUP = Status.USAGE, Status.SETUP


@pytest.mark.parametrize(
    ("line", "status", "answer"),
    [
        ("", USAGE, "webagent export RUN --out FOLDER"),
        ("RUN", USAGE, "webagent export RUN --out FOLDER"),
        ("RUN --out o --to trll", USAGE, "unknown format 'trll'; did you mean trl"),
        ("RUN --out o --what sft", USAGE, "datasets is written episodes, not 'sft'"),
        (
            "RUN --out o --to verl --what kto",
            USAGE,
            "kto can be had for trl, llamafactory, axolotl",
        ),
        ("RUN --out o --to trl --what kto --imagined", USAGE, "no judge saw an imagined episode"),
        ("RUN --out o --imagined-share 1", USAGE, "must be a share below 1"),
        ("RUN --out o --observation htm", USAGE, "did you mean html"),
        ("RUN --out o --observation html", SETUP, "was not recorded as html"),
        ("RUN --out o --judge gues", SETUP, "the run was judged by checks_hold@2"),
        ("RUN --out o --arms nobody", SETUP, "nothing to export"),
        ("nowhere --out o", SETUP, "holds no run.sqlite"),
    ],
)
def test_what_cannot_be_done_is_answered_with_a_sentence_and_leaves_nothing_behind(
    run, store, capsys, line, status, answer
):
    play(store, 0)
    asked = [str(run) if word == "RUN" else word for word in line.split()]
    with chdir(run.parent):
        assert cli.main(["export", *asked]) == status
    assert answer in capsys.readouterr().err
    assert [path.name for path in run.parent.iterdir()] == ["run"]


@pytest.mark.browser
def test_a_benchmark_of_the_oracle_becomes_lessons_for_a_language_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = ("--tasks", "click-test-2", "login-user", "--seeds", "1", "--name", "o")
    assert cli.main(["benchmark", *asked]) == 0
    found = rows(export(tmp_path / "runs" / "o", "--to", "trl", "--phases", "evaluate") / "data")
    assert len(found) == 4
    for row in found:
        origin = json.loads(row["origin"])
        assert (origin["source"], origin["prompt"]) == ("demonstration", "rebuilt")
        said = row["completion"][0]["content"]
        mark = said.removeprefix("Action: ").partition("(")[2].partition(",")[0].rstrip(")")
        assert f"[{mark}] " in row["prompt"][1]["content"], said
