"""What a user sees when a model's server misbehaves: `webagent run` against each, for real.

    python perf/providers.py                   # prints tests/webagent/models/failures.md
    python perf/providers.py --only gemini     # one provider
    python perf/providers.py --write           # writes the table into the page

Each run plays on a page of this machine, with a scripted server in the shape of a provider (or no
server), and gives up after 3 attempts of 2 s. The table keeps the sentence with which it ends.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
PAGE = ROOT / "tests/webagent/models/failures.md"
BEGIN, END = "<!-- begin: perf/providers.py -->\n", "<!-- end -->\n"
MODELS = {"openai": "m", "anthropic": "anthropic/m", "gemini": "gemini/m", "ollama": "ollama/m"}
"""By the server's shape. OpenAI's own address is left by `OPENAI_BASE_URL` alone, with which a name
is asked for as it stands."""
PATIENCE = "[endpoint]\nattempts = 3\ntimeout = 2\nfirst_pause = 0.1\nlongest_pause = 0.5\n"
SENTENCE = re.compile(r"(model failed|policy unreadable|answered|webagent): ")


@dataclass(frozen=True, slots=True)
class Seen:
    """What a user saw of a provider where something was wrong."""

    provider: str
    wrong: str
    requests: int
    sentence: str
    status: int


def variables(provider: str, address: str) -> dict[str, str]:
    """Return what leads a provider's name to the address, with a key."""
    prefix = provider.upper()
    keys = {} if provider == "ollama" else {f"{prefix}_API_KEY": "wrong"}
    return {f"{prefix}_BASE_URL": address, **keys}


def play(provider: str, wrong: str, server: Any, page: str, folder: Path) -> Seen:
    """Run one task with the model of a provider; return what came of it."""
    settings = folder / "endpoint.toml"
    settings.write_text(f'{PATIENCE}model = "{MODELS[provider]}"\n', encoding="utf-8")
    plain = {name: value for name, value in os.environ.items() if "_API_KEY" not in name}
    told = {**plain, **variables(provider, server.url), "PYTHONPATH": str(ROOT)}
    line = [sys.executable, "-m", "recipes.cli", "run", "Press the button.", "--url", page]
    asked = len(server.requests)
    done = subprocess.run(
        [*line, "--endpoint", str(settings), "--max-steps", "3", "--no-screenshots"],
        cwd=folder,
        env={**told, "NO_PROXY": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line for line in (done.stdout + done.stderr).splitlines() if SENTENCE.match(line)]
    sentence = said[0].replace(server.url, "ADDRESS") if said else ""
    return Seen(provider, wrong, len(server.requests) - asked, sentence, done.returncode)


def play_all(only: str, page: str, folder: Path) -> Iterator[Seen]:
    """Yield what a user sees of each provider, whatever is wrong."""
    from tests.fakes.chat_server import serving
    from tests.fakes.misbehaviour import EVERYWHERE, PROVIDERS

    for provider in [only] if only else PROVIDERS:
        # The two protocols meet what any server may do; the others speak the first.
        everywhere: Mapping[str, Any] = EVERYWHERE if provider in ("openai", "anthropic") else {}
        for wrong, behaviour in {**PROVIDERS[provider], **everywhere}.items():
            with serving(behaviour) as server:
                yield play(provider, wrong, server, page, folder)
        # Nobody listens at the port that was just given back.
        yield play(provider, "no server", server, page, folder)


def format_table(rows: Sequence[Seen]) -> str:
    """Return the rows as Markdown."""
    lines = ["| server | what is wrong | requests | what `webagent run` says | exit |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for row in rows:
        said = row.sentence.replace("|", "\\|").replace("<", "&lt;")
        lines.append(f"| {row.provider} | {row.wrong} | {row.requests} | {said} | {row.status} |")
    return "\n".join(lines) + "\n"


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Answer with a page that has a button."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>Try</title><button>Send</button>")

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent."""


def main() -> int:
    """Print the table, or write it into the page; 1 where a run ended without a sentence."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", choices=["", *MODELS], help="one provider")
    parser.add_argument("--write", action="store_true", help=f"write it into {PAGE.name}")
    options = parser.parse_args()
    rows = []
    with (
        tempfile.TemporaryDirectory(prefix="providers-") as folder,
        ThreadingHTTPServer(("127.0.0.1", 0), _Page) as pages,
    ):
        threading.Thread(target=pages.serve_forever, daemon=True).start()
        page = f"http://127.0.0.1:{pages.server_port}/"
        for row in play_all(options.only, page, Path(folder)):
            print(f"{row.provider}, {row.wrong}: {row.sentence}", file=sys.stderr, flush=True)
            rows.append(row)
        pages.shutdown()
    if options.write:
        head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        tail = rest.partition(END)[2]
        PAGE.write_text(head + BEGIN + format_table(rows) + END + tail, encoding="utf-8")
    else:
        print(format_table(rows), end="")
    return 0 if all(row.sentence for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
