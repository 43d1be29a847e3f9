"""What mkdocs builds beside the written pages: commands, Python, the navigation and llms.txt."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from recipes.commands import COMMANDS, GROUPS, Command, load  # noqa: E402
from recipes.settings import Option, options_of  # noqa: E402

PROJECT = ("README.md", "CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md")
"""Pages at the root, which become pages of the folder `project`."""
TOPS = ("tasks", "webagent", "evaluators", "worldmodel", "benchmarks", "loop", "apps")
FORMS = (
    "benchmarks.sites.described",
    "tasks.task",
    "webagent.action.actions",
    "webagent.browser.sessions.profile",
    "webagent.records",
)
"""Modules whose fields people write in files or read in a store."""
_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)\s]+)\)")


def on_config(config: Any) -> Any:
    """Take the navigation from the headings and links of docs/README.md."""
    nav: list[Any] = [{"Documentation": "README.md"}]
    for section in (ROOT / "docs/README.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        links = re.findall(r"^- \[(.+?)\]\((.+?)\)", section, re.M)
        nav.append({section.split("\n")[0]: [{name: _placed(link)} for name, link in links]})
    records = sorted(path.name for path in (ROOT / "docs/decisions").glob("*.md"))
    months = sorted((path.name for path in (ROOT / "docs/log").glob("2*.md")), reverse=True)
    nav.append({"Log": [f"log/{name}" for name in months]})
    nav.append({"Decisions": [f"decisions/{name}" for name in records]})
    nav.append({"Commands": [{name: f"reference/{name}.md"} for name in COMMANDS]})
    nav.append({"Rules": "reference/rules.md"})
    nav.append({"Python": [{name: f"reference/python/{name}.md"} for name in _modules()]})
    config.nav = nav
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made from code, and those at the root of the repository."""
    pages = {f"reference/{name}.md": _command(name) for name in COMMANDS}
    pages |= {f"reference/python/{name}.md": f"# {name}\n\n::: {name}\n" for name in _modules()}
    pages["reference/rules.md"] = _rules()
    pages |= {f"project/{name}": (ROOT / name).read_text(encoding="utf-8") for name in PROJECT}
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links between docs/ and the root of the repository to where those pages are built."""
    here = page.file.src_uri
    written = here.removeprefix("project/") if here.startswith("project/") else f"docs/{here}"

    def moved(match: re.Match[str]) -> str:
        target = _placed(os.path.relpath(os.path.join(os.path.dirname(written), match[1]), "docs"))
        return f"]({os.path.relpath(target, os.path.dirname(here))})"

    return _LINK.sub(moved, markdown)


def on_post_build(config: Any) -> None:
    """Write llms.txt as llmstxt.org describes it: a line on the project, and one on each page."""
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8").partition("\n## ")[2]
    head = f"# {config.site_name}\n\n> {config.site_description}\n\n## "
    text = _LINK.sub(lambda match: f"]({_placed(match[1])})", index).replace(".md)", ".html)")
    (Path(config.site_dir) / "llms.txt").write_text(head + text, encoding="utf-8")


def _placed(link: str) -> str:
    """Return where a link from the folder docs leads on the site."""
    if link == "decisions":
        return "decisions/001-import-contracts-and-layout.md"
    return f"project/{link[3:]}" if link[3:].partition("#")[0] in PROJECT else link


def _modules() -> Iterator[str]:
    """Yield the packages that export names."""
    found = [path for top in TOPS for path in (ROOT / top).rglob("__init__.py")]
    exporting = [path.parent for path in found if "__all__" in path.read_text(encoding="utf-8")]
    yield from sorted([*FORMS, *(".".join(path.relative_to(ROOT).parts) for path in exporting)])


def _command(name: str) -> str:
    """Return a command's page: its help, examples, settings, and what `--json` prints."""
    command = COMMANDS[name]
    config: Any = load(command.settings)
    rows = [_row(option) for option in options_of(config)]
    table = "\n".join(["| setting | default | meaning |", "| --- | --- | --- |", *rows])
    examples = "\n".join(command.examples)
    facts = "\n\n".join(_facts(place, name) for place in _places(command))
    return (
        f"# webagent {name}\n\n{GROUPS[command.group]}: {command.summary}.\n\n{config.__doc__}\n\n"
        f"```text\n{examples}\n```\n\n{table}\n\n## What `--json` prints\n\n{facts}\n"
    )


def _places(command: Command) -> tuple[str, ...]:
    return (command.facts,) if isinstance(command.facts, str) else tuple(command.facts)


def _facts(place: str, name: str) -> str:
    """Return the definition of a class of facts on the page of the first command that prints it,
    and a link on those of others: a name may have one definition."""
    first = next(each for each, other in COMMANDS.items() if place in _places(other))
    if first == name:
        return f"::: {place.replace(':', '.')}"
    return f"`{place.partition(':')[2]}`, as of [`webagent {first}`]({first}.md)."


def _written(default: object) -> str:
    """Return a default as one would type it."""
    words = default if isinstance(default, tuple | list) else (default,)
    said = " ".join(str(word) for word in words if word is not None)
    return f"`{said}`" if said else ""


def _rules() -> str:
    """Return the page of the rules that a task's checks may name."""
    from benchmarks.rules import CONSULTING_RULES, RULES

    rules = sorted({**RULES, **CONSULTING_RULES}.items())
    said = [f"| `{name}` | {' '.join((rule.__doc__ or '').split())} |" for name, rule in rules]
    return "\n".join(["# Rules of checks\n", "| rule | holds when |", "| --- | --- |", *said, ""])


def _row(option: Option) -> str:
    name = option.name.upper() if option.is_positional else f"--{option.name}"
    cells = (f"`{name}`", _written(option.default), option.doc)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
