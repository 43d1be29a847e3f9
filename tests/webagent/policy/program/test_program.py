"""Programs learned from recordings, without a browser."""

from dataclasses import replace

import pytest

from tasks.task import Task
from webagent.action import Action, Answer
from webagent.action.actions import Check, Click, Fill
from webagent.errors import UsageError
from webagent.policy.program import ProgramPolicy, learn_program, read_program, write_program
from webagent.records import Decision, Ending, Node, Observation, Step, Trajectory


def page(*lines: str, path: str = "") -> Observation:
    """A page of lines, each a row of elements as `button Save` and texts, divided by slashes."""
    nodes: list[Node] = []
    for at, line in enumerate(lines):
        for place, part in enumerate(line.split(" / ")):
            role, _, name = part.partition(" ")
            mark = 0 if role == "text" else len(nodes) + 1
            nodes.append(Node(mark, role, name, box=(200 * place, 30 * at, 150, 20)))
    return Observation("", f"http://desk.test/{path}", "Desk", tuple(nodes))


def find(seen: Observation, name: str, nth: int = 0) -> int:
    return [node.mark for node in seen.nodes if node.mark and node.name == name][nth]


def record(goal: str, *turns: tuple[Observation, Action], last: Observation) -> Trajectory:
    steps = tuple(Step(seen, Decision(action)) for seen, action in (*turns, (last, Answer())))
    task = Task("recorded/desk@1", "http://desk.test/", goal)
    return Trajectory(goal, task, goal, steps, last, Ending.ANSWERED)


FORM = page("textbox Title", "textbox Note", "button Save", path="new")


def add(title: str, *, note: str = "", notice: bool = False) -> Trajectory:
    lines = ["button Got it"] * notice + ["link New", "text Lamp"]
    start = page(*lines)
    turns: list[tuple[Observation, Action]] = []
    if notice:
        turns.append((start, Click(find(start, "Got it"))))
        start = page(*lines[1:])
    turns += [(start, Click(find(start, "New"))), (FORM, Fill(1, title))]
    turns += [(FORM, Fill(2, note))] * bool(note)
    turns.append((FORM, Click(find(FORM, "Save"))))
    return record(
        f'Add "{title}".', *turns, last=page("link New", "text Lamp", f"text {title} | {note}")
    )


def close(title: str, *others: str) -> Trajectory:
    names = [*others[:1], title, *others[1:]]
    seen = page(*(f"text {name} / button Close" for name in names))
    last = page(*(f"text {name} / button Close" for name in names if name != title))
    return record(
        f'Close "{title}".', (seen, Click(find(seen, "Close", min(1, len(others[:1]))))), last=last
    )


def test_what_differs_becomes_a_parameter_and_what_was_written_is_checked(tmp_path):
    program = learn_program([add("Desk"), add("Old chair"), add("Shelf")])
    assert list(program.parameters) == ["title"]
    assert [step.do for step in program.steps] == ["click", "fill", "click"]
    assert program.steps[1].text == "{title}" and program.task == 'Add "{title}".'
    assert program.check.shows == ("{title}",) and program.check.url == "http://desk.test/"
    (tmp_path / "task.toml").write_text(write_program(program))
    assert read_program(tmp_path / "task.toml") == program


def test_a_step_that_some_recordings_lack_is_done_where_its_element_is_shown():
    program = learn_program([add("Desk", notice=True), add("Chair"), add("Shelf")])
    assert (program.steps[0].name, program.steps[0].when) == ("Got it", "shown")


def test_a_field_that_some_recordings_leave_empty_is_an_optional_column():
    program = learn_program([add("Desk", note="red"), add("Chair"), add("Shelf", note="old")])
    assert program.steps[2].when == "{note}" and program.optional == {"note"}


def test_an_element_among_others_of_its_name_is_known_by_the_cells_of_its_row():
    program = learn_program(
        [close("Desk", "Lamp"), close("Shelf", "Lamp", "Rug"), close("Sofa", "Rug")]
    )
    [step] = program.steps
    assert step.row == ("{close}",) and program.check.gone == 1


