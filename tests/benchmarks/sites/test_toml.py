"""Sites that a TOML file describes, here and hosted, and files that are wrong."""

import sys
import time
from pathlib import Path

import pytest

from benchmarks.sites import Instance, RemoteSite, SiteError, find_site
from benchmarks.sites.described import read_sites
from tests.fakes.site import Reply, serving_in_thread

ROOT = Path(__file__).parents[3]
SERVER = ROOT / "tests" / "fakes" / "diary.py"
BUILD = "from pathlib import Path; from tests.fakes.diary import Diary; import sys"
BUILD += "; Diary().build(Path(sys.argv[1]))"

LOCAL = f"""
[sites."notes@1"]
address = "http://notes.test"
build = ["{sys.executable}", "-c", "{BUILD}", "{{state}}"]
serve = "{sys.executable} -S {SERVER} {{state}} {{port}} ''"
environment = {{ PYTHONPATH = "{ROOT}" }}
ready = "/health"
database = "diary.db"

[sites."notes@1".accounts.writer]
name = "ann"
password = "rain"
can = "writes"

[sites."notes@1".login]
path = "/login"
name = "name"

[sites."notes@1".passing]
visit = []
entry = ["id"]
"""
HOSTED = """
[sites."shopping@1"]
hosted = "http://localhost:7770"
reset = "never"
"""


@pytest.fixture
def described(tmp_path):
    """Reads a text as a file of sites."""

    def read(text):
        file = tmp_path / "sites.toml"
        file.write_text(text)
        return read_sites(file)

    return read


@pytest.mark.site
def test_a_site_by_commands_is_built_served_logged_in_and_reset(described, write, entries):
    site = described(LOCAL)["notes@1"]
    assert site.passing == {"visit": (), "entry": ("id",)}

    with Instance.start(site) as running:
        write(running, "Fog.")
        assert "Fog." in entries(running)
        running.reset()
        assert "Fog." not in entries(running)


@pytest.mark.site
def test_a_build_that_fails_says_what_it_wrote(described):
    text = LOCAL.replace(BUILD, "raise SystemExit('no paper')")
    with pytest.raises(SiteError, match=r"notes@1 cannot be built: .* status 1; it wrote:\nno pap"):
        Instance.start(described(text)["notes@1"])


