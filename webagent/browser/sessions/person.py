"""A browser for a person: a window with one page, apart from any episode."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import BrowserContext, async_playwright
from playwright.async_api import Error as PlaywrightError

from webagent.browser.chromium import can_sandbox, find_chromium, own_words
from webagent.browser.sessions.profile import Profile
from webagent.errors import SetupError

_LAUNCH_SECONDS = 30.0
_WINDOW = (1280, 800)


@asynccontextmanager
async def opened_for_person(
    url: str, profile: Profile, headless: bool = False
) -> AsyncIterator[BrowserContext]:
    """A context of its own with the address open in it, for as long as the block runs.

    Raises `SetupError` where no window can be shown or the address does not open.
    """
    chromium = find_chromium(headless)
    async with async_playwright() as playwright:
        try:
            browser = await playwright.chromium.launch(
                executable_path=chromium.path,
                headless=headless,
                chromium_sandbox=can_sandbox(),
                timeout=_LAUNCH_SECONDS * 1000,
            )
        except PlaywrightError as error:
            raise SetupError(
                f"{chromium.path} shows no window here ({own_words(error.message)}); on a "
                "machine without a display log in elsewhere and copy the file, or use --headless"
            ) from error
        try:
            context = await browser.new_context(**profile.context_options(_WINDOW))
            await (await context.new_page()).goto(url)
            yield context
        except PlaywrightError as error:
            reason = error.message.splitlines()[0]
            raise SetupError(f"the browser at {url} failed: {reason}") from error
        finally:
            await browser.close()
