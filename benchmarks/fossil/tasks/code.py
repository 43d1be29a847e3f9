"""Templates that tag and correct check-ins, and write technotes."""

from random import Random

from benchmarks.fossil.site import project, repository
from benchmarks.fossil.tasks.outcome import check_ins_are, noted
from benchmarks.fossil.tasks.template import Asked, template, worded
from benchmarks.fossil.tasks.words import TAGS, TECHNOTES, thought


def newest(count: int) -> list[int]:
    """The places of the newest check-ins, those with a tag left out."""
    history = project.check_ins()
    return [place for place in range(len(history)) if not history[place].tag][-count:]


@template("code-add-tag", "developer", 8, "code form")
def add_tag(draw: Random) -> Asked:
    """A tag for a check-in that is known by its comment."""
    place, tag = draw.choice(newest(30)), draw.choice(TAGS)
    goal = worded(
        draw,
        "Give the check-in {q_comment} the tag {q_tag}.",
        "Look for the check-in with the comment {q_comment} and add the tag {q_tag} to it.",
        comment=project.check_ins()[place].comment,
        tag=tag,
    )
    name = repository.check_in_names()[place]
    return Asked(goal, check_ins_are([(name, f"sym-{tag}", 1, None)]))


@template("code-edit-comment", "developer", 7, "code form edit")
def edit_comment(draw: Random) -> Asked:
    """A check-in gets another comment."""
    place = draw.choice(newest(30))
    comment = project.check_ins()[place].comment
    after = f"{comment}, {draw.choice(['second try', 'see the manual', 'with tests', 'for 1.4'])}"
    goal = worded(
        draw,
        "Change the comment of the check-in {q_comment} to {q_after}.",
        "The comment of the check-in {q_comment} is too short. It should read {q_after}.",
        comment=comment,
        after=after,
    )
    name = repository.check_in_names()[place]
    return Asked(goal, check_ins_are([(name, "comment", 1, after)]))


@template("code-move-tag", "developer", 15, "code form long")
def move_tag(draw: Random) -> Asked:
    """A tag goes from one check-in to another."""
    history, names = project.check_ins(), repository.check_in_names()
    old = draw.choice([place for place, change in enumerate(history) if change.tag])
    new = draw.choice(newest(20))
    tag = history[old].tag
    goal = worded(
        draw,
        "The tag {q_tag} is on the wrong check-in. Cancel it there, and give it to the check-in "
        "{q_comment} instead.",
        "Take the tag {q_tag} away from the check-in that has it, and add it to the check-in "
        "{q_comment}.",
        tag=tag,
        comment=history[new].comment,
    )
    tags = [(names[old], f"sym-{tag}", 0, None), (names[new], f"sym-{tag}", 1, None)]
    return Asked(goal, check_ins_are(tags))


@template("code-close-branch", "developer", 8, "code form")
def close_branch(draw: Random) -> Asked:
    """The newest check-in of a branch is marked as closed."""
    history = project.check_ins()
    merged = {change.merge for change in history}
    tips = {change.branch: place for place, change in enumerate(history)}
    branch = draw.choice(sorted(tips.keys() - merged - {"trunk"}))
    goal = worded(
        draw,
        "Nobody works on the branch {q_branch} any more. Mark it as closed.",
        "Close the branch {q_branch}, by its newest check-in.",
        branch=branch,
    )
    name = repository.check_in_names()[tips[branch]]
    return Asked(goal, check_ins_are([(name, "closed", 1, None)]))


@template("code-technote", "developer", 8, "code create")
def technote(draw: Random) -> Asked:
    """A technote with a comment and a text."""
    title, text = draw.choice(TECHNOTES), thought(draw)
    goal = worded(
        draw,
        "Write a technote with the timeline comment {q_title} and the text {q_text}.",
        "Announce something in a new technote. Its comment in the timeline: {q_title}. Its text: "
        "{q_text}.",
        title=title,
        text=text,
    )
    return Asked(goal, noted("mara", title, text))