def test_a_step_on_every_row_becomes_a_loop():
    def close_all(names: list[str]) -> Trajectory:
        pages = [
            page("text Open", *(f"text {name} / button Close" for name in names[at:]))
            for at in range(len(names) + 1)
        ]
        turns = [(seen, Click(find(seen, "Close"))) for seen in pages[:-1]]
        return record("Close all.", *turns, last=pages[-1])

    program = learn_program([close_all(["Lamp", "Rug", "Bed"]), close_all(["Desk", "Sofa"])])
    [step] = program.steps
    assert step.each and step.name == "Close" and program.check.gone == 1


def test_an_answer_is_read_from_the_cell_beside_what_the_goal_names():
    def price(name: str, cost: str) -> Trajectory:
        seen = page("text Lamp | 12 | red", "text Rug | 80 | blue", "text Bed | 99 | red")
        return replace(
            record(f"What does {name} cost?", last=seen),
            steps=(Step(seen, Decision(Answer(cost))),),
        )

    program = learn_program([price("Lamp", "12"), price("Rug", "80"), price("Bed", "99")])
    [step] = program.steps
    assert (step.do, step.cell, len(step.row)) == ("read", 2, 1) and program.outputs == ["answer"]


def test_an_answer_is_read_behind_its_label():
    def look(title: str, state: str) -> Trajectory:
        seen = page(f"text {title}", f"text State: | {state} | Kind: | Defect")
        steps = (Step(seen, Decision(Answer(state))),)
        return replace(record(f'What is the state of "{title}"?', last=seen), steps=steps)

    [step] = learn_program([look("Desk", "open"), look("Sofa", "closed")]).steps
    assert (step.row, step.cell) == (("State:",), 2)


@pytest.mark.parametrize(
    "recordings",
    [[add("Desk"), add("Old chair")], [close("Desk", "Lamp"), close("Old chair", "Lamp", "Rug")]],
    ids=["entered", "named"],
)
def test_one_recording_whose_goal_quotes_what_differs_teaches_the_same(recordings):
    one, several = learn_program(recordings[:1]), learn_program(recordings)
    assert replace(one, check=several.check) == several
    assert replace(one.check, beside=()) == replace(several.check, beside=())


def look_up(*lines: str) -> Trajectory:
    seen = page(*lines)
    steps = (Step(seen, Decision(Answer("12"))),)
    return replace(record('What does the "Lamp" cost?', last=seen), steps=steps)


def test_an_answer_of_one_recording_is_read_from_the_row_of_what_its_goal_quotes():
    [step] = learn_program([look_up("text Lamp | 12 | red", "text Rug | 80 | blue")]).steps
    assert (step.do, step.row, step.cell) == ("read", ("{the}",), 2)


LIST = page("link Ticket 17", "text Sofa")
TICKS = page("checkbox Bed", "checkbox Bed", "text Sofa")


@pytest.mark.parametrize(
    ("recordings", "reason"),
    [
        ([], "there is none that succeeded"),
        ([add("Desk"), close("Sofa", "Rug")], "different tasks"),
        (
            [close("Desk", "Lamp"), replace(close("Sofa", "Rug"), goal="Close it.")],
            'step 1, click button "Close".*one more recording whose goal names',
        ),
        ([replace(add("Desk"), goal="Add a desk.")], "in quotation marks"),
        ([replace(add("42"), goal='Add "42".')], "as words"),
        ([replace(add("Desk"), goal='Add "Desk" for "Ann".')], "no step depends on"),
        ([record('Open "Sofa".', (LIST, Click(1)), last=LIST)], "Ticket 17.*no goal names it"),
        ([record('Take "Sofa".', (TICKS, Check(2)), last=TICKS)], "several that look the same"),
        ([look_up("text Lamp | 12 | 12")], "is not found in the same place"),
        ([look_up("text The lamp costs", "text 12")], "is not found in the same place"),
    ],
)
def test_what_recordings_leave_open_is_refused_with_what_they_would_need(recordings, reason):
    with pytest.raises(UsageError, match=reason):
        learn_program(recordings)


