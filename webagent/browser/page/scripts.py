"""The scripts that every document carries: ours to look and act, and the page's own to report."""

import json
from functools import cache
from importlib.resources import files
from secrets import token_hex

from webagent.observation import listener_script, page_script
from webagent.observation.variants import PAGE_FUNCTIONS, variant_script

ISOLATED_WORLD = "webagent"
"""Name of the JavaScript world that shares the page's document and nothing else."""

_SIGNAL = f"webagent-{token_hex(8)}"
_TIMERS_QUESTION, _TIMERS_ANSWER, _LIVE = (
    f"{_SIGNAL}-{part}" for part in ("ask", "timers", "live")
)
_SHORT_TIMER_MS = 500
_PARTS = (
    *("captcha.js", "locate.js", "operate.js", "through.js", "quiet.js", "secrets.js"),
    *("acted.js", "user_events.js"),
)
_FUNCTIONS = (
    *("acted", "actedAt", "actedInFocus", "actedValue", "captchaOn", "choose", "chooseExactly"),
    *("chosenFiles", "dragHasStarted", "dropWasTaken", "fileField", "fileFieldOf", "focusOn"),
    *("hasArrived", "isAnimating", "labelsOf", "locate", "middleOf", "nextFrame", "optionNamed"),
    *("originsOf", "readyToFill", "rest", "scrollOn", "tickOf", "throughFrame", "titleOf"),
    *("typeSecret", "unrest", "reportUserEvents"),
)


@cache
def isolated_script() -> str:
    """Return the script for the isolated world, which reads the page and finds elements."""
    folder = files(__package__)
    names = {"TIMERS_QUESTION": _TIMERS_QUESTION, "TIMERS_ANSWER": _TIMERS_ANSWER, "LIVE": _LIVE}
    secrets = [f"const {name} = {json.dumps(value)};" for name, value in names.items()]
    parts = [folder.joinpath(name).read_text(encoding="utf-8") for name in _PARTS]
    acting = "\n".join([*secrets, *parts])
    return page_script(_SIGNAL, acting + variant_script(), (*_FUNCTIONS, *PAGE_FUNCTIONS))


@cache
def reporting_script() -> str:
    """Return the script for the page's own world, which reports what only the page knows."""
    return listener_script(_SIGNAL)


@cache
def timers_script() -> str:
    """Return the script for the page's own world that counts short timers of the wall clock."""
    return _call("timers.js", _TIMERS_QUESTION, _TIMERS_ANSWER, _SHORT_TIMER_MS)


@cache
def connections_script() -> str:
    """Return the script for the page's own world that reports live connections."""
    return _call("connections.js", _LIVE)


def _call(name: str, *arguments: str | int) -> str:
    source = files(__package__).joinpath(name).read_text(encoding="utf-8")
    function = source[source.index("(", source.index("\n(")) :].rstrip()
    return f"({function})({', '.join(map(json.dumps, arguments))});"
