"""What is remembered, recalled and said by analogy, on hand-made pages."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.orders import ORDERS, episode, link, look_up, text
from webagent.action.actions import Action, Answer, Check, Click, Fill, GiveUp, SelectOption
from webagent.errors import StoreError
from webagent.memory import Memory, MemoryMismatch, scene_of
from webagent.memory.cases import cases_of, translate
from webagent.memory.explain import explain
from webagent.memory.failures import blame_steps
from webagent.memory.memory import VERSION
from webagent.memory.scene import SLOT
from webagent.memory.substitutes import find_openers
from webagent.records import Node, Observation, Trajectory


def proposed(memory: Memory, trajectory: Trajectory, step: int) -> Action:
    return memory.propose(trajectory.steps[step].observation, trajectory.steps[:step])[0].action


def taught(*episodes: Trajectory) -> Memory:
    memory = Memory()
    for each in episodes:
        memory.remember(each)
    return memory


def test_an_empty_memory_proposes_nothing() -> None:
    new = look_up("new", "10050", 70)
    assert Memory().propose(new.steps[0].observation, ()) == []


def test_one_demonstration_is_repeated_on_other_marks() -> None:
    memory = taught(look_up("a", "10056", 1))
    assert proposed(memory, look_up("new", "10056", 70), 0) == Click(70)


def test_a_value_beside_the_word_of_the_goal_is_carried_over() -> None:
    memory = taught(look_up("a", "10056", 1), look_up("b", "10055", 40))
    new = look_up("new", "10050", 70)
    assert proposed(memory, new, 1) == Answer("£7.40")


def test_a_constant_of_another_goal_is_not_carried_over() -> None:
    def search(name: str, wanted: str) -> Trajectory:
        page = (Node(5, "textbox", "Search", kind="input:text"), link(6, "Lamp"))
        return episode(name, f'Find the "{wanted}".', (page, Fill(5, wanted)))

    memory = taught(search("a", "Lamp"))
    assert proposed(memory, search("new", "Kettle"), 0) == Fill(5, "Kettle")


def test_the_smallest_is_found_where_two_demonstrations_agree_on_it() -> None:
    def cheapest(name: str, prices: tuple[str, ...]) -> Trajectory:
        goods = ("Mug", "Pan", "Pot")
        nodes: list[Node] = []
        for i, (good, price) in enumerate(zip(goods, prices, strict=True)):
            nodes += [link(i + 1, good, 20 * i), text(price, 20 * i)]
        values = [float(price[1:]) for price in prices]
        best = goods[values.index(min(values))]
        return episode(name, "What is cheapest?", (tuple(nodes), Answer(best)))

    memory = taught(
        cheapest("a", ("£3.00", "£2.00", "£9.00")), cheapest("b", ("£1.00", "£5.00", "£4.00"))
    )
    assert proposed(memory, cheapest("new", ("£6.00", "£5.00", "£2.50")), 0) == Answer("Pot")


def test_a_text_is_appended_to_what_the_field_holds() -> None:
    def note(name: str, held: str, line: str) -> Trajectory:
        page = (Node(3, "textbox", "Text", value=held, kind="textarea"),)
        return episode(name, f'Append the line "{line}".', (page, Fill(3, f"{held}\n\n{line}\n")))

    memory = taught(note("a", "One two.", "Three."), note("b", "Old words here.", "New ones."))
    said = proposed(memory, note("new", "Something else.", "Last line."), 0)
    assert said == Fill(3, "Something else.\n\nLast line.\n")


@pytest.mark.parametrize(("action", "role"), [(Check(4), "checkbox"), (Click(4), "button")])
def test_every_operation_can_be_said(action: Action, role: str) -> None:
    def tick(name: str) -> Trajectory:
        page = (link(1, "Home"), Node(4, role, "Terms", kind=role))
        return episode(name, "Accept the terms.", (page, action))

    assert proposed(taught(tick("a")), tick("new"), 0) == action


def test_an_option_is_only_chosen_where_the_list_has_it() -> None:
    def choose(name: str, wanted: str, options: tuple[str, ...]) -> Trajectory:
        listed = (Node(10 + i, "option", each, kind="option") for i, each in enumerate(options))
        page = (Node(2, "combobox", "Size", kind="select"), *listed)
        return episode(name, f'Choose "{wanted}".', (page, SelectOption(2, wanted)))

    memory = taught(choose("a", "Small", ("Small", "Large")))
    new = choose("new", "Huge", ("Small", "Large"))
    said = memory.propose(new.steps[0].observation, ())
    assert all(each.action != SelectOption(2, "Huge") for each in said)


def test_what_failed_counts_against_doing_it_again() -> None:
    page = (link(1, "Left"), link(2, "Right"))
    left, right = (episode(n, "Open the door.", (page, Click(m))) for n, m in (("l", 1), ("r", 2)))
    memory = taught(left, right)
    memory.remember(replace(left, id="failed-1"), weight=-1.0, source="failure")
    assert proposed(memory, episode("new", "Open the door.", (page, Click(2))), 0) == Click(2)


def test_an_answer_that_failed_gives_way_to_the_second_best() -> None:
    def prices(name: str, first: str, second: str, said: str) -> Trajectory:
        page = (text("Old price"), text(first), text("Price"), text(second))
        return episode(name, "What does it cost?", (page, Answer(said)))

    memory = taught(prices("a", "£5.00", "£5.00", "£5.00"))
    new = prices("new", "£7.00", "£8.00", "")
    before = memory.propose(new.steps[0].observation, (), 2)
    said = str(before[0].action.text)  # type: ignore[attr-defined]
    memory.avoid(prices("f", "£7.00", "£8.00", said), [3.0])
    after = memory.propose(new.steps[0].observation, (), 2)
    assert after[0].action == before[1].action
    assert after[1].confidence < before[0].confidence


def test_a_failure_is_blamed_on_what_was_doubtful() -> None:
    sure, doubtful = blame_steps([0.99, 0.4], [0.99, 0.6])
    assert doubtful > 2 > 1 > sure
    assert max(blame_steps([0.5] * 6, [0.5] * 6)) < 0.1
    assert blame_steps([0.0] * 300, [0.0] * 300)[-1] == 0  # no number is that small


def test_a_failure_is_blamed_on_what_led_where_nothing_was_known() -> None:
    sure, doubtful, lost = blame_steps([0.98, 0.55, 0.02], [0.98, 0.55, 0.02])
    assert doubtful > 2 > 1 > sure > lost


def test_what_is_to_be_avoided_is_kept_on_disk(tmp_path: Path) -> None:
    memory = taught(look_up("a", "10056", 1))
    memory.avoid(look_up("f", "10055", 1), [0.0, 2.0])
    memory.save(tmp_path)
    kept = Memory.load(tmp_path)
    assert [case.weight for case in kept.avoided.cases] == [-2.0]
    assert len(kept) == len(memory) == 3


def test_a_constant_that_holds_a_value_of_its_goal_is_not_carried_over() -> None:
    def lacks(name: str, wanted: str) -> Trajectory:
        return episode(
            name, f'Buy the "{wanted}".', ((text("None"),), GiveUp(f"there is no {wanted}"))
        )

    assert proposed(taught(lacks("a", "Lamp")), lacks("new", "Stool"), 0) == GiveUp(
        "there is no Stool"
    )


def test_a_goal_in_other_words_for_the_same_is_recalled() -> None:
    page = (link(1, "Old list"), link(2, "New list"))
    memory = taught(
        episode("a", "Delete my wish list.", (page, Click(1))),
        episode("b", "Read about lamps here.", (page, Click(2))),
    )
    assert proposed(memory, episode("n", "Get rid of what I want.", (page, Click(1))), 0) == Click(
        1
    )


def test_an_episode_is_remembered_once() -> None:
    memory = taught(look_up("a", "10056", 1))
    assert memory.remember(look_up("a", "10056", 1)) == 0
    assert len(memory) == 2


def test_demonstrations_that_contradict_each_other_lower_the_confidence() -> None:
    page = (link(1, "Left"), link(2, "Right"))
    agreeing = taught(*(episode(n, "Open it.", (page, Click(1))) for n in "ab"))
    contrary = taught(*(episode(n, "Open it.", (page, Click(m))) for n, m in (("a", 1), ("b", 2))))
    new = Observation("Open it.", "http://shop.test/0", "Shop", page)
    sure, unsure = (memory.propose(new, ())[0].confidence for memory in (agreeing, contrary))
    assert unsure < 0.7 < sure


def test_a_site_that_was_rebuilt_is_not_clicked_with_certainty() -> None:
    memory = taught(look_up("a", "10056", 1), look_up("b", "10055", 40))
    nodes = (Node(1, "button", "Mon compte", kind="button"), text("Bienvenue"))
    new = Observation(memory.index.cases[0].goal.text, "http://shop.test/fr", "Boutique", nodes)
    assert all(each.confidence < 0.5 for each in memory.propose(new, ()))


def test_a_goal_in_another_language_is_less_sure() -> None:
    memory = taught(look_up("a", "10056", 1), look_up("b", "10055", 40))
    known = look_up("new", "10050", 70)
    page = known.steps[0].observation
    foreign = replace(page, goal="Combien coûte la commande la plus récente ?")
    there, here = (memory.propose(each, ()) for each in (foreign, page))
    assert not there or there[0].confidence < here[0].confidence


def test_learning_keeps_what_is_right_and_is_repeatable() -> None:
    shown = [look_up(f"e{i}", order, 10 * i + 1) for i, order in enumerate([*ORDERS] * 2)]
    first, second = taught(*shown), taught(*shown)
    assert first.learn(shown) == second.learn(shown)
    assert first.version == second.version
    assert proposed(first, look_up("new", "10050", 70), 1) == Answer("£7.40")


def test_a_saved_memory_answers_as_before(tmp_path: Path) -> None:
    shown = [look_up("a", "10056", 1), look_up("b", "10055", 40)]
    memory = taught(*shown)
    memory.learn(shown)
    memory.save(tmp_path)
    again = Memory.load(tmp_path)
    new = look_up("new", "10050", 70)
    assert again.version == memory.version
    assert proposed(again, new, 1) == proposed(memory, new, 1)


def test_a_memory_of_another_version_says_how_to_rebuild_it(tmp_path: Path) -> None:
    taught(look_up("a", "10056", 1)).save(tmp_path)
    file = tmp_path / "memory.json"
    file.write_text(file.read_text().replace(f'"version": {VERSION}', '"version": 0'))
    with pytest.raises(MemoryMismatch, match=f"version 0; this program reads {VERSION}"):
        Memory.load(tmp_path)


def test_a_damaged_memory_is_a_store_error(tmp_path: Path) -> None:
    taught(look_up("a", "10056", 1)).save(tmp_path)
    (tmp_path / "cases.jsonl.z").write_bytes(b"no")
    with pytest.raises(StoreError, match="rebuild it"):
        Memory.load(tmp_path)


def test_an_explanation_names_descriptors_and_cases() -> None:
    memory = taught(look_up("a", "10056", 1), look_up("b", "10055", 40))
    new = look_up("new", "10050", 70)
    page, before = new.steps[1].observation, new.steps[:1]
    lines = "\n".join(explain(memory.propose(page, before)[0], scene_of(page, before)))
    assert lines.startswith('answer("£7.40")')
    assert "value 1 of the goal, '10050'" in lines
    assert "step 2 of look-up, episode" in lines


def test_giving_up_is_proposed_where_the_value_is_missing() -> None:
    def find(name: str, wanted: str, has: bool) -> Trajectory:
        rows = (link(1, wanted if has else "Other"), link(2, "More"))
        action = Click(1) if has else GiveUp(f"there is no '{wanted}'")
        return episode(name, f'Open the ticket "{wanted}".', (rows, action))

    memory = taught(
        *(find(n, w, h) for n, w, h in (("a", "Aa", True), ("b", "Bb", False), ("c", "Cc", True)))
    )
    assert proposed(memory, find("new", "Dd", False), 0) == GiveUp("there is no 'Dd'")


def test_what_the_goal_names_is_ticked_until_nothing_is_left() -> None:
    def tick(name: str, *chosen: str) -> Trajectory:
        names = ("kx", "lm", "op", "qr")
        submit, turns = Node(9, "button", "Submit", kind="button"), []
        ticked: set[str] = set()
        for each in (*chosen, ""):
            boxes = (
                Node(i + 1, "checkbox", n, states=("checked" if n in ticked else "unchecked",))
                for i, n in enumerate(names)
            )
            action = Click(names.index(each) + 1 if each else 9)
            turns.append(((*boxes, submit), action))
            ticked.add(each)
        return episode(name, f"Select {', '.join(chosen)} and click Submit.", *turns)

    shown = [tick("a", "kx", "lm"), tick("b", "op"), tick("c", "lm", "op", "qr")]
    memory = taught(*shown)
    memory.learn(shown)
    new = tick("new", "kx", "op", "qr")
    said = [proposed(memory, new, step) for step in range(4)]
    assert said == [Click(1), Click(3), Click(4), Click(9)]


def test_a_sum_over_a_month_is_found_where_two_demonstrations_agree_on_it() -> None:
    def spent(name: str, month: str, total: str) -> Trajectory:
        rows = [("£3.30", "2 Nov 2025"), ("£9.75", "30 Oct 2025"), ("£7.40", "7 Oct 2025")]
        rows += [("£4.00", "5 Sep 2025"), ("£1.00", "1 Sep 2025"), ("£2.50", "9 Nov 2025")]
        nodes = [
            part
            for i, (price, day) in enumerate(rows)
            for part in (link(i + 1, f"{100 + i}", 20 * i), text(f"5 | {price} | {day}", 20 * i))
        ]
        goal = f"What do my orders of {month} come to together?"
        return episode(name, goal, (tuple(nodes), Answer(total)))

    shown = [spent("a", "October 2025", "£17.15"), spent("b", "September 2025", "£5.00")]
    assert proposed(taught(*shown), spent("new", "November 2025", "£5.80"), 0) == Answer("£5.80")


def test_parts_of_a_date_are_put_together_and_ordinals_counted() -> None:
    def enter(name: str, month: str, day: str, year: str) -> Trajectory:
        page = (Node(1, "textbox", "", kind="input:date"),)
        goal = f"Enter {month}/{day}/{year} as the date."
        return episode(name, goal, (page, Fill(1, f"{year}-{month}-{day}")))

    memory = taught(enter("a", "02", "24", "2019"), enter("b", "11", "05", "2013"))
    assert proposed(memory, enter("new", "07", "31", "2016"), 0) == Fill(1, "2016-07-31")

    def pick(name: str, ordinal: str, mark: int) -> Trajectory:
        boxes = tuple(Node(i, "textbox", "", kind="input:text") for i in range(1, 6))
        return episode(name, f"Focus into the {ordinal} input.", (boxes, Click(mark)))

    memory = taught(pick("a", "1st", 1), pick("b", "3rd", 3), pick("c", "2nd", 2))
    assert proposed(memory, pick("new", "4th", 4), 0) == Click(4)


def test_a_failure_at_another_task_speaks_against_nothing() -> None:
    page = (link(1, "Left"), link(2, "Right"))
    memory = taught(episode("a", "Open the green door.", (page, Click(1))))
    new = Observation("Open the green door.", "http://shop.test/0", "Shop", page)
    before = memory.propose(new, ())[0]
    memory.avoid(episode("f", "Sweep the stairs, please.", (page, Click(1))), [3.0])
    after = memory.propose(new, ())[0]
    assert after.action == before.action
    assert after.confidence > 0.9 * before.confidence


def press(name: str, wanted: str, *, in_view: bool) -> Trajectory:
    """A menu that is opened for a button, where the button is not on the page already."""
    other = "Like" if wanted != "Like" else "Save"
    shown = (Node(1, "button", wanted if in_view else other), Node(2, "button", "More"))
    opened = (*shown, Node(3, "button", wanted))
    goal = f'Press "{wanted}".'
    if in_view:
        return episode(name, goal, (shown, Click(1)))
    return episode(name, goal, (shown, Click(2)), (opened, Click(3)))


def test_what_brings_a_button_into_view_is_left_out_where_it_is_in_view() -> None:
    memory = taught(press("a", "Block", in_view=False), press("b", "Mute", in_view=False))
    assert proposed(memory, press("new", "Report", in_view=False), 0) == Click(2)
    assert proposed(memory, press("new", "Report", in_view=True), 0) == Click(1)


def test_what_was_in_view_and_is_not_is_doubted() -> None:
    memory = taught(press("a", "Block", in_view=True))
    there, gone = (press("new", "Report", in_view=each).steps[0] for each in (True, False))
    sure = memory.propose(there.observation, ())[0].confidence
    unsure = memory.propose(gone.observation, ())
    assert sure > 0.8
    assert all(each.confidence < 0.7 * sure for each in unsure)
    assert unsure[0].action == Click(2), "what opens more, rather than what stood in its place"


def test_a_list_is_not_submitted_while_something_named_is_not_ticked() -> None:
    def tick(name: str, *wanted: str) -> Trajectory:
        labels = ("One", "Two", "Three", "Four")
        pages = []
        for count in range(len(wanted) + 1):
            boxes = tuple(
                Node(i, "checkbox", label, states=("checked",) * (label in wanted[:count]))
                for i, label in enumerate(labels, 1)
            )
            target = labels.index(wanted[count]) + 1 if count < len(wanted) else 5
            pages.append(((*boxes, Node(5, "button", "Submit")), Click(target)))
        quoted = ", ".join(f'"{each}"' for each in wanted)
        return episode(name, f"Select {quoted} and press Submit.", *pages)

    memory = taught(tick("a", "Two"))
    new = tick("new", "One", "Three", "Four")
    said = [proposed(memory, new, step) for step in range(4)]
    assert Click(5) not in said[:3]
    assert said[3] == Click(5)


def test_another_verb_of_the_goal_leads_to_its_own_button_and_value() -> None:
    def mail(name: str, goal: str, verb: int, words: str) -> Trajectory:
        page = (text("Henka"), Node(4, "button", "Reply"), Node(5, "button", "Forward"))
        field = (Node(7, "textbox", "", kind="textarea"), Node(8, "button", "Send"))
        return episode(name, goal, (page, Click(verb)), (field, Fill(7, words)))

    reply = 'Find the email by Henka and reply to them with the text "{}".'
    memory = taught(*(mail(w, reply.format(w), 4, w) for w in ("Gravida.", "Est sit.")))
    new = mail("new", "Find the email by Henka and forward that email to Calypso.", 5, "Calypso")
    assert proposed(memory, new, 0) == Click(5)
    assert proposed(memory, new, 1) == Fill(7, "Calypso")


def test_another_button_that_the_goal_speaks_of_is_found_beside_the_same_value() -> None:
    def tidy(name: str, goal: str, done: int) -> Trajectory:
        people = ("Ella", "Britta", "Maggie")
        page = [
            node
            for i, person in enumerate(people)
            for node in (
                text(f"{person} | Risus.", 40 * i),
                Node(2 * i + 1, "generic", "trash", depth=1),
                Node(2 * i + 2, "generic", "star", depth=1),
            )
        ]
        return episode(name, goal, (tuple(page), Click(done)))

    starred = "Find the email by {} and click the star icon to mark it as important."
    memory = taught(tidy("a", starred.format("Ella"), 2), tidy("b", starred.format("Maggie"), 6))
    wanted = "Find the email by Britta and click the trash icon to delete it."
    assert proposed(memory, tidy("new", wanted, 3), 0) == Click(3)


def test_what_opens_more_is_tried_unless_a_case_tells_what_to_do_where_nothing_is_in_view() -> None:
    def tweet(name: str, user: str, button: str, done: int) -> Trajectory:
        goal = f'For the user {user}, click on the "{button}" button.'
        names = ("reply", "like", "more", "share")
        page = [
            node
            for i, post in enumerate(("@eget", "@dui", "@semper"))
            for node in (
                text(f"{post} · 2h ago", 40 * i),
                *(Node(4 * i + j + 1, "button", n) for j, n in enumerate(names)),
            )
        ]
        return episode(name, goal, (tuple(page), Click(done)))

    shown = (tweet("a", "@dui", "Like", 6), tweet("b", "@dui", "Reply", 5))
    memory = taught(*shown)
    assert proposed(memory, tweet("new", "@dui", "Like", 6), 0) == Click(6)
    assert proposed(memory, tweet("hidden", "@dui", "Embed Tweet", 7), 0) == Click(7)
    memory = taught(*shown, tweet("c", "@semper", "Copy Link", 12))
    assert proposed(memory, tweet("new", "@dui", "Like", 6), 0) == Click(6)
    assert proposed(memory, tweet("hidden", "@eget", "Embed Tweet", 4), 0) == Click(4)


def test_the_later_of_two_rows_that_the_goal_names_is_found() -> None:
    def close(name: str, first: str, second: str, dates: tuple[str, str], done: int) -> Trajectory:
        titles, days = (first, second, "Old", "New"), (*dates, "2020-01-01", "2026-01-01")
        page = tuple(
            node
            for i, (title, date) in enumerate(zip(titles, days, strict=True))
            for node in (text(f"{date} | {title}", 40 * i), link(i + 1, f"{i}a{i}", 40 * i))
        )
        goal = f'"{first}" and "{second}" are the same. Open the newer one.'
        return episode(name, goal, (page, Click(done)))

    memory = taught(
        close("a", "Dark mode", "Night view", ("2024-02-01", "2024-05-01"), 2),
        close("b", "Slow search", "Search hangs", ("2024-07-09", "2023-05-01"), 1),
    )
    early, late = "2022-01-03", "2022-04-03"
    assert proposed(memory, close("c", "Lost page", "Gone page", (early, late), 2), 0) == Click(2)
    assert proposed(memory, close("d", "Lost page", "Gone page", (late, early), 1), 0) == Click(1)


def add_goods(name: str, *goods: str) -> Trajectory:
    """Search for each of the goods, add it, and end."""
    quoted = [f'"{good}"' for good in goods]
    goal = f"Put these into my basket: {', '.join(quoted[:-1])} and {quoted[-1]}."
    steps: list[tuple[tuple[Node, ...], Action]] = []
    field, button = Node(5, "textbox", "Search", kind="input:text"), Node(6, "button", "Add")
    for good in goods:
        steps += [((field, button), Fill(5, good)), ((field, button, link(7, good)), Click(6))]
    return episode(name, goal, *steps, ((field, button), Answer("")))


@pytest.mark.parametrize("count", [2, 3, 4])
def test_what_was_done_for_three_values_is_done_for_each_of_as_many_as_the_goal_has(
    count: int,
) -> None:
    memory = taught(add_goods("a", "Lamp", "Mug", "Pan"))
    new = add_goods("new", *("Desk", "Fork", "Hat", "Kite")[:count])
    wanted = [step.decision.action for step in new.steps]
    assert [proposed(memory, new, i) for i in range(len(new.steps))] == wanted


def test_a_text_with_a_number_is_appended_from_what_was_acted_on_and_not_as_a_constant() -> None:
    def note(name: str, ticket: str) -> Trajectory:
        field = Node(5, "textbox", "Text", kind="textarea", value="The first line.\nThe second.")
        return episode(
            name,
            "Note the ticket's number as the last line.",
            ((link(1, ticket),), Click(1)),
            ((field,), Fill(5, f"{field.value}\n{ticket}")),
        )

    new = note("new", "90417")
    assert proposed(taught(note("a", "53551")), new, 1) == new.steps[1].decision.action


def test_nothing_opens_a_value_that_a_case_lacked_too() -> None:
    new = episode("new", 'Press "Mute".', ((Node(1, "button", "More"),), Click(1)))
    scene = scene_of(new.steps[0].observation, ())
    case = cases_of(episode("a", 'Press "Like".', ((Node(1, "button", "Like"),), Click(1))), 1, "")[
        0
    ]
    trusted = dict.fromkeys(translate(case.descriptors("mark"), case.goal, scene.goal), 1.0)
    opened = find_openers(scene, case, trusted, ())
    assert any(("=", "More") in descriptor for descriptor in opened)
    assert find_openers(scene, case, trusted, {(SLOT, 0)}) == {}


def test_a_failure_is_excused_by_successes_at_the_same_goal_only() -> None:
    page = (link(1, "Left"), link(2, "Right"))

    def opened(name: str, goal: str, mark: int) -> Trajectory:
        return episode(name, goal, (page, Click(mark)))

    confidence = []
    for goal in ("Open the door.", "Shut the window."):
        memory = taught(opened("d", "Open the door.", 1))
        memory.remember(opened("s", goal, 1), source="success")
        memory.avoid(opened("f", "Open the door.", 1), [2.0])
        asked = opened("new", "Open the door.", 1).steps[0].observation
        confidence.append(memory.propose(asked, ())[0].confidence)
    assert confidence[0] > confidence[1]
