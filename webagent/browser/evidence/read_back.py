"""Looks again, on pages opened anew, whether what was sent is there."""

import time
from contextlib import suppress

from webagent.browser.evidence.probe_page import Uncaptured
from webagent.browser.evidence.probes import open_probe_page
from webagent.browser.tabs import Tabs
from webagent.errors import WorldError
from webagent.guard.writes import SentWrite, find_shown

SECONDS = 15.0
"""For all pages of an episode together."""
_TEXT = """(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [document.title];
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
    """Set whether each write's values are on the page that it was sent from and on the one that
    followed, as these are when they are opened anew. What was sent twice, as for a preview first,
    counts where it was sent last."""
    end, texts = time.monotonic() + SECONDS, dict[str, str]()
    front = tabs.active.page.url
    for place, each in enumerate(sent):
        later = {entry for other in sent[place + 1 :] for entry in other.entries}
        each.entries = tuple(entry for entry in each.entries if entry not in later)
        if not each.entries:
            continue
        places = dict.fromkeys((each.landed or front, each.page))
        for url in places:
            if url not in texts and url.startswith("http") and time.monotonic() < end:
                with suppress(Uncaptured, WorldError):
                    async with open_probe_page(tabs, url, (), init) as page:
                        if isinstance(text := await page.value(_TEXT), str):
                            texts[url] = text
        each.pages = tuple(url for url in places if url in texts)
        each.shown = find_shown([texts[url] for url in each.pages], each.entries)
        each.verified = each.shown[0] if len(set(each.shown)) == 1 else None
        if each.verified is False and next(iter(places)) not in texts:
            each.verified = None  # the page that would show it cannot be opened again
