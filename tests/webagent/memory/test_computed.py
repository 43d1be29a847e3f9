"""What memory works out: by looks, by comparison, by sums, at points, and until it is so."""

from collections.abc import Callable

import pytest
from PIL import ImageColor

from tests.fakes.orders import episode
from webagent.action.actions import (
    Action,
    Answer,
    Click,
    Fill,
    MouseClick,
    MouseDrag,
    Press,
    Scroll,
)
from webagent.memory import Memory
from webagent.memory.words import colours
from webagent.records import Node, Trajectory

Shown = tuple[tuple[tuple[Node, ...], Action], ...]


def proposed(memory: Memory, trajectory: Trajectory, step: int = 0) -> Action:
    return memory.propose(trajectory.steps[step].observation, trajectory.steps[:step])[0].action


def after(demonstrations: list[Trajectory], new: Trajectory, step: int = 0) -> Action:
    memory = Memory()
    for each in demonstrations:
        memory.remember(each)
    return proposed(memory, new, step)


def drawn(mark: int, name: str, x: int, y: int = 60, size: int = 20, kind: str = "") -> Node:
    kind = kind or {"circle": "svg:circle", "rectangle": "svg:rect"}.get(
        name.split()[-1], "svg:text"
    )
    return Node(mark, "graphic", name, box=(x, y, size, size), kind=kind)


def button(mark: int, name: str, x: int = 0, y: int = 180) -> Node:
    return Node(mark, "button", name, box=(x, y, 40, 20), kind="button")


def words(name: str, x: int = 0, y: int = 20) -> Node:
    return Node(0, "text", name, box=(x, y, 100, 12), kind="div")


def field(mark: int, name: str = "", value: str = "", y: int = 120) -> Node:
    return Node(mark, "textbox", name, value=value, box=(0, y, 100, 20), kind="input:text")


# -- elements ---------------------------------------------------------------------------------


def test_a_thing_is_found_by_what_the_goal_says_of_its_look() -> None:
    def pick(name: str, goal: str, looks: tuple[str, ...], right: int) -> Trajectory:
        page = tuple(drawn(i + 1, look, 30 * i) for i, look in enumerate(looks))
        return episode(name, f"Click on a {goal}", (page, Click(right)))

    shown = [
        pick("a", "large blue item", ("small red circle", "large red 4", "large blue k"), 3),
        pick("b", "small digit", ("small green 7", "large blue rectangle", "small red t"), 1),
        pick("c", "red shape", ("small blue circle", "small red circle", "large red e"), 2),
    ]
    new = pick(
        "new", "large letter", ("large red 3", "small blue q", "small red 2", "large blue w"), 4
    )
    assert after(shown, new) == Click(4)


def test_colours_are_known_where_a_picture_was_painted_before() -> None:
    ImageColor.getrgb("red")
    colours.cache_clear()
    assert colours()["red"] == "ff0000" and len(colours()) == len(ImageColor.colormap)


def test_the_button_with_the_number_of_described_things_is_pressed() -> None:
    def count(name: str, goal: str, looks: tuple[str, ...], right: int) -> Trajectory:
        things = (drawn(i + 1, look, 30 * i) for i, look in enumerate(looks))
        page = (*things, *(button(20 + n, str(n), 30 * n) for n in range(4)))
        return episode(name, f"How many {goal} are there?", (page, Click(20 + right)))

    shown = [
        count("a", "red circles", ("small red circle", "large red circle", "small blue k"), 2),
        count("b", "small items", ("small red circle", "large blue 3", "large green k"), 1),
    ]
    new = count("new", "blue items", ("large blue k", "small blue 4", "small blue circle"), 3)
    assert after(shown, new) == Click(23)


