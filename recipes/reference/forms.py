"""Pages on plain forms: records, actions, tasks with their checks, and files that people write."""

from recipes.reference.markdown import code, page, quoted, table
from recipes.reference.source import fields_of, find, first_sentence

_HEADS = ("field", "type", "default", "meaning")


def form_pages() -> dict[str, str]:
    """Name of the file to its text."""
    return {
        "records.md": _records(),
        "actions.md": _actions(),
        "tasks.md": _tasks(),
        "files.md": _files(),
    }


def _class(module: str, name: str, title: str = "") -> str:
    """A section on a dataclass: what it is, and its fields."""
    found = find(module, name)
    rows = [
        (quoted(f.name), quoted(f.annotation), _default(f.default), f.doc) for f in fields_of(found)
    ]
    return f"## {title or name}\n\n{found.doc}\n\n{table(_HEADS, rows)}"


def _default(text: str | None) -> str:
    if text is None:
        return "must be given"
    return "" if text.startswith("field(") or text == "''" else quoted(text)


def _records() -> str:
    module = "webagent.records"
    names = ("Trajectory", "Step", "Observation", "Node", "Decision", "Candidate")
    said = (
        "What an episode leaves, in `webagent/records.py`: plain frozen values. `Store` keeps "
        "them, `webagent.serialize.to_json` writes them, evaluators and trainers read them."
    )
    parts = [_class(module, name) for name in (*names, "Provenance", "Score")]
    return page("Records", said, *parts, _endings())


def _endings() -> str:
    from webagent.records import Ending

    rows = [(each.value, "never scored" if each.is_infrastructure else "") for each in Ending]
    return f"## Ending\n\n{find('webagent.records', 'Ending').doc}\n\n" + table(
        ("ending", ""), rows
    )


def _actions() -> str:
    from webagent.action import ACTIONS

    rows = []
    for name, cls in ACTIONS.items():
        found = find("webagent.action.actions", cls.__name__)
        given = ", ".join(
            f.name if f.default is None else f"{f.name}={f.default}" for f in fields_of(found)
        )
        rows.append((quoted(f"{name}({given})"), first_sentence(found.doc)))
    said = (
        "What an agent can do, one call a step. `mark` is the number of an element in the "
        "observation; coordinates are CSS pixels of the viewport. A call is parsed, never run."
    )
    return page("Actions", said, table(("action", "what it does"), rows))


def _tasks() -> str:
    said = (
        "A task is a record; in a file it is a JSON object with the fields below, and fields that "
        "are left out have their defaults. `webagent benchmark proposed --files tasks.jsonl` plays "
        "a file with one proposal on each line; `webagent propose` writes such files, and "
        "[your own](../howto/own-benchmark.md) are written by hand."
    )
    line = '{"source": "manual", "reason": "by hand", "task": {"id": "notes/add@1", …}}'
    classes = [_class("tasks.task", name) for name in ("Task", "Check", "Probe", "PageHooks")]
    proposal = _class("tasks.proposal", "Proposal", "A line of the file")
    return page("Tasks", said, code(line, "text"), proposal, *classes, _rules())


def _rules() -> str:
    from benchmarks.rules import CONSULTING_RULES, RULES

    rows = [
        (quoted(name), first_sentence(rule.__doc__ or ""), consults)
        for table_, consults in ((RULES, ""), (CONSULTING_RULES, "yes"))
        for name, rule in sorted(table_.items())
    ]
    said = (
        "What `Check.rule` may be. `found` is the evidence that the check names, `expected` what "
        "the check says; where there is no such evidence the check abstains. Rules that ask a "
        "model or look at pictures abstain without one."
    )
    return f"## Rules\n\n{said}\n\n" + table(("rule", "holds when", "asks"), rows)


def _files() -> str:
    sites = (
        'The tables of a file for `--sites` or `--files`: `[sites."NAME@VERSION"]`. The keys '
        "`build` and `serve` are the fields `build_command` and `serve_command`, `reset` is "
        "`reset_command`: a list of words, or one text that is split into them. "
        "[An example](../howto/own-site.md)."
    )
    return page(
        "Files that people write",
        sites,
        _class("benchmarks.sites.described", "CommandSite", "A site that is started here"),
        _class("benchmarks.sites.described", "RemoteSite", "A site that is hosted elsewhere"),
        _class("benchmarks.sites.site", "Account", "[…accounts.ROLE]"),
        _class("benchmarks.sites.site", "LoginForm", "[…login]"),
        _class("webagent.browser.sessions.profile", "Profile", "[sites.NAME] of `--profiles`"),
        _class("webagent.models.endpoint.settings", "Endpoint", "[endpoint] of `--endpoint`"),
        _class("webagent.guard.policy", "GuardPolicy", "The file of `--guard`"),
        _class("webagent.guard.policy", "SiteRule", "[[sites]] of `--guard`"),
        _class("webagent.guard.policy", "ActionRule", "[[actions]] of `--guard`"),
    )
