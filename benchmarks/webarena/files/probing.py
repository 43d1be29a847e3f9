"""What a task's checks need to see, collected as probes; what is needed twice is seen once."""

from dataclasses import replace

from benchmarks.catalogue import AddressError
from benchmarks.webarena.files import scripts
from benchmarks.webarena.files.calls import (
    LATEST_ORDER,
    ON_PAGE,
    POST_URL,
    PREFIX,
    REVIEW_FIELDS,
    parse_call,
)
from benchmarks.webarena.files.dialect import Setup
from benchmarks.webarena.files.schema import Entry
from tasks.task import Probe

LAST = "last"
"""The page that the agent left in front, in place of an address."""


class Probing:
    """The probes of one task, in the order in which they are looked at."""

    def __init__(self, setup: Setup, place: str) -> None:
        self.probes: list[Probe] = []
        self._setup = setup
        self._place = place

    def selected(self, target: Entry) -> str:
        """Name of the probe that sees what the target's locator selects."""
        locator = target.text("locator").strip()
        if locator.startswith(PREFIX):
            return self._called(target)
        url = self._url(target, "url")
        prepare = tuple(
            map(
                scripts.prepared,
                target.texts("prep_actions") if "prep_actions" in target.values else [],
            )
        )
        if not locator:
            return self._add(Probe("page", "source", url, prepare=prepare))
        if locator.startswith(("document.", "[...document.")):
            script = scripts.located(locator)
        elif locator.startswith("lambda:"):
            script = scripts.computed(locator.removeprefix("lambda:"))
        else:
            raise target.wrong("locator", "document.…, [...document.…, lambda:…, func:… or nothing")
        return self._add(Probe("found", url=url, script=script, prepare=prepare))

    def pictures(self, query: Entry) -> str:
        """Name of the probe that sees the pictures a query is about."""
        locator = query.text("eval_image_class").strip()
        if locator and not locator.startswith("."):
            raise query.wrong("eval_image_class", "a CSS class, as .item-photos, or nothing")
        script = scripts.pictured(locator) if locator else ""
        return self._add(Probe("pictures", "pictures", self._url(query, "eval_image_url"), script))

    def reference(self, picture: str) -> str:
        """Name of the probe that sees a reference picture; the picture where no site has it."""
        sites = tuple(f"{address.rstrip('/')}/" for address in self._setup.sites.values())
        if not picture.startswith(sites):
            return picture
        return self._add(Probe("reference", "pictures", picture))

    def _called(self, target: Entry) -> str:
        name, arguments = parse_call(target, "locator")
        if name in REVIEW_FIELDS and len(arguments) == 1:
            shop = self._shop()
            account, field = self._setup.shop_admin, REVIEW_FIELDS[name]
            script = scripts.latest_review(shop, account, arguments[0], field)
            return self._add(Probe("review", url=shop, script=script))
        make, count = ON_PAGE.get(name, (None, 0))
        if make is None or len(arguments) != count:
            known = ", ".join([*ON_PAGE, *REVIEW_FIELDS])
            raise target.wrong("locator", f"one of the helpers {known} with its arguments")
        url = self._url(target, "url")
        return self._add(Probe("found", url=url, script=make(*arguments)))

    def _url(self, target: Entry, key: str) -> str:
        """Address that a probe is opened at; empty for the page in front."""
        url = target.text(key).strip()
        if url == LAST:
            return ""
        if not url.startswith("func"):
            if not url.startswith(("http://", "https://")):
                raise target.wrong(key, "an address, last or func:…")
            return url
        call = parse_call(target, key)
        if call == (LATEST_ORDER, []):
            shop = self._shop()
            script = scripts.latest_order(shop, self._setup.shop_admin)
            return f"{{{self._add(Probe('order', url=shop, script=script))}}}"
        if call == (POST_URL, ["__last_url__"]):
            return f"{{{self._add(Probe('post', script=scripts.POST_URL))}}}"
        raise target.wrong(key, f"{LATEST_ORDER}() or {POST_URL}('__last_url__')")

    def _shop(self) -> str:
        if "shopping" not in self._setup.sites:
            raise AddressError(f"{self._place}: asks the shop; expected 'shopping' among the sites")
        return self._setup.sites["shopping"].rstrip("/")

    def _add(self, probe: Probe) -> str:
        """Its name: that of the same one where there is one, else its kind with a number."""
        for known in self.probes:
            if replace(known, name=probe.name) == probe:
                return known.name
        number = sum(known.name.startswith(f"{probe.name}_") for known in self.probes)
        self.probes.append(replace(probe, name=f"{probe.name}_{number}"))
        return self.probes[-1].name