def test_the_name_that_is_true_of_the_number_beside_it_is_chosen() -> None:
    def mark(name: str, number: int) -> Trajectory:
        page = (button(1, "Odd", 0, 50), words(str(number), 50, 55), button(2, "Even", 90, 50))
        return episode(
            name, "Mark the number as odd or even.", (page, Click(1 if number % 2 else 2))
        )

    assert after([mark("a", 3), mark("b", 8), mark("c", -5)], mark("new", 14)) == Click(2)


def test_the_least_is_found_where_the_goal_asks_for_it_though_only_the_most_was_shown() -> None:
    def buy(name: str, goal: str, prices: tuple[int, ...], right: int) -> Trajectory:
        page = tuple(button(i + 1, f"Buy for ${p}", 0, 30 * i) for i, p in enumerate(prices))
        return episode(name, f"Buy the ticket with the {goal} price.", (page, Click(right)))

    shown = [buy("a", "highest", (10, 90, 40), 2), buy("b", "highest", (70, 20, 50), 1)]
    assert after(shown, buy("new", "lowest", (60, 80, 15), 3)) == Click(3)


def test_each_element_after_a_value_is_done_once_and_then_the_end_follows() -> None:
    def like(name: str, who: str, writers: tuple[str, ...]) -> Trajectory:
        page: list[Node] = []
        for i, writer in enumerate(writers):
            page += [
                words(writer, 0, 30 * i),
                Node(i + 1, "generic", "like", box=(0, 30 * i + 14, 9, 9)),
            ]
        page.append(button(20, "Submit"))
        steps: list[tuple[tuple[Node, ...], Action]] = [
            (tuple(page), Click(i + 1)) for i, writer in enumerate(writers) if writer == who
        ]
        goal = f'Click the "Like" button on all posts by {who} and then click Submit.'
        return episode(name, goal, *steps, (tuple(page), Click(20)))

    shown = [
        like("a", "@ada", ("@ada", "@bob", "@ada")),
        like("b", "@joe", ("@kim", "@joe", "@joe", "@joe")),
        like("c", "@zoe", ("@zoe", "@kim", "@ada", "@zoe", "@zoe")),
    ]
    new = like("new", "@eve", ("@bob", "@eve", "@ada", "@eve"))
    assert [after(shown, new, step) for step in range(3)] == [Click(2), Click(4), Click(20)]


def test_a_result_of_a_later_page_is_found_by_its_number() -> None:
    def result(name: str, number: str, leaf: int) -> Trajectory:
        page = (*(Node(i, "link", f"r{i}", box=(0, 20 * i, 30, 9)) for i in range(1, 4)),)
        leaves = tuple(Node(10 + i, "link", str(i), box=(20 * i, 150, 9, 9)) for i in range(1, 4))
        return episode(
            name, f"Click the {number} search result.", ((*page, *leaves), Click(10 + leaf))
        )

    shown = [result("a", "7th", 3), result("b", "4th", 2), result("c", "9th", 3)]
    assert after(shown, result("new", "5th", 2)) == Click(12)


def test_the_element_at_coordinates_of_the_goal_is_found() -> None:
    def at(name: str, x: int, y: int) -> Trajectory:
        marks = {(c, r): 1 + 5 * c + r for c in range(5) for r in range(5)}
        page = tuple(
            drawn(m, "small circle", 15 + 30 * c, 65 + 30 * r, 8) for (c, r), m in marks.items()
        )
        return episode(
            name, f"Click on the grid coordinate ({x},{y}).", (page, Click(marks[x + 2, 2 - y]))
        )

    shown = [at("a", -2, 1), at("b", 0, -1), at("c", 1, 2)]
    assert after(shown, at("new", 2, 0)) == at("new", 2, 0).steps[0].decision.action


