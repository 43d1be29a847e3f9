"""The tools are the actions themselves, and the documentation has them as they are."""

import re
from pathlib import Path

import pytest

from apps.mcp.handlers import make_tools
from apps.mcp.settings import OFFERED, McpConfig
from recipes import cli
from webagent.action import ACTIONS, usage
from webagent.errors import SetupError
from webagent.guard import Guard, GuardPolicy

DOCS = Path(__file__).parents[3] / "docs" / "mcp.md"


@pytest.mark.parametrize("name", OFFERED)
def test_an_action_is_a_tool_in_its_own_words(name: str) -> None:
    tool = make_tools(McpConfig())[name].tool
    assert tool.description == ACTIONS[name].__doc__
    names = [each for each in tool.input_schema["properties"] if each != "session"]
    assert f"{name}({', '.join(names)})" == usage(name)
    assert "session" in tool.input_schema["required"]


def test_arguments_have_the_types_of_the_action() -> None:
    tools = {
        name: offer.tool.input_schema["properties"]
        for name, offer in make_tools(McpConfig()).items()
    }
    assert tools["click"]["mark"]["type"] == "integer"
    assert tools["click"]["button"]["enum"] == ["left", "middle", "right"]
    assert tools["select_options"]["options"]["type"] == "array"


def test_no_tool_runs_code() -> None:
    assert not {"evaluate", "run_code", "script"} & set(make_tools(McpConfig()))
    every = str([offer.tool for offer in make_tools(McpConfig()).values()]).lower()
    assert "javascript" not in every


def test_only_the_actions_asked_for_are_tools() -> None:
    found = set(make_tools(McpConfig(actions=("click", "goto"))))
    assert {"click", "goto", "act", "observe"} <= found and "fill" not in found


def test_the_table_in_the_docs_is_the_one_that_describe_prints(capsys) -> None:
    assert cli.main(["mcp", "--describe"]) == 0
    assert capsys.readouterr().out.strip() in DOCS.read_text(encoding="utf-8")


def test_every_setting_that_the_docs_name_is_one() -> None:
    flags = {f"--{name.replace('_', '-')}" for name in McpConfig.__dataclass_fields__}
    used = set(re.findall(r"--[a-z][a-z-]+", DOCS.read_text(encoding="utf-8")))
    assert used <= flags | {"--help"}


@pytest.mark.parametrize(
    ("config", "found"),
    [
        (McpConfig(actions=("clack",)), "did you mean click"),
        (McpConfig(actions=("answer",)), "close_session"),
        (McpConfig(host="0.0.0.0"), "--allowed-hosts"),
        (McpConfig(max_sessions=0), "--max-sessions 0"),
        (McpConfig(profiles="sites.toml"), "--site"),
    ],
)
def test_settings_that_cannot_be_are_refused_with_what_to_do(config: McpConfig, found: str) -> None:
    with pytest.raises(SetupError, match=found):
        config.check()


def test_a_site_that_is_none_is_refused() -> None:
    with pytest.raises(SetupError, match="localhost:3000"):
        McpConfig(allow=("not a site",)).policy()


def test_without_a_guard_the_public_web_is_open_and_files_and_uploads_are_not() -> None:
    policy = McpConfig().policy()
    assert policy.other_sites == "allow"
    assert not policy.open_folders and not policy.uploads.folders and not policy.downloads.allowed


def test_where_the_guard_has_secrets_there_are_no_screenshots() -> None:
    assert not McpConfig().held(Guard(GuardPolicy()))
    assert McpConfig(screenshots=False).held(Guard(GuardPolicy()))
