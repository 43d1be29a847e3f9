"""Why a tab shows no document: what is not opened, and what failed, perhaps the site under test."""

import re
from collections.abc import Collection
from functools import partial
from urllib.parse import SplitResult, unquote, urlsplit

from playwright.async_api import BrowserContext, Request, Response

from tasks.task import Task
from webagent.action import Action
from webagent.action.actions import Goto
from webagent.browser.http import REFUSED
from webagent.browser.page.connection import unless_closed, world_failures
from webagent.browser.page.tab import Tab
from webagent.errors import ServerError

_GONE = re.compile(
    r"ERR_(?:CONNECTION|NAME_|ADDRESS_|INTERNET|NETWORK_(?!ACCESS)|CERT_"
    r"|SSL_|TIMED_OUT|EMPTY_RESPONSE|INCOMPLETE|CONTENT_LENGTH|INVALID_HTTP|HTTP2|QUIC|TUNNEL|PROXY)"
)
"""Network errors by which a server is gone or answers nothing that can be read."""
_GATEWAY = (502, 503, 504)
"""Statuses that say that there is no server behind the one that answered."""
_NO_CONTENT = (204, 205)
_OWN_SCHEMES = ("http", "https", "file", "data", "blob", "about", "javascript", "")
"""What the browser opens by itself; it would ask the system to open anything else."""

_LOCAL = re.compile(r"\s*(view-source:\s*)?(?=(file|filesystem):)", re.IGNORECASE)
_REFUSED = (
    "refused: files of this machine are opened only where the task begins in their folder, or by a"
    " guard that allows them"
)


def refuse_scheme(url: str) -> str:
    """Return why an address is not opened that the browser would ask the system to open."""
    is_own = urlsplit(url).scheme in _OWN_SCHEMES
    return "" if is_own else f"{url[:200]} is for another program to open, which is not done here"


def refuse_file(action: Action, start: str) -> str:
    """Return why the action may not be done in a task that begins at `start`; empty where it may.

    What a page says cannot have the agent read this machine's files and send them on. A guard has
    rules of its own for that.
    """
    url = action.url if isinstance(action, Goto) else ""
    if not _LOCAL.match(url):
        return ""
    found, begun = (urlsplit(_LOCAL.sub("", each).strip()) for each in (url, start))
    folder, path = unquote(begun.path).rpartition("/")[0], unquote(found.path)
    is_plain = found.scheme == begun.scheme == "file" and "/../" not in f"{path}/"
    is_beside = found.netloc == begun.netloc and path.startswith(f"{folder}/")
    return "" if is_plain and is_beside else _REFUSED