@pytest.mark.parametrize("verb", ["Save", "Delete all"])
def test_recordings_that_end_on_other_buttons_or_goals_are_of_two_tasks(verb):
    def do(verb: str, button: str, title: str) -> Trajectory:
        form = page("textbox Title", "button Save", "button Delete all", path="new")
        turns = [(form, Fill(1, title)), (form, Click(find(form, button)))]
        return record(f'{verb} "{title}".', *turns, last=page(f"text {title} | open"))

    with pytest.raises(UsageError, match="different tasks, with goals that begin with 'Save' and"):
        learn_program([do("Save", "Save", "Desk"), do("Delete all", verb, "Sofa")])


def test_a_recording_of_what_the_site_had_already_is_refused():
    again = add("Sofa")
    twice = page("link New", "text Sofa | ", "text Sofa | ")
    with pytest.raises(UsageError, match="stands twice on the page"):
        learn_program([add("Desk"), replace(again, last=twice)])


def test_recordings_that_begin_on_different_pages_are_refused():
    other = add("Sofa")
    other = replace(other, task=replace(other.task, start_url="http://shop.test/"))
    with pytest.raises(UsageError, match="begin on different pages"):
        learn_program([add("Desk"), other])


def test_a_click_that_the_goal_does_not_decide_is_refused():
    def save(is_urgent: bool) -> Trajectory:
        seen = page("text Form", "checkbox Urgent", "button Save")
        turns = [(seen, Click(find(seen, "Urgent")))] * is_urgent
        return record(
            "Save it.", *turns, (seen, Click(find(seen, "Save"))), last=page("text Saved")
        )

    with pytest.raises(UsageError, match=r"Urgent.*was done in 1 of 2 recordings"):
        learn_program([save(True), save(False)])


def test_a_program_with_an_unknown_key_is_refused_by_its_place(tmp_path):
    path = tmp_path / "task.toml"
    path.write_text('url = "http://desk.test/"\n[[steps]]\ndo = "click"\nrolle = "button"\n')
    with pytest.raises(UsageError, match=r"step 1.*rolle"):
        read_program(path)


def test_a_password_stays_out_of_the_task_and_a_constant_needs_no_reading_back():
    def log_in(title: str) -> Trajectory:
        form = page("textbox Password", "textbox Title", "button Save")
        form = replace(form, nodes=(replace(form.nodes[0], kind="input:password"), *form.nodes[1:]))
        turns = [(form, Fill(1, "hush")), (form, Fill(2, title)), (form, Click(find(form, "Save")))]
        return record(f'Add "{title}".', *turns, last=page(f"text {title} | open"))

    program = learn_program([log_in("Desk"), log_in("Chair")])
    assert program.task == 'Add "{title}".' and program.check.unchecked == ()


async def test_an_element_that_an_error_page_lacks_is_not_gone():
    def remove(name: str) -> Trajectory:
        lines = [f"text {each} / button Remove" for each in ("Lamp", name) if each]
        head = page("link Home", "text Things", *lines)
        last = page("link Home", "text Things", lines[0])
        return record(f'Remove "{name}".', (head, Click(find(head, "Remove", 1))), last=last)

    program = learn_program([remove("Desk"), remove("Sofa")])
    assert program.check.gone == 1 and program.check.beside == ("Home",)
    seen = page("link Home", "text Things", "text Rug / button Remove")
    past = record("", last=seen)
    for after, shown in ((page("text Please log in"), 0), (page("link Home", "text Things"), 1)):
        policy = ProgramPolicy(program, {next(iter(program.parameters)): "Rug"})
        decision = await policy.act(past, seen)
        while not isinstance(decision.action, Answer):
            decision = await policy.act(past, after)
        assert policy.shown == shown


async def play_to_the_end(policy, before, after, last):
    """Show the page before until an action of this name was taken, and then the page after."""
    seen, past = before, record("", last=before)
    while not isinstance(action := (await policy.act(past, seen)).action, Answer):
        node = seen.node(getattr(action, "mark", 0))
        seen = after if node is not None and node.name == last else seen


LISTS = ("text Lamp | 1", "text Rug | 1", "text Box | 1")
LISTED = ("text Lamp | 3 min", "text Rug | 1 min", "text Bed | 9 min")


