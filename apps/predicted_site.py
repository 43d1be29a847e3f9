"""Serves the site that a world model predicts, to be clicked through in a browser."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from urllib.parse import parse_qs

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from apps.listening import LOOPBACK
from apps.view.server import RequestFilter
from webagent.action import Action, format_action
from webagent.action.actions import Check, Click, Fill, SelectOption, Uncheck
from webagent.records import Decision, Observation, Step
from worldmodel.lines import is_unknown
from worldmodel.prediction import Prediction, Source, WorldModel
from worldmodel.simulate import DreamStart
from worldmodel.transitions import Situation

_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'"
}
_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { margin: 0 auto; max-width: 60rem; padding: 0 1rem 4rem }
header { border-bottom: 1px solid GrayText; margin-bottom: 1rem; padding: .5rem 0 }
form { display: inline } main > div { margin: .15rem 0 }
button { font: inherit; cursor: pointer } .link { border: 0; background: none; color: LinkText;
text-decoration: underline; padding: 0 } .unknown { border: 1px dashed; opacity: .75;
padding: 0 .4rem; display: inline-block } h1 { font-size: 1.2rem; margin: .3rem 0 }
.facts { font-size: .85rem } details { margin-top: 2rem; border-top: 1px solid GrayText }
"""
Lookup = Callable[[str], Observation | None]
"""Address to the page that was really seen there."""


@dataclass(slots=True)
class PredictedSite:
    """A walk through the pages that a world model predicts."""

    world: WorldModel
    start: DreamStart
    seen: Lookup
    knows_success: bool = True
    """Whether the model has seen which actions lead to success."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    """Has to come with every form, so that no other page can click here."""
    _walk: list[tuple[DreamStart, Prediction | None, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin at the start."""
        self._walk = [(self.start, None, "")]

    def act(self, action: Action) -> None:
        """Go to the page that the model expects."""
        here = self._walk[-1][0]
        [predicted] = self.world.predict([Situation(here.page, here.steps, action)])
        steps = (*here.steps, Step(here.page, Decision(action)))
        self._walk.append((DreamStart(predicted.page, steps), predicted, format_action(action)))

    def back(self) -> None:
        """Take the last action back."""
        if len(self._walk) > 1:
            self._walk.pop()

    def submit(self, form: dict[str, str]) -> None:
        """Do what a form asks for. Raises `ValueError` for one that is none of ours."""
        if not secrets.compare_digest(form.get("token", ""), self.token):
            raise ValueError("this form belongs to another page; reload it")
        mark, text = int(form.get("mark", "0")), form.get("text", "")
        match form.get("op"):
            case "back":
                self.back()
            case "click":
                self.act(Click(mark))
            case "fill":
                self.act(Fill(mark, text))
            case "select_option":
                self.act(SelectOption(mark, text))
            case "check":
                self.act(Check(mark))
            case "uncheck":
                self.act(Uncheck(mark))
            case other:
                raise ValueError(f"no action {other!r}")

    def render(self) -> str:
        """Return the HTML of the predicted page, with source and confidence of the prediction."""
        start, predicted, action = self._walk[-1]
        page, facts, beside = start.page, "a real page: the walk begins here", ""
        if predicted is not None:
            is_known = self.knows_success and predicted.source is not Source.UNKNOWN
            success = f"{predicted.outcome.succeeds:.0%}" if is_known else "unknown"
            facts = (
                f"after {action}: {predicted.source}, confidence {predicted.confidence:.0%},"
                f" {predicted.effect}"
                f"{f' ({predicted.ending})' if predicted.ending else ''}; P(success)"
                f" {success}. {predicted.because}"
            )
            first = self.start.page
            real = self.seen(page.url) or (first if first.url == page.url else None)
            seen = _render_lines(real, None) if real else "<p>Nobody has been at this address.</p>"
            beside = (
                f"<details><summary>The real page, as it was seen last</summary>{seen}</details>"
            )
        back = self._form("back", 0, "<button>Back</button>") if predicted is not None else ""
        return (
            '<!doctype html><html lang="en"><meta charset="utf-8">'
            f"<title>{escape(page.title)} (predicted)</title><style>{_STYLE}</style>"
            f'<header><p class="facts" role="status">{escape(facts)} {back}</p>'
            f'<p class="facts">{escape(page.url)} · goal: {escape(page.goal)}</p>'
            f"<h1>{escape(page.title)}</h1>"
            f"{f'<p>{escape(page.outcome)}</p>' if page.outcome else ''}</header>"
            f"<main>{_render_lines(page, self._form)}</main>"
            f"{beside}</html>"
        )

    def _form(self, op: str, mark: int, inner: str) -> str:
        return (
            f'<form method="post" action="/"><input type="hidden" name="token"'
            f' value="{self.token}"><input type="hidden" name="op" value="{op}">'
            f'<input type="hidden" name="mark" value="{mark}">{inner}</form>'
        )


