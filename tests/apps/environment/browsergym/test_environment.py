"""The compatible environment: BrowserGym's dictionary, its calls, its seeds, and its endings."""

from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import apps.environment
from apps.environment.browsergym import BrowserGymEnv
from tasks.task import TaskCheck
from webagent.errors import SetupError

gymnasium.register_envs(apps.environment)
pytestmark = pytest.mark.browser
LOGIN = "webagent/browsergym.miniwob.login-user-v1"


def made(name: str, **arguments: Any) -> BrowserGymEnv:
    """The environment of this task."""
    env = gymnasium.make(f"webagent/browsergym.miniwob.{name}-v1", **arguments).unwrapped
    assert isinstance(env, BrowserGymEnv)
    return env


@pytest.fixture(scope="module")
def env() -> Iterator[BrowserGymEnv]:
    env = made("login-user")
    yield env
    env.close()


def valid(seen: dict[str, Any]) -> None:
    """Fails unless the dictionary is of BrowserGym's documented form."""
    texts = ("goal", "url", "focused_element_bid", "last_action", "last_action_error")
    assert all(isinstance(seen[name], str) for name in texts)
    assert [set(message) for message in seen["chat_messages"]][:1] == [
        {"role", "timestamp", "message"}
    ]
    assert seen["goal_object"] == ({"type": "text", "text": seen["goal"]},)
    assert len(seen["open_pages_urls"]) == len(seen["open_pages_titles"])
    assert seen["open_pages_urls"][int(seen["active_page_index"][0])] == seen["url"]
    assert seen["active_page_index"].shape == seen["elapsed_time"].shape == (1,)
    assert seen["screenshot"].dtype == np.uint8 and seen["screenshot"].shape[2] == 3
    valid_tree(seen["axtree_object"]["nodes"])
    valid_document(seen["dom_object"])
    for bid, facts in seen["extra_element_properties"].items():
        assert isinstance(bid, str)
        assert set(facts) == {"visibility", "bbox", "clickable", "set_of_marks"}
        assert 0 <= facts["visibility"] <= 1 and isinstance(facts["set_of_marks"], bool)
        assert facts["bbox"] is None or len(facts["bbox"]) == 4


def valid_tree(nodes: list[dict[str, Any]]) -> None:
    """One tree below the first node, with a role at each and a bid at most once."""
    by_id = {node["nodeId"]: node for node in nodes}
    assert len(by_id) == len(nodes)
    waiting, reached = [nodes[0]["nodeId"]], set()
    while waiting:
        node = by_id[waiting.pop()]
        assert isinstance(node["role"]["value"], str)
        reached.add(node["nodeId"])
        waiting.extend(child for child in node["childIds"] if child in by_id)
    assert len(reached) > len(nodes) / 2
    bids = [node["browsergym_id"] for node in nodes if "browsergym_id" in node]
    assert bids and len(set(bids)) == len(bids)


def valid_document(document: dict[str, Any]) -> None:
    """Every list of a document is as long as its nodes; attributes come in pairs of strings."""
    strings = document["strings"]
    for each in document["documents"]:
        nodes = each["nodes"]
        count = len(nodes["parentIndex"])
        for key in ("nodeType", "nodeName", "nodeValue", "attributes", "backendNodeId"):
            assert len(nodes[key]) == count
        assert all(0 <= part < len(strings) for one in nodes["attributes"] for part in one)
        assert "layout" in each and "contentDocumentIndex" in nodes and "isClickable" in nodes


def bid_of(seen: dict[str, Any], role: str, place: int = 0) -> str:
    """The bid of one of the elements of a role."""
    nodes = seen["axtree_object"]["nodes"]
    found = [node for node in nodes if node["role"]["value"] == role and "browsergym_id" in node]
    return str(found[place]["browsergym_id"])


def attributes(seen: dict[str, Any]) -> dict[str, dict[str, str]]:
    """The attributes of every element of the page by its bid."""
    strings, nodes = seen["dom_object"]["strings"], seen["dom_object"]["documents"][0]["nodes"]
    texts = [[strings[part] for part in each] for each in nodes["attributes"]]
    pairs = [dict(zip(each[::2], each[1::2], strict=True)) for each in texts]
    return {each["bid"]: each for each in pairs if "bid" in each}


def test_the_dictionary_is_of_the_documented_form(env: BrowserGymEnv) -> None:
    seen, _ = env.reset(seed=1)
    assert seen in env.observation_space
    valid(seen)
    valid(env.step("noop(10)")[0])
    assert seen["screenshot"].shape == (321, 498, 3)


def test_gymnasium_finds_nothing_wrong() -> None:
    env = gymnasium.make(LOGIN)
    check_env(env.unwrapped, skip_render_check=True)
    env.close()


def test_the_same_bid_means_the_same_element_in_every_field(env: BrowserGymEnv) -> None:
    seen, _ = env.reset(seed=1)
    field = bid_of(seen, "textbox")
    assert attributes(seen)[field]["id"] == "username"
    facts = seen["extra_element_properties"][field]
    assert facts["set_of_marks"] and facts["clickable"] and facts["visibility"] == 1
    seen, *_ = env.step(f"fill('{field}', 'Ada')")
    assert seen["focused_element_bid"] == field
    assert attributes(seen)[field]["value"] == "Ada", "fields show what they hold now"


