"""What one episode may reach, judged for its pages and its proxy alike, and what was refused."""

import asyncio
import socket
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace

from tasks.task import Json
from webagent.errors import GuardError, SetupError
from webagent.guard.actions import is_on
from webagent.guard.address import parse_ip
from webagent.guard.decide import (
    GuardRefusal,
    GuardVerdict,
    decide_ip,
    decide_request,
    decide_server,
    refuse,
)
from webagent.guard.guard import Guard
from webagent.guard.policy import GuardPolicy, open_for_task

_KEPT = 200
_SAID = 3
_LONGEST = 200


class EpisodeGate:
    """The policy of one episode with the refusals so far. It opens nothing until `begin`."""

    def __init__(self, guard: Guard) -> None:
        self.policy = GuardPolicy()
        """The limits, with what the task names opened."""
        self.reach = self.policy
        """What the proxy holds connections to: the limits, while probes look with theirs opened."""
        self._refused_probes: list[str] | None = None
        self.step = 0
        self._guard = guard
        self._refusals: list[GuardRefusal] = []
        self._count = 0
        self._unsaid: Counter[str] = Counter()
        self._final = ""

    def begin(self, start_url: str, site: str = "") -> GuardVerdict:
        """Open what the policy and the task name; return whether the task's own page is open.
        Rules on the `site` hold for the server of that page."""
        self.policy = self.reach = open_for_task(self._guard.policy, start_url, site)
        return decide_request(self.policy, start_url)

    def open_also(self, url: str) -> GuardVerdict:
        """Open one more page that the task names; return whether it is open then."""
        self.policy = self.reach = open_for_task(self.policy, url)
        return decide_request(self.policy, url)

    @contextmanager
    def probing(self, addresses: Iterable[str]) -> Iterator[list[str]]:
        """Meanwhile the proxy also reaches the servers of these addresses, each as a task's own.
        Refusals are listed apart: the agent has no part in them."""
        refusals: list[str] = []
        self._refused_probes = refusals
        for address in addresses:
            with suppress(SetupError):
                wider = open_for_task(self.reach, address)
                known = len(self.reach.sites)
                new = tuple(replace(rule, web_sockets=False) for rule in wider.sites[known:])
                self.reach = replace(wider, sites=(*wider.sites[:known], *new))
        try:
            yield refusals
        finally:
            self._refused_probes, self.reach = None, self.policy

    def request(
        self, url: str, method: str, text: str = "", policy: GuardPolicy | None = None
    ) -> GuardVerdict:
        """Return whether a request may pass; `text` is what else it carries, as far as it can be
        read. It is held to `policy` where one is given, else to what the proxy reaches."""
        verdict = decide_request(policy or self.reach, url, method)
        if verdict.is_allowed:
            for name in self._guard.secrets.found_in(f"{url}\n{text}"):
                if not is_on(url, self.policy.secrets[name].sites):
                    rule = f"secrets.{name}.sites"
                    return refuse(f"it carries the secret {name} to another site", rule)
        return verdict

    def server(self, host: str, port: int, schemes: tuple[str, ...]) -> GuardVerdict:
        """Return whether a connection may be made of which only host and port can be read."""
        return decide_server(self.reach, host, port, schemes)

    def ip(self, host: str, port: int, ip: str) -> GuardVerdict:
        """Return whether the host may be reached at this address and port."""
        address = parse_ip(ip)
        if address is None:
            return refuse(f"{host} has no IP address", "addresses")
        return decide_ip(self.reach, host, port, address)

    async def resolve(self, host: str, port: int) -> list[str]:
        """Return IP addresses of a host, the policy's own first. Raises `OSError`."""
        if host in self.policy.hosts:
            return [self.policy.hosts[host]]
        if self._guard.resolve is not None:
            return await self._guard.resolve(host, port)
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(entry[4][0]) for entry in found))

    def note(self, what: str, verdict: GuardVerdict, where: str = "proxy") -> None:
        """Keep a refusal, and say it with the next observation."""
        reason = self._guard.secrets.masked(verdict.reason)
        if self._refused_probes is not None:
            self._refused_probes.append(reason)
            return
        self.keep(what, verdict, where)
        self._unsaid[reason] += 1

    def keep(self, what: str, verdict: GuardVerdict, where: str) -> None:
        """Keep a refusal that is said elsewhere."""
        self._count += 1
        if len(self._refusals) < _KEPT:
            masked = self._guard.secrets.masked
            what, reason = masked(what)[:_LONGEST], masked(verdict.reason)[:_LONGEST]
            self._refusals.append(GuardRefusal(what, reason, verdict.rule, where, self.step))

    def must_end(self, reason: str) -> None:
        """End the episode with the next observation, where the policy wants that."""
        if self.policy.on_refusal == "end":
            self._final = self._guard.secrets.masked(reason)

    def take_notes(self) -> list[str]:
        """Return what was refused since the last call. Raises `GuardError` to end the episode."""
        final, self._final = self._final, ""
        said, self._unsaid = self._unsaid, Counter()
        if final:
            raise GuardError(final)
        notes = [
            f"refused: {reason}" if count == 1 else f"refused {count} requests: {reason}"
            for reason, count in sorted(said.items())
        ]
        more = len(notes) - _SAID
        return notes if more <= 0 else [*notes[:_SAID], f"{more} more refusals"]

    def evidence(self) -> Mapping[str, Json]:
        """Return, for the evidence, how many refusals, and what the first of them were."""
        return {
            "refused": self._count,
            "refusals": [refusal.to_json() for refusal in self._refusals],
        }
