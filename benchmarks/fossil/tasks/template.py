"""Templates of tasks: words and values sampled from a seed, with what shows that it was done."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import cast

from benchmarks.fossil.site.project import Ticket
from benchmarks.fossil.site.repository import all_artifacts, password_hash
from benchmarks.templates import EndState, TemplateSet
from tasks.task import Json, PageHooks, Probe, TaskCheck

FIELDS = (
    *("title", "type", "status", "subsystem", "priority", "severity", "foundin", "resolution"),
)
_WRITTEN = ("event", "tag", "tagxref")
_SHOWN = "replace(trim({}, char(32, 9, 10, 13)), char(13), '')"
_WIKI_TEXT = """fetch("/wikiajax/fetch?page={}").then(answer => answer.json()).then(
    page => (page.content || "").replace(/\\r/g, "").replace(/\\n+/g, "\\n").trim())"""


def answered(*texts: str) -> EndState:
    """The answer is one of these, and nothing changed; case, quotes and a last period are free."""
    wanted = "|".join(map(re.escape, texts))
    pattern = rf"(?is)\A[\s\"'`*\[(]*(?:{wanted})[\s\"'`*\]).]*\Z"
    return EndState(
        (TaskCheck("episode.answer", "matches", pattern), TaskCheck("changes", "unchanged", []))
    )


def tickets_are(
    after: Sequence[tuple[Ticket, Mapping[str, str]]], remarks: Sequence[tuple[Ticket, str]] = ()
) -> EndState:
    """These tickets, and no others, were changed to these values, with these remarks, in order of
    their tickets; in how many steps is free."""
    names = sorted(ticket.uuid for ticket, _ in after)
    listed = ", ".join(f"'{name}'" for name in names)
    rows: dict[str, list[Json]] = {
        ticket.uuid: [ticket.uuid, *(changes.get(f, getattr(ticket, f)) for f in FIELDS)]
        for ticket, changes in after
    }
    return _end_state(
        {
            "tickets": (
                f"select tkt_uuid, {', '.join(FIELDS)} from ticket"
                f" where tkt_uuid in ({listed}) order by tkt_uuid",
                [rows[name] for name in names],
            ),
            "tickets_touched": (_tickets_touched("substr(tagname, 5)"), [[name] for name in names]),
            "remarks": (
                f"select tkt_uuid, {_SHOWN.format('icomment')} as said from ticketchng"
                f" join ticket using (tkt_id) where tkt_rid > {_built()} and said <> ''"
                " order by tkt_uuid, tkt_rid",
                cast(Json, sorted([ticket.uuid, text] for ticket, text in remarks)),
            ),
        },
        kinds=["t"],
        may=("ticket", "ticketchng"),
    )


def ticket_opened(fields: Mapping[str, str], description: str) -> EndState:
    """One ticket was opened with these fields and this description, and no other was touched."""
    return _end_state(
        {
            "opened": (
                f"select {', '.join(f'trim({name})' for name in fields)} from ticket"
                " where tkt_ctime > 2460472.5",
                [list(fields.values())],
            ),
            "tickets_touched": (_tickets_touched("count(distinct tagid)"), [[1]]),
            "remarks": (
                f"select {_SHOWN.format('icomment')} as said from ticketchng"
                f" where tkt_rid > {_built()} and said <> ''",
                [[description]],
            ),
        },
        kinds=["t"],
        may=("ticket", "ticketchng"),
    )


def pages_are(texts: Mapping[str, str]) -> EndState:
    """These wiki pages, and no others, were written, and now read so; empty lines do not count."""
    touched: Json = [[name] for name in sorted(texts)]
    query = (
        f"select distinct substr(comment, 2) as page from event where type = 'w'"
        f" and objid > {_built()} order by page"
    )
    outcome = _end_state({"pages_touched": (query, touched)}, kinds=["w"])
    for place, (name, text) in enumerate(texts.items(), 1):
        script = _WIKI_TEXT.format(name.replace(" ", "+"))
        probe = Probe(f"page_{place}", url="http://fossil.test/wcontent", script=script)
        wanted = re.sub(r"\n+", "\n", text).strip()
        outcome += EndState((TaskCheck(probe.name, "equals", wanted),), probes=(probe,))
    return outcome


def posted(user: str, comment: str, text: str, answered: str = "", edited: str = "") -> EndState:
    """One forum post was written: by whom, what the timeline says, its text, what it answers."""
    query = (
        "select event.user, event.comment, coalesce(answered.uuid, ''), coalesce(edited.uuid, '')"
        " from forumpost join event on objid = fpid left join blob answered on answered.rid = firt"
        f" left join blob edited on edited.rid = fprev where fpid > {_built()}"
    )
    rows: Json = [[user, comment, answered, edited]]
    outcome = _end_state({"posts": (query, rows)}, kinds=["f"], may=("forumpost",))
    return outcome + _newest("post_text", text)


def technote_written(user: str, title: str, text: str) -> EndState:
    """One technote was written."""
    query = f"select user, comment from event where type = 'e' and objid > {_built()}"
    outcome = _end_state({"technotes": (query, [[user, title]])}, kinds=["e"])
    return outcome + _newest("technote_text", text)


def check_ins_are(tags: Sequence[tuple[str, str, int, str | None]]) -> EndState:
    """Only this was changed about check-ins: name, tag or property, 1 for set and 0 for cancelled
    and 2 for one that goes on to what follows, value."""
    query = (
        "select blob.uuid, tagname, tagtype, value from tagxref join tag using (tagid)"
        f" join blob on blob.rid = tagxref.rid where srcid > {_built()} order by 1, 2"
    )
    rows = cast(Json, sorted(([*tag] for tag in tags), key=lambda tag: (tag[0], tag[1])))
    return _end_state({"tags": (query, rows)}, kinds=["g"])


def settings_are(values: Mapping[str, str]) -> EndState:
    """These settings, and no others, have new values."""
    rows: Json = [[name, values[name]] for name in sorted(values)]
    return _settings(rows) + EndState((TaskCheck("changes", "unchanged", ["config"]),))


def user_added(login: str, password: str, contact: str, capabilities: str) -> EndState:
    """One user was added, with this password and these capabilities."""
    row: Json = {
        "login": login,
        "pw": password_hash(login, password),
        "info": contact,
        "cap": capabilities,
    }
    return _users({"added": [row]})


def user_changed(login: str, after: Mapping[str, Json], before: Mapping[str, Json]) -> EndState:
    """One user has changed in this way, and else stayed as before."""
    pair: Json = {"before": {"login": login}, "after": {"login": login, **before, **after}}
    return _users({"changed": [pair]})


def report_copied(title: str, of: str) -> EndState:
    """One ticket report was added, with the query of another one."""
    same = "replace(trim(new.sqlcode), char(13), '') = replace(trim(old.sqlcode), char(13), '')"
    query = (
        f"select {same} from reportfmt new, reportfmt old"
        f" where new.title = '{title}' and old.title = '{of}'"
    )
    changes: Json = {"reportfmt": {"added": [{"title": title}]}, "may": ["config"]}
    checks = (TaskCheck("report", "equals", [[1]]), TaskCheck("changes", "changes_are", changes))
    return _settings([]) + EndState(checks, {"report": query})


def besides(first: EndState, second: EndState) -> EndState:
    """Both, where each alone would forbid what the other asks for."""
    checks = [*first.checks, *second.checks]
    kinds = sorted(
        {
            kind
            for each in checks
            if each.evidence == "kinds"
            for kind in [str(row[0]) for row in cast(list[list[str]], each.expected)]
        }
    )
    tables: set[str] = set()
    exact: dict[str, Json] = {}
    for each in checks:
        if each.rule == "unchanged":
            tables |= set(cast(list[str], each.expected))
        if each.rule == "changes_are":
            changes = dict(cast(dict[str, Json], each.expected))
            tables |= set(cast(list[str], changes.pop("may", [])))
            exact |= changes
    kept = [each for each in checks if each.evidence not in ("kinds", "changes")]
    joined: Json = {**exact, "may": cast(Json, sorted(tables))}
    written = TaskCheck("kinds", "equals", [[kind] for kind in kinds])
    return EndState(
        (*kept, written, TaskCheck("changes", "changes_are", joined)),
        {**first.queries, **second.queries},
        (*first.probes, *second.probes),
    )


def _users(changes: Json) -> EndState:
    expected: Json = {"user": changes, "may": ["config"]}
    return _settings([]) + EndState((TaskCheck("changes", "changes_are", expected),))


def _settings(rows: Json) -> EndState:
    """Fossil counts the changes of its configuration in `cfgcnt`, which nobody sets."""
    query = (
        "select name, value from config where mtime > 1718020800 and name <> 'cfgcnt' order by name"
    )
    return EndState((TaskCheck("settings", "equals", rows),), {"settings": query})


def _end_state(
    queries: Mapping[str, tuple[str, Json]], kinds: Sequence[str], may: Sequence[str] = ()
) -> EndState:
    """Queries with their rows; only these kinds of artifacts were written, and these tables."""
    written = f"select distinct type from event where objid > {_built()} order by type"
    rows: Json = [[kind] for kind in sorted(kinds)]
    tables: Json = [*_WRITTEN, *may]
    checks = [TaskCheck(name, "equals", expected) for name, (_, expected) in queries.items()]
    return EndState(
        (*checks, TaskCheck("kinds", "equals", rows), TaskCheck("changes", "unchanged", tables)),
        {**{name: query for name, (query, _) in queries.items()}, "kinds": written},
    )


def _newest(name: str, text: str) -> EndState:
    """The text that was written last, from the artifact or from the form that would change it."""
    script = Path(__file__).with_name(f"{name}.js").read_text(encoding="utf-8").strip()
    probe = Probe(name, url="http://fossil.test/wcontent", script=script)
    return EndState((TaskCheck(name, "equals", text.strip()),), probes=(probe,))


def _tickets_touched(what: str) -> str:
    return (
        f"select distinct {what} from event join tag using (tagid)"
        f" where type = 't' and objid > {_built()} order by 1"
    )


@cache
def _built() -> int:
    """Return how many artifacts there are to begin with; later ones have higher numbers."""
    return len(set(all_artifacts()))


TEMPLATES = TemplateSet(
    "fossil@1",
    "http://fossil.test",
    Path(__file__).with_name("wordings.toml"),
    # The dots and lines beside a timeline, of which there are hundreds, are no part of any task.
    hooks=PageHooks(ignore=".tl-canvas, .tl-canvas *"),
)
template = TEMPLATES.template
CHOICES = TEMPLATES.choices


def problem(draw: Random) -> tuple[str, str]:
    """Title and description of a problem that the project does not know yet."""
    title = f"{draw.choice(CHOICES['subjects'])} {draw.choice(CHOICES['faults'])}"
    return title, " ".join(draw.sample(CHOICES["details"], 2))


def thought(draw: Random) -> str:
    """Two sentences for a post or a page."""
    return " ".join(draw.sample(CHOICES["lines"], 2))


def contact(draw: Random, login: str) -> str:
    """Return a name with an address."""
    return f"{login.capitalize()} {draw.choice(CHOICES['surnames'])} <{login}@quillmark.test>"


def password(draw: Random) -> str:
    """As `tulip-garden-52`."""
    first, second = draw.sample(["tulip", "garden", "copper", "window", "lantern", "meadow"], 2)
    return f"{first}-{second}-{draw.randrange(10, 100)}"