@pytest.mark.parametrize(
    ("after", "lost"),
    [
        (("text Lamp | 4 min", "text Rug | 2 min", "text Bed | 9 min", "text Box | 1 min"), ""),
        (("text Rug | 1 min", "text Bed | 9 min", "text Box | 1 min"), "lamp | 3 min"),
        (("text Box | 1 min",), "lamp | 3 min"),
    ],
)
async def test_a_record_that_a_save_removes_is_noticed(after, lost):
    def add(title: str) -> Trajectory:
        before, after = (page("button Add", "textbox Title", f"text {x} | 5 min") for x in "AB")
        after = page("button Add", "textbox Title", "text A | 5 min", f"text {title} | 5 min")
        turns = [(before, Fill(2, title)), (before, Click(1))]
        return record(f'Add "{title}".', *turns, last=after)

    program = learn_program([add("Desk"), add("Sofa")])
    policy = ProgramPolicy(program, {next(iter(program.parameters)): "Box"})
    head = ("button Add", "textbox Title")
    await play_to_the_end(policy, page(*head, *LISTED), page(*head, *after), "Add")
    assert policy.shown == 1 and policy.lost == lost


@pytest.mark.parametrize(("is_same_site", "lost"), [(True, ""), (False, "lamp | 1")])
async def test_what_a_list_of_the_newest_does_not_show_any_more_is_not_lost(is_same_site, lost):
    head = ("button Add", "textbox Title")

    def add(title: str, *others: str) -> Trajectory:
        before = page(*head, *(f"text {each} | 1" for each in ("Old", *others)))
        after = page(*head, *(f"text {each} | 1" for each in (*others, title)))
        return record(f'Add "{title}".', (before, Fill(2, title)), (before, Click(1)), last=after)

    second = add("Sofa", "Desk") if is_same_site else add("Sofa", "Lamp")
    program = learn_program([add("Desk", "Lamp"), second])
    assert program.check.newest == is_same_site
    policy = ProgramPolicy(program, {next(iter(program.parameters)): "Box"})
    before, after = (page(*head, *rows) for rows in (LISTS[:2], LISTS[1:]))
    await play_to_the_end(policy, before, after, "Add")
    assert policy.shown == 1 and policy.lost == lost


@pytest.mark.parametrize(("left", "lost"), [(("Lamp", "Bed"), ""), (("Bed",), "lamp | remove")])
async def test_a_deletion_that_takes_another_record_is_noticed(left, lost):
    def listed(*names: str) -> Observation:
        return page("link Home", *(f"text {name} / button Remove" for name in names))

    def remove(name: str) -> Trajectory:
        return record(f'Remove "{name}".', (listed("Lamp", name), Click(5)), last=listed("Lamp"))

    program = learn_program([remove("Desk"), remove("Sofa")])
    policy = ProgramPolicy(program, {next(iter(program.parameters)): "Rug"})
    await play_to_the_end(policy, listed("Lamp", "Rug", "Bed"), listed(*left), "Remove")
    assert policy.shown == 1 and policy.lost == lost


async def test_a_record_that_was_to_be_edited_is_not_lost():
    def listed(*rows: str) -> Observation:
        return page("link Lamp", *rows, path="list")

    def rename(old: str, new: str) -> Trajectory:
        form = page("textbox Title", "button Save", path="edit")
        form = replace(form, nodes=(replace(form.nodes[0], value=old), form.nodes[1]))
        turns = [(form, Fill(1, new)), (form, Click(2))]
        return record(f'Call it "{new}".', *turns, last=listed("text Bed | 9", f"text {new} | 1"))

    program = learn_program([rename("Lamp", "Desk"), rename("Lamp", "Sofa")])
    policy = ProgramPolicy(program, {next(iter(program.parameters)): "Rug"})
    form = page("textbox Title", "button Save", path="edit")
    form = replace(form, nodes=(replace(form.nodes[0], value="Chair"), form.nodes[1]))
    past = record("", last=form)
    seen = replace(form, url="http://desk.test/")
    pages = {
        "list": [listed("text Bed | 9", "text Chair | 1"), listed("text Bed | 9", "text Rug | 2")]
    }
    while not isinstance(action := (await policy.act(past, seen)).action, Answer):
        if getattr(action, "url", "").endswith("list"):
            seen = pages["list"].pop(0) if len(pages["list"]) > 1 else pages["list"][0]
        else:
            seen = form
    assert policy.shown == 1 and policy.lost == ""
