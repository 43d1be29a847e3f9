"""The scripts that every document carries: ours to look and act, and the page's own to report."""

from functools import cache
from importlib.resources import files
from secrets import token_hex

from webagent.observation import listener_script, page_script
from webagent.observation.variants import PAGE_FUNCTIONS, variant_script

ISOLATED_WORLD = "webagent"
"""Name of the JavaScript world that shares the page's document and nothing else."""

_SIGNAL = f"webagent-{token_hex(8)}"
_PARTS = ("captcha.js", "locate.js", "operate.js", "through.js", "quiet.js", "secrets.js")
_FUNCTIONS = (
    "captchaOn",
    "choose",
    "chooseExactly",
    "dragHasStarted",
    "fileField",
    "fileFieldOf",
    "focusOn",
    "isAnimating",
    "labelsOf",
    "locate",
    "middleOf",
    "nextFrame",
    "optionNamed",
    "originsOf",
    "quiet",
    "readyToFill",
    "scrollOn",
    "tickOf",
    "throughFrame",
    "titleOf",
    "typeSecret",
)


@cache
def isolated_script() -> str:
    """For the isolated world: looking at the page and finding the way to its elements."""
    folder = files(__package__)
    acting = "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in _PARTS)
    return page_script(_SIGNAL, acting + variant_script(), (*_FUNCTIONS, *PAGE_FUNCTIONS))


@cache
def reporting_script() -> str:
    """For the page's own world: telling the isolated one what only the page knows."""
    return listener_script(_SIGNAL)
