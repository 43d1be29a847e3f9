"""Serves a lamp's settings, with the end points that WebArena-Infinity's applications have."""

import json
import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

STATE = {"now": None, "seed": None}


class Handler(SimpleHTTPRequestHandler):
    """Files of this folder, and the state that the page has sent."""

    def do_PUT(self) -> None:
        STATE["now"] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        STATE["seed"] = STATE["seed"] or STATE["now"]
        self._send(200, {"status": "ok"})

    def do_POST(self) -> None:
        STATE["now"] = STATE["seed"]
        self._send(200, {"status": "ok"})

    def do_GET(self) -> None:
        if self.path == "/api/state":
            self._send(404 if STATE["now"] is None else 200, STATE["now"])
        else:
            super().do_GET()

    def _send(self, status: int, value: object) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())


if __name__ == "__main__":
    ThreadingHTTPServer(("", int(sys.argv[sys.argv.index("--port") + 1])), Handler).serve_forever()
