"""A policy file is read whole, and every mistake in it is named."""

from pathlib import Path

import pytest

from webagent.errors import SetupError
from webagent.guard import Guard, GuardPolicy, read_policy
from webagent.guard.address import ANY_PORT
from webagent.guard.decide import decide_request
from webagent.guard.policy import open_for_task


def read(tmp_path: Path, text: str) -> GuardPolicy:
    """The policy a file of this text holds."""
    file = tmp_path / "guard.toml"
    file.write_text(text)
    return read_policy(file)


def test_an_empty_file_is_the_built_in_policy(tmp_path: Path) -> None:
    assert read(tmp_path, "") == GuardPolicy()


def test_values_arrive_as_they_are_meant(tmp_path: Path) -> None:
    policy = read(
        tmp_path,
        """
        [[sites]]
        match = "http://*.Example.com:*/a"
        methods = ["GET"]
        [uploads]
        folders = ["out"]
        types = [".PDF"]
        """,
    )
    site = policy.sites[0].match
    assert (site.host, site.port, site.path) == ("*.example.com", ANY_PORT, "/a")
    assert policy.uploads.folders == ((tmp_path / "out").resolve(),)
    assert policy.uploads.types == (".pdf",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("onrefusal = 'tell'", "did you mean on_refusal"),
        ("on_refusal = 'shout'", "on_refusal: Input should be 'tell' or 'end'"),
        ("[[sites]]\nmach = 'a.example'", "did you mean match"),
        ("[[sites]]\nmatch = 'a b'", "names no site"),
        ("[[sites]]\nmatch = 'a.example'\nmethods = ['get']", "'get' is not an HTTP method"),
        ("[uploads]\nfolder = []", "did you mean folders"),
        ("[secrets.a]\nsites = ['a.example']", "either from `env` or from `file`"),
        ("[secrets.a]\nenv = 'A'\nsites = []", "needs `sites`"),
        ("[[actions]]\nverdict = 'deny'\nactions = ['clik']", "no action called 'clik'"),
        ("[[actions]]\nverdict = 'deny'\nwhen = {type = 3}", "actions.0.when is not a JSON Schema"),
        ("open_networks = ['home']", "'home' is not a network"),
        ("[hosts]\n'a.example' = 'b.example'", "is not an IP address"),
        ("on_refusal = ", "is not TOML"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SetupError) as raised:
        read(tmp_path, text)
    assert said in str(raised.value)
    assert "guard.toml" in str(raised.value)


def test_a_file_that_is_not_there_is_said_to(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"none\.toml cannot be read"):
        read_policy(tmp_path / "none.toml")


@pytest.mark.parametrize("value", [None, "abc"])
def test_a_secret_that_is_missing_or_short_stops_before_the_first_page(
    tmp_path, monkeypatch, value
):
    monkeypatch.delenv("SHOP_PASSWORD", raising=False)
    if value:
        monkeypatch.setenv("SHOP_PASSWORD", value)
    file = tmp_path / "guard.toml"
    file.write_text("[secrets.pw]\nenv = 'SHOP_PASSWORD'\nsites = ['a.example']")
    with pytest.raises(SetupError, match="SHOP_PASSWORD holds") as raised:
        Guard.read(file)
    assert "abc" not in str(raised.value)


def test_a_secret_never_shows_in_a_repr(tmp_path: Path) -> None:
    (tmp_path / "pw").write_text("correct-horse\n")
    file = tmp_path / "guard.toml"
    file.write_text("[secrets.pw]\nfile = 'pw'\nsites = ['a.example']")
    guard = Guard.read(file)
    assert guard.secrets.revealed("<secret:pw>") == "correct-horse"
    assert "correct-horse" not in repr(guard)


def test_a_task_opens_its_own_origin_and_no_more() -> None:
    policy = open_for_task(GuardPolicy(), "http://a.example:8080/start")
    assert [str(rule.match) for rule in policy.sites] == ["http://a.example:8080"]
    assert not policy.open_folders


def test_a_rule_about_the_tasks_server_takes_the_place_of_that(tmp_path: Path) -> None:
    policy = read(tmp_path, "[[sites]]\nmatch = 'a.example/shop'\nmethods = ['GET']")
    assert open_for_task(policy, "https://a.example/") == policy


def test_a_task_on_a_file_opens_its_folder(tmp_path: Path) -> None:
    page = tmp_path / "a b" / "page.html"
    assert open_for_task(GuardPolicy(), page.as_uri()).open_folders == (page.parent.resolve(),)


def test_a_site_by_its_name_is_the_server_that_it_was_started_on(tmp_path: Path) -> None:
    (tmp_path / "pw").write_text("x")
    policy = read(
        tmp_path,
        "[[sites]]\nmatch = 'fossil@1'\nmethods = ['GET']\n"
        "[[sites]]\nmatch = 'fossil@1/setup'\nverdict = 'deny'\n"
        "[[actions]]\nverdict = 'deny'\nsites = ['fossil@1/wiki', 'a.example']\n"
        f"[secrets.pw]\nfile = '{tmp_path / 'pw'}'\nsites = ['fossil@1']\n",
    )
    served = open_for_task(policy, "http://127.0.0.1:4711/home", "fossil@1")
    assert [str(rule.match) for rule in served.sites] == [
        "http://127.0.0.1:4711",
        "http://127.0.0.1:4711/setup",
    ]
    assert list(map(str, served.actions[0].sites)) == ["http://127.0.0.1:4711/wiki", "a.example"]
    assert list(map(str, served.secrets["pw"].sites)) == ["http://127.0.0.1:4711"]
    assert decide_request(served, "http://127.0.0.1:4711/wiki").is_allowed
    assert not decide_request(served, "http://127.0.0.1:4711/wiki", "POST").is_allowed
    assert not decide_request(served, "http://127.0.0.1:4711/setup").is_allowed
    assert not decide_request(served, "http://127.0.0.1:4712/wiki").is_allowed


def test_rules_on_a_site_by_its_name_open_nothing_where_another_is_played(tmp_path: Path) -> None:
    policy = read(tmp_path, "[[sites]]\nmatch = 'fossil@1/wiki'")
    for site in ("", "oscar@1"):
        elsewhere = open_for_task(policy, "http://127.0.0.1:4711/", site)
        assert str(elsewhere.sites[0].match) == "fossil@1/wiki"
        assert not decide_request(elsewhere, "http://fossil/wiki").is_allowed
        assert not decide_request(elsewhere, "http://fossil@1/wiki").is_allowed
