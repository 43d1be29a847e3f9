"""Recorded WebVoyager episodes become trajectories; what is damaged is named."""

import json
from pathlib import Path
from typing import Any

import pytest

from apps.imports.webvoyager import ZERO, read_action, read_elements, read_episode
from recipes.cli import main
from webagent.action import Answer, Wait
from webagent.action.actions import Action, Click, Fill, GoBack, Goto, Scroll
from webagent.errors import ActionError, SetupError, StoreError
from webagent.records import Ending, Node
from webagent.store import Store

PNG = b"\x89PNG\r\n\x1a\n"
TASK = (
    "Now given a task: Find a  red lamp.  Please interact with https://shop.test/ and get the"
    " answer. \nObservation: please analyze the attached screenshot.\n"
)
ELEMENTS = '[0]: <input> "Search";\t[3]: "Lamps", "all lamps";'
LEFT_OUT = "Observation: A screenshot and some texts. (Omitted in context.)"


def told(text: str) -> dict[str, Any]:
    """A message of the agent."""
    return {"role": "assistant", "content": text}


def seen(text: str) -> dict[str, Any]:
    """A message with a screenshot."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,{b64_img}"}}
    return {"role": "user", "content": [{"type": "text", "text": text}, image]}


TURNS = (
    {"role": "system", "content": "You are a robot."},
    seen(TASK + ELEMENTS),
    told("Thought: search\nfirst.\n\nAction: Type [0]; red lamp"),
    seen(LEFT_OUT),
    told("Thought: I see it.\nAction: ANSWER; the red one"),
)


def lay_down(folder: Path, messages: Any = TURNS, screenshots: int = 2) -> Path:
    """An episode's folder."""
    folder.mkdir(parents=True)
    (folder / "interact_messages.json").write_text(json.dumps(messages))
    for number in range(1, screenshots + 1):
        (folder / f"screenshot{number}.png").write_bytes(PNG + bytes([number]))
    return folder


def keep(image: bytes, suffix: str) -> str:
    """A reference that says which screenshot it was."""
    return f"{image[-1]}.{suffix}"


def test_messages_become_steps_with_what_was_seen_thought_and_done(tmp_path: Path) -> None:
    episode = read_episode(lay_down(tmp_path / "taskShop--3"), keep)

    assert (episode.task.id, episode.task.start_url) == (
        "webvoyager/Shop--3@1",
        "https://shop.test/",
    )
    assert episode.goal == episode.task.goal == "Find a red lamp."
    assert [step.decision.action for step in episode.steps] == [
        Fill(ZERO, "red lamp"),
        Answer("the red one"),
    ]
    first = episode.steps[0]
    assert first.decision.thought == "search\nfirst."
    assert first.observation.nodes[0] == Node(ZERO, "textbox", "Search", kind="input")
    assert (first.observation.url, first.observation.screenshot) == ("", "1.png")
    assert episode.steps[1].observation.nodes == ()
    assert (episode.ending, episode.last) == (Ending.ANSWERED, episode.steps[1].observation)
    assert (episode.provenance.world, episode.provenance.phase) == ("browser", "imported")
    assert not episode.provenance.imagined


def test_without_an_answer_the_steps_were_used_up(tmp_path: Path) -> None:
    messages = (*TURNS[:-1], told("Thought: on.\nAction: Scroll [WINDOW]; down"))

    episode = read_episode(lay_down(tmp_path / "taskShop--3", messages), keep)

    assert (episode.ending, episode.last) == (Ending.STEP_LIMIT, None)


def test_a_record_that_breaks_off_says_nothing_of_the_agent(tmp_path: Path) -> None:
    episode = read_episode(lay_down(tmp_path / "taskShop--3", TURNS[:-1]), keep)

    assert episode.ending.is_infrastructure
    assert "breaks off" in episode.error
    assert len(episode.steps) == 1


def test_an_error_said_to_the_agent_is_the_outcome_of_its_action(tmp_path: Path) -> None:
    messages = (
        *TURNS[:3],
        {"role": "user", "content": "The action you have chosen cannot be executed."},
        told("I do not know."),
        {"role": "user", "content": "Format ERROR: write Thought and Action."},
        told("Thought: again.\nAction: Click [3]"),
    )

    episode = read_episode(lay_down(tmp_path / "taskShop--3", messages, screenshots=1), keep)

    assert [step.decision.action for step in episode.steps] == [Fill(ZERO, "red lamp"), Click(3)]
    assert episode.steps[1].observation.outcome == "Format ERROR: write Thought and Action."
    assert episode.steps[1].observation.nodes == episode.steps[0].observation.nodes
    assert "reply 2: no Thought and Action" in episode.error


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("Click [12]", Click(12)),
        ("Click 12", Click(12)),
        ("Click [0]", Click(ZERO)),
        ("Type [3]; [a; b]", Fill(3, "a; b")),
        ("Type 3; lamp\nred", Fill(3, "lamp\nred")),
        ("Scroll [WINDOW]; down", Scroll(0, 0, 512)),
        ("Scroll [7]; [up]", Scroll(7, 0, -512)),
        ("Wait", Wait(5000)),
        ("GoBack", GoBack()),
        ("Google", Goto("https://www.google.com/")),
        ('ANSWER; Line ("-----")', Answer('Line ("-----")')),
        ("ANSWER; [yes]", Answer("yes")),
    ],
)
def test_every_kind_of_action_is_read(text: str, action: Action) -> None:
    assert read_action(text) == action