# -- texts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("goal", "told", "answers"),
    [
        ("Solve the problem.", ("3 + 4 =", "9 - 2 =", "6 x 5 ="), ("7", "7", "30")),
        ("Solve for x.", ("x - 3 = 4", "2 + x = 11", "9 - x = 4"), ("7", "9", "5")),
        ("Type the letters.", ("a B c", "q W", "k K 7 z"), ("aBc", "qW", "kK7z")),
    ],
)
def test_what_the_page_asks_to_work_out_is_worked_out(
    goal: str, told: tuple[str, ...], answers: tuple[str, ...]
) -> None:
    made = [
        episode(name, goal, ((words(line), field(1), button(2, "Submit")), Fill(1, answer)))
        for name, line, answer in zip(("a", "b", "new"), told, answers, strict=True)
    ]
    assert after(made[:2], made[2]) == Fill(1, answers[2])


@pytest.mark.parametrize(
    ("goals", "answers"),
    [
        (
            (
                "Enter 2:53 PM as the time.",
                "Enter 8:15 PM as the time.",
                "Enter 9:07 AM as the time.",
            ),
            ("14:53", "20:15", "09:07"),
        ),
        (
            ("Find the 2nd word.", "Find the 3rd word.", "Find the 4th word."),
            ("dolor", "sit", "amet"),
        ),
        (("Select navy with the picker.", "Select teal with the picker."), ("000080", "008080")),
    ],
)
def test_a_text_follows_from_what_the_goal_says(
    goals: tuple[str, ...], answers: tuple[str, ...]
) -> None:
    lines = (words("Lorem dolor, sit"), words("amet. Ipsum", y=40))
    made = [
        episode(name, goal, ((*lines, field(1)), Fill(1, answer)))
        for name, goal, answer in zip("abc", goals, answers, strict=False)
    ]
    assert after(made[:-1], made[-1]) == Fill(1, answers[-1])


def test_a_field_takes_what_stands_behind_its_own_label() -> None:
    def enter(name: str, asked: str, table: dict[str, str]) -> Trajectory:
        rows = tuple(words(f"{k} | {v}", y=20 * i) for i, (k, v) in enumerate(table.items()))
        return episode(
            name,
            "Enter the value of the label.",
            ((*rows, field(1, f"{asked}:")), Fill(1, table[asked])),
        )

    shown = [
        enter("a", "Color", {"Name": "Ada", "Color": "red", "Year": "1900"}),
        enter("b", "Year", {"Year": "1950", "Name": "Bob", "Job": "cook"}),
    ]
    new = enter("new", "Job", {"Job": "pilot", "Color": "blue", "Year": "1999"})
    assert after(shown, new) == Fill(1, "pilot")


# -- points -----------------------------------------------------------------------------------

BOARD = Node(1, "graphic", "drawing", box=(0, 50, 150, 130), kind="svg")


def test_a_point_midway_between_two_drawn_things_is_clicked() -> None:
    def midway(name: str, a: tuple[int, int], b: tuple[int, int]) -> Trajectory:
        page = (BOARD, drawn(2, "small circle", *a, 8), drawn(3, "small circle", *b, 8))
        x, y = (a[0] + b[0]) // 2 + 4, (a[1] + b[1]) // 2 + 4
        return episode(name, "Click on the mid-point.", (page, MouseClick(x, y)))

    new = midway("new", (100, 60), (20, 140))
    shown = [midway("a", (10, 60), (80, 120)), midway("b", (30, 90), (70, 160))]
    assert after(shown, new) == MouseClick(64, 104)


