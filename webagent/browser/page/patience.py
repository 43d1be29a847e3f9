"""How long a page may keep an episode waiting."""

from weakref import WeakKeyDictionary

from webagent.browser.page.tab import Tab


class Patience:
    """Some time for each page: half as much each time the page has used it up."""

    def __init__(self, whole: float, least: float) -> None:
        self._whole = whole
        self._least = least
        self._left: WeakKeyDictionary[Tab, tuple[str, float]] = WeakKeyDictionary()

    def of(self, tab: Tab) -> float:
        """What is left of it for the page that is now in the tab."""
        address, left = self._left.get(tab, ("", self._whole))
        return left if address == _address(tab) else self._whole

    def halve(self, tab: Tab) -> None:
        """The page has used it up."""
        self._left[tab] = (_address(tab), max(self._least, self.of(tab) / 2))

    def restore(self, tab: Tab) -> None:
        """The page is a good one after all."""
        self._left.pop(tab, None)


def _address(tab: Tab) -> str:
    """Without what a page may change at will."""
    return tab.page.url.partition("#")[0].partition("?")[0]
