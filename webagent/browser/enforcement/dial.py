"""How the guard's proxy gets to the hosts that its gate opens: directly, or by another proxy."""

import asyncio
import base64
from typing import Protocol
from urllib.parse import unquote, urlsplit

from webagent.browser.enforcement.relay import HEAD_BYTES, Pipe, read_head
from webagent.errors import SetupError
from webagent.guard.address import read_ip
from webagent.guard.verdict import Verdict


class Gate(Protocol):
    """Who decides what the proxy lets through, and hears of what it did not."""

    def request(self, url: str, method: str, text: str = "") -> Verdict:
        """Whether a request whose address and head can be read may pass."""
        ...

    def server(self, host: str, port: int, schemes: tuple[str, ...]) -> Verdict:
        """Whether a connection may be made of which only host and port can be read."""
        ...

    def ip(self, host: str, port: int, ip: str) -> Verdict:
        """Whether the host may be reached at this address."""
        ...

    async def resolve(self, host: str, port: int) -> list[str]:
        """IP addresses of a host. Raises `OSError`."""
        ...

    def note(self, what: str, verdict: Verdict) -> None:
        """Keep a refusal."""
        ...


class Refused(Exception):
    """A request that may not pass."""

    def __init__(self, what: str, verdict: Verdict) -> None:
        super().__init__(verdict.reason)
        self.what = what
        self.verdict = verdict


class Dial(Protocol):
    """How the proxy gets to a host that the policy opens by name.

    A connection is one for bytes of any kind, whatever lies between.
    """

    async def dial(self, host: str, port: int) -> Pipe:
        """A connection. Raises `OSError`, or `Refused` where the address is closed."""
        ...


class Direct:
    """Connects by itself, to addresses that it has resolved and checked."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    async def dial(self, host: str, port: int) -> Pipe:
        """A connection to the first address that may be reached and answers."""
        ips = [host] if read_ip(host) else await self._gate.resolve(host, port)
        verdicts = {ip: self._gate.ip(host, port, ip) for ip in ips}
        failure: Exception = OSError(f"{host} has no address")
        for ip, verdict in verdicts.items():
            if not verdict.is_allowed:
                failure = Refused(host, verdict)
                continue
            try:
                return await asyncio.open_connection(ip, port, limit=HEAD_BYTES)
            except OSError as error:
                failure = error
        raise failure


class Through:
    """Goes through a proxy of the user's own, by CONNECT, for plain HTTP too.

    That proxy resolves the names, so the addresses they lead to are not checked here; addresses
    written out in URLs are.
    """

    def __init__(self, host: str, port: int, user: str = "", password: str = "") -> None:
        self._place = host, port
        self._login = base64.b64encode(f"{user}:{password}".encode()).decode() if user else ""

    def __repr__(self) -> str:
        return f"Through({self._place[0]}:{self._place[1]})"

    async def dial(self, host: str, port: int) -> Pipe:
        """A connection that the other proxy has made. Raises `OSError`."""
        target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
        if self._login:
            lines.append(f"Proxy-Authorization: Basic {self._login}")
        pipe = await asyncio.open_connection(*self._place, limit=HEAD_BYTES)
        try:
            pipe[1].write(("\r\n".join(lines) + "\r\n\r\n").encode())
            status = (await read_head(pipe[0])).line.split(" ")[1:2]
        except (EOFError, ValueError) as error:
            pipe[1].close()
            raise OSError(f"{self!r} speaks no HTTP") from error
        if status != ["200"]:
            pipe[1].close()
            raise OSError(f"{self!r} answered {' '.join(status)} for {target}")
        return pipe


def dial_through(proxy: str) -> Through | None:
    """How a guard's own proxy goes through the user's; None without one. Raises `SetupError`."""
    if not proxy:
        return None
    parts = urlsplit(proxy)
    if parts.scheme != "http" or not parts.hostname:
        raise SetupError(f"a guard goes through http proxies only, not {parts.scheme}")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return Through(parts.hostname, parts.port or 80, user, password)