def test_what_is_no_part_of_the_task_is_in_no_field(env: BrowserGymEnv) -> None:
    seen, _ = env.reset(seed=1)
    names = [node.get("name", {}).get("value", "") for node in seen["axtree_object"]["nodes"]]
    assert not any("Enter the" in str(name) or "Last reward" in str(name) for name in names)
    ids = {each.get("id") for each in attributes(seen).values()}
    assert "wrap" in ids and not {"query", "reward-display", "sync-task-cover"} & ids


def test_several_calls_in_one_text_are_done_in_order(env: BrowserGymEnv) -> None:
    seen, _ = env.reset(seed=2)
    user, password = (part.strip('"') for part in seen["goal"].split()[3:8:4])
    calls = (
        f"fill('{bid_of(seen, 'textbox', 0)}', '{user}')\n"
        f"fill('{bid_of(seen, 'textbox', 1)}', '{password}') # and now\n"
        f"click('{bid_of(seen, 'button')}')"
    )
    seen, reward, terminated, truncated, info = env.step(calls)
    assert (reward, terminated, truncated) == (1.0, True, False), seen["goal"]
    assert info["task_info"]["RAW_REWARD_GLOBAL"] == 1 and info["success"]
    assert seen["last_action"] == calls and seen["last_action_error"] == ""
    with pytest.raises(RuntimeError, match="call reset first"):
        env.step("noop()")


def test_what_cannot_be_done_is_said_and_ends_the_text(env: BrowserGymEnv) -> None:
    seen, _ = env.reset(seed=2)
    field = bid_of(seen, "textbox")
    seen, reward, terminated, *_ = env.step(f"click('9999')\nfill('{field}', 'never')")
    assert "no element 9999" in seen["last_action_error"] and (reward, terminated) == (0.0, False)
    assert attributes(seen)[field].get("value", "") == ""
    assert "empty action" in env.step("hm")[0]["last_action_error"]
    assert "Invalid action type" in env.step("clik('1')")[0]["last_action_error"]


def test_the_agent_can_talk_and_give_up(env: BrowserGymEnv) -> None:
    seen, _ = env.reset(seed=2)
    assert [message["role"] for message in seen["chat_messages"]] == ["assistant", "user"]
    assert seen["chat_messages"][1]["message"] == seen["goal"]
    seen, _, terminated, *_ = env.step("send_msg_to_user('on it')")
    assert seen["chat_messages"][-1]["message"] == "on it" and not terminated
    seen, reward, terminated, _, info = env.step("report_infeasible('too hard')")
    assert seen["chat_messages"][-1]["role"] == "infeasible"
    assert (reward, terminated, info["ending"]) == (0.0, True, "gave up")


def test_a_task_that_asks_for_an_answer_ends_with_the_message(page_task):
    task = page_task(
        "form", goal="Answer 42.", checks=(TaskCheck("episode.answer", "equals", "42"),)
    )
    env = gymnasium.make("webagent/browsergym.Task-v1", task=task)
    env.reset(seed=0)
    assert env.step("send_msg_to_user('42')")[1:3] == (1.0, True)
    env.close()


def test_only_the_fields_asked_for_are_there() -> None:
    env = made("click-test", fields=("axtree_object",))
    seen, _ = env.reset(seed=0)
    assert "axtree_object" in seen and not {"screenshot", "dom_object"} & set(seen)
    assert seen in env.observation_space
    env.close()
    env = made("click-test", fields=())
    seen, _ = env.reset(seed=0)
    assert seen in env.observation_space
    env.close()
    with pytest.raises(SetupError, match="did you mean screenshot"):
        made("click-test", fields=("screenshots",))


def test_a_seed_draws_the_page_that_it_draws_in_browsergym(env: BrowserGymEnv) -> None:
    """1 and 2 draw 128037 and 100879 in NumPy's legacy generator, as BrowserGym uses it."""
    drawn = [env.reset(seed=seed)[1]["seed"] for seed in (1, 2, 1)]
    expected = [int(np.random.RandomState(seed).randint(0, 1_000_000)) for seed in (1, 2, 1)]
    assert drawn == expected and drawn[0] != drawn[1]


def test_half_a_success_counts_only_under_browsergyms_own_rule() -> None:
    """In find-greatest the wrong card pays 0.1: no success here, one there."""
    rewards = {}
    for rule in ("success", "raw_positive"):
        env = made("find-greatest", reward=rule, fields=("extra_element_properties",))
        outcomes = set()
        for seed in range(6):
            seen, _ = env.reset(seed=seed)
            marks = [b for b, e in seen["extra_element_properties"].items() if e["set_of_marks"]]
            _, reward, _, _, info = env.step(f"click('{marks[0]}') click('{marks[-1]}')")
            outcomes.add((info["task_info"].get("RAW_REWARD_GLOBAL"), reward))
        rewards[rule] = outcomes
        env.close()
    partial = [raw for raw, _ in rewards["raw_positive"] if raw and 0 < raw < 1]
    assert partial, rewards
    assert all((raw, 1.0) in rewards["raw_positive"] for raw in partial)
    assert all((raw, 0.0) in rewards["success"] for raw in partial)


def test_a_failure_of_the_browser_truncates_without_a_reward(env: BrowserGymEnv) -> None:
    env.reset(seed=0)
    seen, reward, terminated, truncated, info = env.step("goto('chrome://crash')")
    assert np.isnan(reward) and (terminated, truncated) == (False, True)
    assert info["ending"] == "world failed" and "crashed" in seen["last_action_error"]
    assert seen in env.observation_space
    assert env.reset(seed=0)[0]["last_action_error"] == ""