class DocumentFailures:
    """What became of the documents of one browser context that did not arrive."""

    def __init__(self, context: BrowserContext) -> None:
        self.insecure: Collection[str] = ()
        """Hosts whose certificates are not checked: pages refused for theirs are opened again."""
        self.is_on_site = False
        """Whether the answers of the task's own site are followed."""
        self._context = context
        self._has_begun = False
        self._server_failure = ""
        self._failed: dict[str, Request] = {}
        """Requests for documents that the browser could not load, by address."""
        self._tested: SplitResult | None = None
        """Where the site begins that the task is about, if its episodes are scored."""
        self._invented: set[str] = set()
        """Addresses that the agent itself opened beside that site's server."""
        context.on("requestfailed", self._note_failure)

    def begin(self, task: Task) -> None:
        """Note that the first page has come, and which site the task is about."""
        self._has_begun = True
        if task.site or task.checks:
            self._tested = urlsplit(task.start_url)

    def follow_site(self, url: str) -> None:
        """Note from here on where the server of this address fails at what it is sent."""
        self.is_on_site = True
        self._context.on("response", partial(self._note_response, url.split("/", 3)[:3]))

    def note_opened(self, url: str) -> None:
        """Note an address that the agent itself opens."""
        if self._tested and not url.startswith(f"{self._tested.scheme}://{self._tested.netloc}/"):
            self._invented.add(url.partition("#")[0].rstrip("/"))

    def check_server(self) -> None:
        """Raise `ServerError` where the task's site failed at its first page or at a request."""
        if self._server_failure:
            raise ServerError(self._server_failure)

    def describe_status(self, url: str, status: int, is_empty: bool) -> str:
        """Return what the server reported of the page in front where that is an error that the page
        may not show. Raises `ServerError` where no server is behind the site under test."""
        if status < 500 and not (status >= 400 and is_empty):
            return ""
        failure = f"the server answered {url[:200]} with status {status}"
        return self.judge(url, failure, is_gone=status in _GATEWAY)

    async def find(self, tab: Tab) -> str:
        """Return why the tab shows no document. Raises `ServerError` if the site is gone."""
        if url := tab.unanswered:
            tab.unanswered = ""
            return self.judge(url, f"{url[:200]} gives no answer", is_gone=True)
        url = (tab.unreachable or tab.url).partition("#")[0]
        if tab.has_arrived and url.startswith("http"):
            tab.has_arrived = False
            async with unless_closed(tab.page):
                await tab.hear_driver()
            failed = self._failed.pop(url, None)
            tab.failure = (failed.failure or "") if failed else ""
        if not (tab.unreachable or tab.failure) or re.search("BLOCKED|ABORTED", tab.failure):
            return ""
        what = "cannot be opened" if tab.unreachable else "was cut off"
        return self.judge(url, f"{url[:200]} {what}: {tab.failure or 'no answer'}")

    async def explain_staying(self, tab: Tab) -> str:
        """Return why the tab is still on its page though another was requested; empty where that
        is not known, as with a file."""
        reason = refuse_scheme(tab.requested)
        if not reason:
            async with unless_closed(tab.page):
                await tab.hear_driver()
            if reason := await self.explain_absence(tab.requested):
                reason += ": the page stays"
        if reason:
            tab.requested = ""
        return reason

    async def explain_absence(self, url: str) -> str:
        """Return that the server answered the address with no content; empty where it did not."""
        failed = self._failed.get(url.partition("#")[0])
        async with world_failures():
            answer = await failed.response() if failed else None
        if not answer or answer.status not in _NO_CONTENT or answer.status_text == REFUSED:
            return ""
        del self._failed[url.partition("#")[0]]
        return f"the server answered {url[:200]} with no content (204)"

    def judge(self, url: str, failure: str, is_gone: bool = False) -> str:
        """Return the failure, for the agent to go round; raise it where it is a server's that
        belongs to the site under test: it says nothing about the agent."""
        if not is_gone and not _GONE.search(failure):
            return failure
        start, place = self._tested, urlsplit(url)
        is_own = url.rstrip("/") not in self._invented
        if start and is_own and start.hostname == place.hostname:
            raise ServerError(failure)
        return failure

    def _note_failure(self, failed: Request) -> None:
        request, failure = failed, failed.failure or ""
        is_reopened = urlsplit(request.url).hostname in self.insecure and "_CERT_" in failure
        if not request.is_navigation_request() or is_reopened:
            return
        while True:  # under each address that led there
            self._failed[request.url.partition("#")[0]] = failed
            if request.redirected_from is None:
                return
            request = request.redirected_from

    def _note_response(self, origin: list[str], response: Response) -> None:
        """Keep that the site's own server failed at its first page or at what it was sent; other
        pages that cannot be read are for the agent to go round."""
        request = response.request
        is_write = request.method not in ("GET", "HEAD", "OPTIONS")
        is_first_page = not self._has_begun and request.is_navigation_request()
        is_own = response.url.split("/", 3)[:3] == origin
        if (is_write or is_first_page) and response.status >= 500 and is_own:
            self._server_failure = (
                f"the server answered {request.method} {response.url[:200]} with status"
                f" {response.status}"
            )