MakeForm = Callable[[str, int, str], str]


def _render_lines(page: Observation, form: MakeForm | None) -> str:
    """Return the lines of a page as HTML; without `form` they cannot be acted on."""
    nodes, lines = page.nodes, []
    for place, node in enumerate(nodes):
        if node.role == "option":
            continue
        options = []
        for other in nodes[place + 1 :]:
            if other.role != "option":
                break
            options.append(other)
        name = escape(node.name or node.role)
        states = " ".join(state for state in node.states if state != "focused")
        if is_unknown(node):
            line = f'<span class="unknown">{escape(node.role)}: {name} (not known)</span>'
        elif not node.mark or form is None:
            value = f" = {escape(node.value)}" if node.value else ""
            line = f"<span>{name if node.name else ''}{value} {escape(states)}</span>"
        else:
            label = f'aria-label="{name}"'
            if node.role in ("textbox", "searchbox", "spinbutton"):
                field_ = f'<input name="text" value="{escape(node.value)}" {label}>'
                line = f"{name} {form('fill', node.mark, f'{field_} <button>Type</button>')}"
            elif options:
                choices = "".join(
                    f"<option{' selected' * ('selected' in each.states)}>"
                    f"{escape(each.name)}</option>"
                    for each in options
                )
                chosen = f'<select name="text" {label}>{choices}</select> <button>Choose</button>'
                line = f"{name} {form('select_option', node.mark, chosen)}"
            elif node.role == "checkbox":
                op, sign = ("uncheck", "☑") if "checked" in node.states else ("check", "☐")
                line = form(op, node.mark, f"<button {label}>{sign} {name}</button>")
            else:
                kind = "link" if node.role == "link" else "button"
                line = form(
                    "click", node.mark, f'<button class="{kind}">{name}</button> {escape(states)}'
                )
        lines.append(f'<div style="margin-left:{min(node.depth, 12)}rem">{line}</div>')
    return "".join(lines)


def make_app(site: PredictedSite) -> ASGIApp:
    """Return the site as an application, for browsers of this machine alone."""

    def show(_: Request) -> Response:
        return HTMLResponse(site.render(), headers=_HEADERS)

    async def act(request: Request) -> Response:
        """Do what a form asks for, then show the page."""
        given = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
        try:
            site.submit({name: values[-1] for name, values in given.items()})
        except ValueError as error:
            return HTMLResponse(f"<p>{escape(str(error))}</p>", 400, _HEADERS)
        return RedirectResponse("/", 303)

    routes = [Route("/", show), Route("/", act, methods=["POST"])]
    return RequestFilter(Starlette(routes=routes), frozenset(LOOPBACK))


def server_of(site: PredictedSite) -> uvicorn.Server:
    """Return a server of the site; `run(sockets=[listening])` keeps it until `should_exit`."""
    return uvicorn.Server(
        uvicorn.Config(
            make_app(site), log_level="warning", access_log=False, timeout_graceful_shutdown=2
        )
    )
