"""Fill a folder with a Trac project: milestones, components, tickets and wiki pages."""

import subprocess
import sys
from pathlib import Path

from trac.env import open_environment
from trac.perm import PermissionSystem
from trac.ticket.model import Component, Milestone, Ticket
from trac.util.datefmt import parse_date
from trac.wiki.model import WikiPage

state = Path(sys.argv[1]) / "project"
admin = Path(sys.executable).with_name("trac-admin")
subprocess.run([admin, state, "initenv", "Bakery", "sqlite:db/trac.db"], check=True)
env = open_environment(str(state))
env.config.set("trac", "base_url", "")
env.config.set("notification", "smtp_enabled", "disabled")
env.config.save()
PermissionSystem(env).grant_permission("anonymous", "TRAC_ADMIN")
for name in ("Spring", "Summer"):
    milestone = Milestone(env)
    milestone.name = name
    milestone.due = parse_date("2026-06-01T12:00:00Z")
    milestone.insert()
for name, owner in (("ovens", "ada"), ("shop", "ben")):
    component = Component(env)
    component.name, component.owner = name, owner
    component.insert()
TICKETS = (
    ("Oven two does not heat", "defect", "critical", "ovens", "Spring", "ada"),
    ("Price list is out of date", "defect", "minor", "shop", "Summer", "ben"),
    ("Order new trays", "task", "major", "ovens", "Spring", "ada"),
    ("Sell cakes online", "enhancement", "major", "shop", "Summer", "cy"),
    ("Door bell rings twice", "defect", "trivial", "shop", "", "ben"),
    ("Clean the chimney", "task", "blocker", "ovens", "", "ada"),
)
for summary, kind, priority, part, when, owner in TICKETS:
    ticket = Ticket(env)
    ticket.populate(
        {
            "summary": summary,
            "type": kind,
            "priority": priority,
            "component": part,
            "milestone": when,
            "owner": owner,
            "status": "new",
            "reporter": "mia",
            "description": f"{summary}, as seen on Monday.",
        }
    )
    ticket.insert()
for name, text in (
    ("OpeningHours", "= Opening hours =\n\nTuesday to Sunday, 7 to 18."),
    ("Suppliers", "= Suppliers =\n\n * Flour: Miller & Sons\n * Eggs: Green Farm"),
):
    page = WikiPage(env, name)
    page.text = text
    page.save("mia", "")
env.shutdown()
