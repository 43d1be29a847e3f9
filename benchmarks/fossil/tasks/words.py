"""Words that tasks are made of: problems, remarks, lines, names."""

from dataclasses import dataclass
from random import Random

_SUBJECTS = (
    *("The news feed", "The sidebar", "The link checker", "The table of contents", "The index"),
    *("The cover of the book", "The watch mode", "The search page", "The archive page"),
    *("The slate theme", "The page title", "The list of tags", "The footnote marker"),
)
_FAULTS = (
    *("is shown twice", "forgets its settings", "is empty after an update", "cannot be turned off"),
    *("breaks on long words", "ignores the language", "is not sorted", "shows the wrong date"),
    *("misses the last entry", "flickers on every build", "is too slow with many notes"),
)
_DETAILS = (
    *("I saw it on two machines.", "It began last week.", "Only large sites are affected."),
    *("A fresh folder shows it, too.", "Nothing is written to the log.", "It goes away at night."),
    *("Building twice does not help.", "With an empty configuration it does not happen."),
)
REMARKS = (
    *("Seen again on a new laptop.", "The nightly build is affected as well."),
    *("Please add a test first.", "We talked about this at the last meeting."),
    *("The reporter agrees.", "This waits for the new parser.", "Two users asked about it today."),
    *("A patch is on its way.", "Not before the summer.", "The manual has been corrected."),
    *("It depends on the theme.", "Nobody uses this any more.", "I will look at it on Friday."),
    *("The log is on the server.", "Same cause as last year.", "Thanks for the clear report."),
)
LINES = (
    *("The office is closed in August.", "Questions go to the list first."),
    *("This page is looked over once a year.", "Translations are kept by Samir."),
    *("An example is in the folder docs.", "Older versions behave differently."),
    *("The tests cover this since 1.2.", "Corrections are welcome.", "Ask Ola before moving it."),
    *("Ines has the passwords of the mirror.", "See the minutes of May for the reasons."),
    *("Nothing here is final.", "The next review is in spring.", "Backups are kept for a month."),
)
PAGE_NAMES = (
    *("Keyboard shortcuts", "Printing on paper", "Moving from 1.2", "Tips for teachers"),
    *("Sites made with Quillmark", "Questions and answers", "Working offline", "House rules"),
    *("Fonts and licences", "Large sites", "Writing recipes", "Backups", "Style of the handbook"),
    *("Choosing colours", "Notes on a phone", "Working with git", "Newsletter", "Old releases"),
)
THREADS = (
    *("Where is the archive of the list?", "A site about birds", "Icons for the new theme"),
    *("Who comes to the sprint?", "Printing on both sides", "Sorting tags by hand"),
    *("Fonts with old letters", "A plug-in for maps", "Building on a small board"),
    *("Dates before 1900", "Pictures from a phone", "How do you make backups?"),
)
TECHNOTES = (
    *("Mirror in Lisbon is back", "Certificates renewed", "Forum was away for an hour"),
    *("New machine for nightly builds", "List archive moved", "Handbook printed"),
    *("Sprint is over", "Spare disk installed", "Passwords of the mirrors changed"),
)
LOGINS = (
    *("lena", "marek", "nadia", "oskar", "pilar", "quentin", "rania", "stefan", "tilda", "ulrich"),
    *("vera", "wanda", "xenia", "yusuf", "zofia", "bela", "carla", "dario", "edda", "farid"),
)
SURNAMES = (
    *("Adler", "Berg", "Costa", "Dahl", "Eriksen", "Fontana", "Gruber", "Holm", "Ivanova"),
    *("Jansen", "Koch", "Lopez", "Moreau", "Nowak", "Olsen"),
)
TAGS = (
    *("stable", "reviewed", "needs-docs", "nightly", "demo", "frozen", "audited", "workshop"),
    *("long-term", "archived", "tested-on-arm", "talk-2024"),
)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something to report."""

    title: str
    description: str


def problem(draw: Random) -> Problem:
    """A problem that the project does not know yet."""
    title = f"{draw.choice(_SUBJECTS)} {draw.choice(_FAULTS)}"
    return Problem(title, " ".join(draw.sample(_DETAILS, 2)))


def thought(draw: Random) -> str:
    """Two sentences for a post or a page."""
    return " ".join(draw.sample(LINES, 2))


def contact(draw: Random, login: str) -> str:
    """A name with an address."""
    return f"{login.capitalize()} {draw.choice(SURNAMES)} <{login}@quillmark.test>"


def password(draw: Random) -> str:
    """As `tulip-garden-52`."""
    first, second = draw.sample(["tulip", "garden", "copper", "window", "lantern", "meadow"], 2)
    return f"{first}-{second}-{draw.randrange(10, 100)}"
