"""Serve the tracker on a port: its own address, which it redirects to, is written down first."""

import os
import re
import sys
from pathlib import Path

state, port = Path(sys.argv[1]) / "tracker", sys.argv[2]
config = state / "config.ini"
web = f"web = http://127.0.0.1:{port}/issues/"
config.write_text(re.sub(r"(?m)^web = .*$", web, config.read_text()))
server = Path(sys.executable).with_name("roundup-server")
user = ["-u", "root"] if os.getuid() == 0 else []  # it refuses root that is not named
os.execv(server, [str(server), *user, "-n", "127.0.0.1", "-p", port, f"issues={state}"])