def test_a_right_angle_is_made_at_the_blue_dot() -> None:
    import math

    def angle(name: str, blue: tuple[int, int], black: tuple[int, int]) -> Trajectory:
        page = (
            BOARD,
            drawn(2, "small blue circle", *blue, 8),
            drawn(3, "small black circle", *black, 8),
        )
        return episode(name, "Make a right angle.", (page, MouseClick(*best[name])))

    best = {"a": (130, 54), "b": (0, 0), "new": (0, 0)}
    from webagent.memory.points import find_point
    from webagent.memory.scene import scene_of

    asked = (
        "square",
        (("small blue circle", "svg:circle", 0), ("small black circle", "svg:circle", 0)),
        0,
    )
    for name, places in (("a", ((40, 60), (60, 150))), ("b", ((100, 120), (30, 70)))):
        found = find_point(scene_of(angle(name, *places).steps[0].observation, ()), asked)
        assert found is not None
        best[name] = found
    shown = [angle("a", (40, 60), (60, 150)), angle("b", (100, 120), (30, 70))]
    said = after(shown, angle("new", (70, 100), (20, 60)))
    assert isinstance(said, MouseClick)
    arm, made = (-50, -40), (said.x - 74, said.y - 104)
    turn = math.degrees(math.atan2(arm[1], arm[0]) - math.atan2(made[1], made[0])) % 360
    assert min(abs(turn - 90), abs(turn - 270)) < 1


def test_a_drag_goes_the_way_that_the_goal_says_though_another_was_shown() -> None:
    ways = {"left": (-1, 0), "up": (0, -1), "down": (0, 1)}

    def drag(name: str, way: str, x: int, y: int) -> Trajectory:
        page = (drawn(1, "large red circle", x, y, 20), button(2, "Submit"))
        dx, dy = ways[way]
        action = MouseDrag(x + 10, y + 10, x + 10 + 30 * dx, y + 10 + 30 * dy)
        return episode(name, f"Drag the circle {way}.", (page, action))

    shown = [drag("a", "left", 60, 90), drag("b", "up", 80, 130)]
    assert after(shown, drag("new", "down", 50, 70)) == MouseDrag(60, 80, 60, 110)


def test_everything_the_goal_describes_is_dragged_into_the_box() -> None:
    def into(name: str, what: str, things: tuple[tuple[str, int], ...], box: int) -> Trajectory:
        nodes = [drawn(i + 1, look, x, 120, 16) for i, (look, x) in enumerate(things)]
        nodes += [
            Node(9, "graphic", "large black rectangle", box=(box, 55, 70, 50), kind="svg:rect")
        ]
        nodes.append(button(10, "Submit"))
        moved: list[tuple[tuple[Node, ...], Action]] = [
            (tuple(nodes), MouseDrag(x + 8, 128, box + 35, 80))
            for look, x in things
            if look.endswith(what)
        ]
        return episode(
            name, f"Drag all {what}s into the black box.", *moved, (tuple(nodes), Click(10))
        )

    shown = [
        into(
            "a",
            "circle",
            (("large red circle", 10), ("large red rectangle", 40), ("large blue circle", 70)),
            8,
        ),
        into("b", "rectangle", (("large blue circle", 20), ("large red rectangle", 90)), 40),
    ]
    new = into(
        "new",
        "circle",
        (("large red rectangle", 5), ("large blue circle", 35), ("large red circle", 95)),
        60,
    )
    said = [after(shown, new, step) for step in range(3)]
    assert said == [MouseDrag(43, 128, 95, 80), MouseDrag(103, 128, 95, 80), Click(10)]


def test_numbers_are_sorted_by_dragging_the_next_to_its_place() -> None:
    def sort(name: str, numbers: tuple[int, ...], source: int, place: int) -> Trajectory:
        tops = [50 + 30 * i for i in range(len(numbers))]
        page = tuple(
            Node(n + 100, "generic", str(n), box=(10, top, 80, 20), kind="li")
            for n, top in zip(numbers, tops, strict=True)
        )
        action = MouseDrag(
            50, tops[source] + 10, 50, tops[place] + 10 + (6 if place > source else -6)
        )
        return episode(name, "Sort the numbers.", (page, action))

    shown = [sort("a", (4, 9, 1, 7), 2, 0), sort("b", (2, 8, 5, 3), 3, 1)]
    assert after(shown, sort("new", (1, 3, 9, 6), 3, 2)) == MouseDrag(50, 150, 50, 114)


# -- until it is so ---------------------------------------------------------------------------


