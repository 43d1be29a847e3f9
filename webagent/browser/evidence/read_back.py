"""Looks again, on pages opened anew, whether what was sent is there."""

import time
from contextlib import suppress

from webagent.browser.evidence.probe_page import Uncaptured
from webagent.browser.evidence.probes import open_probe_page
from webagent.browser.tabs import Tabs
from webagent.errors import WorldError
from webagent.guard.writes import SentWrite, shows

SECONDS = 15.0
"""For all pages of an episode together."""
_TEXT = """(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const holder = walker.currentNode.parentElement;
    if (holder && !holder.closest("option, script, style, noscript, textarea")) {
      found.push(walker.currentNode.data);
    }
  }
  for (const field of document.querySelectorAll("input, textarea")) {
    if (!["checkbox", "radio", "password"].includes(field.type)) found.push(field.value);
  }
  for (const list of document.querySelectorAll("select")) {
    for (const option of list.selectedOptions) found.push(option.text);
  }
  return found.join("\\n");
})()"""
"""What a page shows, and what its fields hold; of a list only what is selected."""


async def read_back(tabs: Tabs, sent: list[SentWrite], init: str) -> None:
    """Set whether each write's values are on the page that it was sent from, or on the one that
    followed, as these are when they are opened anew. Raises `WorldError` when the browser is gone.
    """
    end, texts = time.monotonic() + SECONDS, dict[str, str]()
    front = tabs.active.page.url
    for each in sent:
        if not each.entries:
            continue
        for url in dict.fromkeys((each.landed or front, each.page)):
            if url not in texts and url.startswith("http") and time.monotonic() < end:
                with suppress(Uncaptured, WorldError):
                    async with open_probe_page(tabs, url, (), init) as page:
                        texts[url] = str(await page.value(_TEXT))
            if url in texts:
                each.verified = bool(each.verified) or shows(texts[url], each.entries)