@pytest.mark.parametrize("text", ["", "Click", "Click [a]", "Scroll [1]; left", "Jump", "ANSWER;"])
def test_what_is_no_action_is_refused(text: str) -> None:
    with pytest.raises(ActionError, match="not an action of WebVoyager"):
        read_action(text)


def test_elements_are_read_with_their_tags_and_second_texts() -> None:
    text = (
        'Please look.\n[2]: <button> "Go";\t[3]: "a\nb [4]: c";\t[5]: "5", "5 stars";'
        '\t[6]: <button> "";'
    )

    assert read_elements(text) == (
        Node(2, "button", "Go", kind="button"),
        Node(3, "element", "a\nb [4]: c"),
        Node(5, "element", "5", description="5 stars"),
        Node(6, "button", "", kind="button"),
    )
    assert read_elements(LEFT_OUT) == ()


MESSAGES = "interact_messages.json"


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("screenshot2.png", None, "screenshot2.png cannot be read"),
        ("screenshot1.png", "<html>", "is not a PNG"),
        (MESSAGES, None, "cannot be read: No such"),
        (MESSAGES, '[{"role": "us', "interact_messages.json is damaged"),
        (MESSAGES, '{"role": 1}', "not a list of messages"),
        (MESSAGES, json.dumps([TURNS[1], TURNS[3]]), "should take turns"),
        (MESSAGES, json.dumps([seen("Hello"), TURNS[2]]), "names no task"),
        (MESSAGES, "[]", "should take turns"),
    ],
)
def test_a_damaged_folder_is_named_with_what_is_wrong(
    tmp_path: Path, file: str, content: str | None, message: str
) -> None:
    folder = lay_down(tmp_path / "taskShop--3")
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_text(content)

    with pytest.raises(StoreError, match=message) as error:
        read_episode(folder, keep)

    assert "taskShop--3" in str(error.value)


def test_the_command_imports_what_it_can_and_names_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_down(tmp_path / "examples" / "taskShop--3")
    lay_down(tmp_path / "examples" / "taskShop--4", screenshots=1)
    run = tmp_path / "run"

    status = main(
        ["record", "--import", "webvoyager", str(tmp_path / "examples"), "--into", str(run)]
    )

    said = capsys.readouterr()
    assert status == 1
    assert "imported: 1 of 2 episodes" in said.out
    assert "screenshot2.png cannot be read" in said.err
    with Store.open(run) as store:
        (episode,) = store.trajectories(phase="imported")
        assert store.images.get(episode.steps[0].observation.screenshot) == PNG + b"\x01"
        assert episode.ending == Ending.ANSWERED


def test_an_episode_that_is_there_already_is_not_imported_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = lay_down(tmp_path / "taskShop--3")
    arguments = ["record", "--import", "webvoyager", str(folder), "--into", str(tmp_path / "run")]

    assert (main(arguments), main(arguments)) == (0, 1)
    assert "is already in" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["webvoyager"],
        ["webvoyager", "nowhere", "--into", "run"],
        ["webvoyger", "x", "--into", "run"],
    ],
)
def test_a_line_that_names_no_episodes_is_answered_in_a_sentence(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBAGENT_DEBUG", "1")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SetupError):
        main(["record", "--import", *arguments])


def test_both_episodes_of_the_paper_are_read(recorded_episodes: Path) -> None:
    folder = recorded_episodes / "webvoyager"
    episodes = [read_episode(folder / name, keep) for name in ("taskArXiv--11", "taskGitHub--0")]

    assert [len(episode.steps) for episode in episodes] == [7, 5]
    assert {episode.ending for episode in episodes} == {Ending.ANSWERED}
    assert episodes[1].steps[1].decision.action == Fill(ZERO, "climate change data visualization")
    assert len(episodes[1].last.nodes) == 52
    assert [len(step.observation.nodes) for step in episodes[0].steps] == [0, 0, 0, 0, 18, 32, 8]
