"""What the page on one's own sites tells people to write is what the code takes."""

import ast
import re
from importlib import import_module
from pathlib import Path

from recipes.login import LoginConfig
from webagent.browser.sessions.login import Login, LoginStore
from webagent.browser.sessions.profile import Profile, read_profile

PAGE = (Path(__file__).parents[4] / "docs" / "sites.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """The first block of code in a language."""
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return found[1]


def test_the_example_imports_what_there_is() -> None:
    imports = [n for n in ast.walk(ast.parse(block("python"))) if isinstance(n, ast.ImportFrom)]
    for node in imports:
        module = import_module(str(node.module))
        assert all(hasattr(module, name.name) for name in node.names), node.module
    assert len(imports) > 5


def test_the_table_of_the_example_is_a_profile(tmp_path, monkeypatch):
    monkeypatch.setenv("WEBAGENT_LOGINS", str(tmp_path / "logins"))
    state = {"cookies": [], "origins": []}
    LoginStore.default().save(Login("shop", "https://shop.example", state, 0.0))
    file = tmp_path / "sites.toml"
    file.write_text(block("toml"))
    profile = read_profile(file, "shop")
    assert (profile.storage, profile.downloads) == (state, tmp_path / "downloads")


def test_every_setting_is_on_the_page() -> None:
    settings = set(Profile.__dataclass_fields__) - {"storage"}
    assert {name for name in settings if f"`{name}`" not in PAGE} == set()
    assert all(f"--{name}" in PAGE for name in ("site", "list"))
    assert LoginConfig.__dataclass_fields__.keys() >= {"site", "list"}
