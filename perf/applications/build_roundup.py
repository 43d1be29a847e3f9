"""Fill a folder with a Roundup tracker: people, keywords and issues."""

import subprocess
import sys
from pathlib import Path

state = Path(sys.argv[1]) / "tracker"
admin = [str(Path(sys.executable).with_name("roundup-admin")), "-i", str(state)]


def run(*command: str) -> None:
    """Run an administrator's command on the tracker."""
    subprocess.run([*admin, *command], check=True)


subprocess.run([*admin, "install", "classic", "sqlite"], check=True)
config = state / "config.ini"
text = config.read_text()
for old, new in (
    ("#web = NO DEFAULT", "web = http://roundup.test/issues/"),
    ("#domain = NO DEFAULT", "domain = roundup.test"),
    ("#host = NO DEFAULT", "host = localhost"),
    ("csrf_header_min_count = 1", "csrf_header_min_count = 0"),
):
    assert old in text, old
    text = text.replace(old, new)
mail = text.index("\n[mail]\n")
config.write_text(text[:mail] + text[mail:].replace("\ndebug = ", "\ndebug = /dev/null", 1))
subprocess.run([*admin, "initialise", "secret"], check=True)
for name, realname in (("ada", "Ada Byron"), ("ben", "Ben Carver")):
    run(
        *("create", "user", f"username={name}", f"realname={realname}", "password=secret"),
        *(f"address={name}@roundup.test", "roles=User"),
    )
for name in ("engine", "cabin"):
    run("create", "keyword", f"name={name}")
ISSUES = (
    ("Lamp flickers in the cabin", "bug", "unread", "ada"),
    ("Engine is loud at night", "urgent", "chatting", "ben"),
    ("Paint the mast", "wish", "unread", "ada"),
    ("Radio has no sound", "critical", "unread", "ben"),
    ("New rope for the anchor", "feature", "unread", "ada"),
)
for title, priority, status, who in ISSUES:
    run(
        *("create", "issue", f"title={title}", f"priority={priority}", f"status={status}"),
        f"assignedto={who}",
    )