def test_a_hosted_site_says_plainly_that_it_is_never_reset(described):
    site = described(HOSTED)["shopping@1"]

    assert isinstance(site, RemoteSite)
    assert site.address == site.hosted == "http://localhost:7770"
    assert not site.is_reset


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x = [", "is not TOML"),
        ("[site]\n", 'should have tables [sites."NAME@VERSION"], found also site'),
        ("[sites]\nnotes = 1\n", "a name and a version, as kanboard@1"),
        (LOCAL.replace("ready =", "redy ="), "unknown key 'redy'; expected ready"),
        (
            LOCAL.replace('name = "ann"', 'user = "ann"'),
            "accounts, writer has an unknown key 'user'",
        ),
        (LOCAL.replace('password = "rain"', ""), "accounts, writer lacks the key 'password'"),
        (LOCAL.replace("{port}", "80"), "serve does not say {port}"),
        (LOCAL.replace('"http://notes.test"', '"notes.test"'), "expected one such as http://kan"),
        (LOCAL.replace('"http://notes.test"', '"http://notes.test/app"'), "expected one such as"),
        (LOCAL.replace('address = "http://notes.test"', ""), "lacks the key 'address'"),
        (LOCAL.replace("visit = []", 'visit = "all"'), "passing: visit is 'all', expected a list"),
        (LOCAL.replace('path = "/login"', "path = 3"), "login: path is 3, expected text"),
        (LOCAL.split('[sites."notes@1".login]')[0], "has accounts, but no [login]"),
        (HOSTED.replace('reset = "never"', ""), 'reset = "never" where every episode may find'),
        (HOSTED + 'serve = "x {port}"\n', "unknown key 'serve'"),
        (HOSTED + 'address = "http://shop.test/x"\n', "expected one such as"),
        (HOSTED + "reset_seconds = 0\n", "reset_seconds is 0, expected seconds"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(described, text, why):
    with pytest.raises(SiteError) as raised:
        described(text)
    assert "sites.toml" in str(raised.value) and why in str(raised.value)


def test_a_site_is_found_by_its_id_or_its_name_and_close_ones_are_told(
    described, tmp_path, monkeypatch
):
    described(HOSTED)
    file = tmp_path / "sites.toml"

    assert find_site("shopping", [file]).id == "shopping@1"
    monkeypatch.setenv("WEBAGENT_SITE_FILES", str(file))
    assert find_site("shopping@1").id == "shopping@1"
    with pytest.raises(SiteError, match=r"no site is called 'zzz@1'; .* with --sites$"):
        find_site("zzz@1")
    with pytest.raises(
        SiteError, match=r"no site is called 'shoping@1'; there is shopping@1, webshop@1$"
    ):
        find_site("shoping@1")
    assert find_site("shopping", [file]).id == "shopping@1"  # one file, named twice
    other = tmp_path / "other.toml"
    other.write_bytes(file.read_bytes())
    with pytest.raises(SiteError, match="there is one already"):
        find_site("shopping", [other])
    with pytest.raises(SiteError, match=r"nowhere\.toml cannot be read"):
        find_site("shopping", [tmp_path / "nowhere.toml"])


def answer(request):
    """Has a form to log in by, and breaks at /broken."""
    if request.path == "/broken":
        return Reply("broken", 500)
    if request.method == "POST":
        return Reply("welcome", headers={"Set-Cookie": f"visit={time.time()}; Path=/; HttpOnly"})
    return Reply("<form method=post><input name=username><input name=password></form>")


@pytest.fixture
def elsewhere():
    """A server on this machine that stands for one elsewhere."""
    with serving_in_thread() as site:
        site.other = answer
        yield site


@pytest.fixture
def host(elsewhere):
    return elsewhere.address


def hosted(host, **lines):
    text = "\n".join(f'{name} = "{value}"' for name, value in lines.items())
    return f"""
[sites."shop@1"]
hosted = "{host}"
{text}
[sites."shop@1".accounts.buyer]
name = "ann"
password = "rain"
[sites."shop@1".login]
path = "/login"
"""


def test_a_hosted_site_is_reset_by_post_and_logged_in_anew_after_it(described, elsewhere, host):
    running = described(hosted(host, reset_url=f"{host}/reset"))["shop@1"].start()
    first = running.login("buyer")
    assert running.login("buyer") is first
    cookie = first["cookies"][0]
    assert (cookie["domain"], cookie["httpOnly"]) == ("127.0.0.1", True)

    running.reset()

    assert ("POST", "/reset") in [(each.method, each.path) for each in elsewhere.requests]
    assert running.login("buyer") != first
    with pytest.raises(SiteError, match="no account 'seller'"):
        running.login("seller")


def test_a_site_whose_form_leads_to_another_address_is_told_where_it_is_served(
    described, elsewhere, host
):
    fields = "<input name=name><input name=password>"
    elsewhere.page("/login", f"<form method=post action=http://notes.test/in>{fields}</form>")
    site = described(LOCAL)["notes@1"]
    with pytest.raises(SiteError, match="is sent to http://notes"):
        site.log_in(host, site.accounts["writer"])


def test_a_hosted_site_is_reset_by_a_command_and_told_when_that_fails(described, host, tmp_path):
    mark = tmp_path / "mark"
    described(hosted(host, reset=f"touch {mark}"))["shop@1"].start().reset()
    assert mark.exists()

    for way, why in (
        ({"reset": "ls /nowhere"}, r"ended with status 2; it wrote:\nls: "),
        ({"reset": "/nowhere"}, "cannot be reset: .*No such file"),
        ({"reset_url": f"{host}/broken"}, "gave status 500"),
    ):
        with pytest.raises(SiteError, match=why):
            described(hosted(host, **way))["shop@1"].start().reset()


def test_a_hosted_site_that_is_not_there_is_named(described):
    with pytest.raises(SiteError, match=r"http://127.0.0.1:1/ does not answer"):
        described(hosted("http://127.0.0.1:1", reset="never"))["shop@1"].start()
