"""How the repository is set up: looks, menus, reports and what would get in an agent's way."""

SUBSYSTEMS = ("parser", "renderer", "themes", "search", "cli", "exporter", "docs")
TYPES = ("Code_Defect", "Build_Problem", "Documentation", "Feature_Request", "Incident")
PRIORITIES = ("Immediate", "High", "Medium", "Low", "Zero")
SEVERITIES = ("Critical", "Severe", "Important", "Minor", "Cosmetic")
STATUSES = ("Open", "Verified", "Review", "Deferred", "Fixed", "Tested", "Closed")
RESOLUTIONS = (
    *("Open", "Fixed", "Rejected", "Workaround", "Unable_To_Reproduce", "Works_As_Designed"),
    *("External_Bug", "Not_A_Bug", "Duplicate", "Overcome_By_Events", "Drive_By_Patch"),
    "Misconfiguration",
)

_CHOICES = {
    "type": TYPES,
    "priority": PRIORITIES,
    "severity": SEVERITIES,
    "resolution": RESOLUTIONS,
    "status": STATUSES,
    "subsystem": SUBSYSTEMS,
}
# With the line ends of a form that is sent, so that one sent unchanged changes nothing.
_MENU = """\
Home /home * {}
Timeline /timeline {o r j} {}
Files /dir?ci=tip oh {}
Branches /brlist o {}
Tags /taglist o {}
Forum /forum {@2 3 4 5 6} {}
Tickets /ticket r {}
Wiki /wiki j {}
Admin /setup {a s} {}
Logout /logout L {}
Login /login !L {}
{Site Map} /sitemap * {}
"""
_HEADER = """\
<div class="header">
  <div class="title"><h1>$<project_name></h1> $<title></div>
  <div class="status"><th1>
    set who Visitor
    if {[info exists login]} {set who $login}
    html "<a href='$home/login'>$who</a>"
  </th1></div>
</div>
<div class="mainmenu"><th1>
  foreach {name url rights class} $mainmenu {
    if {[capexpr $rights]} {html "<a href='$home$url'>$name</a>\\n"}
  }
</th1></div>
"""

REPORT = (
    "By Severity",
    """SELECT
  substr(tkt_uuid,1,10) AS '#',
  severity,
  priority,
  status,
  subsystem,
  title
FROM ticket
ORDER BY CASE severity WHEN 'Critical' THEN 0 WHEN 'Severe' THEN 1
  WHEN 'Important' THEN 2 WHEN 'Minor' THEN 3 ELSE 4 END, title""",
)
"""Title and query of a report beside Fossil's own."""

SETTINGS = {
    "project-name": "Quillmark",
    "project-description": "Turns a folder of plain notes into a web site or a book.",
    "short-project-name": "quillmark",
    "index-page": "/wiki?name=Home",
    "mainmenu": _MENU.replace("\n", "\r\n"),
    "sitemap-extra": "{New Tech-note} /technoteedit k",
    "ticket-common": "".join(
        f"set {field}_choices {{\n" + "".join(f"   {choice}\n" for choice in choices) + "}\n"
        for field, choices in _CHOICES.items()
    ),
    # Links are links at once, also for visitors, and nobody has to prove to be a person.
    "auto-hyperlink": "0",
    "auto-hyperlink-mouseover": "0",
    "robot-restrict": "off",
    "self-register": "0",
    "auto-captcha": "0",
    # Nothing is written but what somebody does; a server for local use, which asks for passwords
    # all the same, does not note its address either.
    "access-log": "0",
    "localauth": "1",
    "admin-log": "0",
    "autosync": "0",
    "backoffice-disable": "1",
    "modreq-tkt": "0",
    "modreq-wiki": "0",
    # A login outlasts the copy of the state that it is kept with.
    "captcha-secret": "5d1f0f6c2a9b4e8d7c3b5a69f8e7d6c5b4a39281",
    "cookie-expire": "500000",
    "search-ci": "1",
    "search-doc": "0",
    "search-forum": "1",
    "search-technote": "1",
    "search-tkt": "1",
    "search-wiki": "1",
    # Without a menu that rolls down slowly, and without the time that the page took, which differs
    # from one visit to the next.
    "header": _HEADER,
    "footer": '<div class="footer">Quillmark, made with Fossil</div>\n',
    "timeline-utc": "1",
    "timeline-default-style": "m",
    "timeline-max-comment": "0",
}