def test_a_slider_is_moved_towards_the_number_and_left_alone_when_there() -> None:
    def slide(name: str, wanted: int, shown: tuple[int, ...]) -> Trajectory:
        steps: list[tuple[tuple[Node, ...], Action]] = []
        for value in shown:
            handle = Node(1, "slider", "", box=(30 + 5 * value, 60, 14, 14), kind="span")
            page = (handle, words(str(value), 0, 80), button(2, "Submit"))
            way = "ArrowRight" if value < wanted else "ArrowLeft"
            steps.append((page, Click(2) if value == wanted else Press(1, way)))
        return episode(name, f"Select {wanted} with the slider and hit Submit.", *steps)

    demonstrated = [slide("a", 3, (5, 4, 3)), slide("b", 9, (10, 9)), slide("c", 6, (8, 7, 6))]
    new = slide("new", 7, (5, 6, 7))
    said = [after(demonstrated, new, step) for step in range(3)]
    assert said == [Press(1, "ArrowRight"), Press(1, "ArrowRight"), Click(2)]


@pytest.mark.parametrize(
    ("goal", "number", "done"),
    [("an even number", 7, False), ("an even number", 4, True), ("a number less than 6", 8, False)],
)
def test_what_is_drawn_anew_is_taken_when_it_is_as_the_goal_asks(
    goal: str, number: int, done: bool
) -> None:
    def draw(
        name: str, goal: str, numbers: tuple[int, ...], fits: Callable[[int], bool]
    ) -> Trajectory:
        steps: list[tuple[tuple[Node, ...], Action]] = []
        for n in numbers:
            page = (words(str(n)), button(1, "Generate"), button(2, "Submit", 60))
            steps.append((page, Click(2) if fits(n) else Click(1)))
        return episode(name, f"Generate {goal}, then press submit.", *steps)

    shown = [
        draw("a", "an odd number", (2, 8, 5), lambda n: n % 2 == 1),
        draw("b", "a number less than 4", (9, 7, 1), lambda n: n < 4),
        draw("c", "a number greater than 5", (3, 2, 8), lambda n: n > 5),
    ]
    new = draw("new", goal, (1, number), lambda n: False)
    assert after(shown, new, 1) == Click(2 if done else 1)


def test_a_field_is_scrolled_to_the_end_that_the_goal_says() -> None:
    def scroll(name: str, end: str, dy: int) -> Trajectory:
        page = (Node(1, "textbox", "", value="Lorem", box=(0, 50, 150, 80), kind="textarea"),)
        return episode(name, f"Scroll the textarea to the {end}.", (page, Scroll(1, 0, dy)))

    shown = [scroll("a", "bottom", 10000), scroll("b", "bottom", 10000)]
    assert after(shown, scroll("new", "top", -10000)) == Scroll(1, 0, -10000)


def look_at_both(
    name: str, first: tuple[str, str], second: tuple[str, str], cheaper: str
) -> Trajectory:
    """Search for two goods, each found on a page of its own, and answer with the cheaper one."""
    field = Node(5, "textbox", "Search", kind="input:text")
    return episode(
        name,
        f'I can have the "{first[0]}" or the "{second[0]}". Which is cheaper?',
        ((field,), Fill(5, first[0])),
        ((field, *map(words, first)), Fill(5, second[0])),
        ((field, *map(words, second)), Answer(cheaper)),
    )


def test_prices_on_two_pages_are_compared() -> None:
    lamp, pen = ("Glen Lamp", "£30.30"), ("Thistle Pen", "£10.35")
    seen = look_at_both("a", ("Rowan Mug", "£6.75"), ("Verity Clock", "£55.45"), "Rowan Mug")
    new = look_at_both("new", lamp, pen, "Thistle Pen")
    assert after([seen], new, 2) == Answer("Thistle Pen")
    assert after([seen], look_at_both("other", pen, lamp, "Thistle Pen"), 2) == Answer(
        "Thistle Pen"
    )
