"""What is remembered, recalled and said by analogy, on hand-made pages."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.orders import ORDERS, episode, link, look_up, recalled, taught, text
from webagent.action import format_action
from webagent.action.actions import Action, Answer, Check, Click, Fill, GiveUp, SelectOption
from webagent.errors import StoreError
from webagent.memory import Memory, MemoryMismatch, scene_of
from webagent.memory.explain import explain
from webagent.memory.failures import blame_steps
from webagent.memory.memory import VERSION
from webagent.policy.remembering import MEMORY, refuse
from webagent.records import Candidate, Decision, Node, Observation, Trajectory


def proposed(memory: Memory, trajectory: Trajectory, step: int) -> Action:
    return recalled(memory, trajectory, step).action


def test_an_empty_memory_proposes_nothing() -> None:
    assert Memory().propose(look_up("new", "10050", 70).steps[0].observation, ()) == []


def test_one_demonstration_is_repeated_on_other_marks() -> None:
    assert proposed(taught(look_up("a", "10056", 1)), look_up("new", "10056", 70), 0) == Click(70)


def test_a_value_beside_the_word_of_the_goal_is_carried_over() -> None:
    memory = taught(look_up("a", "10056", 1), look_up("b", "10055", 40))
    assert proposed(memory, look_up("new", "10050", 70), 1) == Answer("£7.40")


def test_a_constant_of_another_goal_is_not_carried_over() -> None:
    def search(name: str, wanted: str) -> Trajectory:
        page = (Node(5, "textbox", "Search", kind="input:text"), link(6, "Lamp"))
        return episode(name, f'Find the "{wanted}".', (page, Fill(5, wanted)))

    assert proposed(taught(search("a", "Lamp")), search("new", "Kettle"), 0) == Fill(5, "Kettle")


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


@pytest.mark.parametrize(("action", "role"), [(Check(4), "checkbox"), (Click(4), "button")])
def test_every_operation_can_be_said(action: Action, role: str) -> None:
    def tick(name: str) -> Trajectory:
        page = (link(1, "Home"), Node(4, role, "Terms", kind=role))
        return episode(name, "Accept the terms.", (page, action))

    assert proposed(taught(tick("a")), tick("new"), 0) == action


def choose(name: str, wanted: str, options: tuple[str, ...]) -> Trajectory:
    listed = (Node(10 + i, "option", each, kind="option") for i, each in enumerate(options))
    page = (Node(2, "combobox", "Size", kind="select"), *listed)
    return episode(name, f'Choose "{wanted}".', (page, SelectOption(2, wanted)))


def test_an_option_is_only_chosen_where_the_list_has_it() -> None:
    memory = taught(choose("a", "Small", ("Small", "Large")))
    said = memory.propose(choose("new", "Huge", ("Small", "Large")).steps[0].observation, ())
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
    assert memory.propose(new.steps[0].observation, (), 2)[0].action == before[1].action
    failed = {
        each.action: each.confidence for each in memory.propose(new.steps[0].observation, (), 3)
    }
    assert failed[Answer(said)] < before[0].confidence


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
    page = look_up("new", "10050", 70).steps[0].observation
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
            turns.append(((*boxes, submit), Click(names.index(each) + 1 if each else 9)))
            ticked.add(each)
        return episode(name, f"Select {', '.join(chosen)} and click Submit.", *turns)

    shown = [tick("a", "kx", "lm"), tick("b", "op"), tick("c", "lm", "op", "qr")]
    memory = taught(*shown)
    memory.learn(shown)
    new = tick("new", "kx", "op", "qr")
    said = [proposed(memory, new, step) for step in range(4)]
    assert said == [Click(1), Click(3), Click(4), Click(9)]


def test_parts_of_a_date_are_put_together() -> None:
    def enter(name: str, month: str, day: str, year: str) -> Trajectory:
        page = (Node(1, "textbox", "", kind="input:date"),)
        goal = f"Enter {month}/{day}/{year} as the date."
        return episode(name, goal, (page, Fill(1, f"{year}-{month}-{day}")))

    memory = taught(enter("a", "02", "24", "2019"), enter("b", "11", "05", "2013"))
    assert proposed(memory, enter("new", "07", "31", "2016"), 0) == Fill(1, "2016-07-31")


def test_a_failure_at_another_task_speaks_against_nothing() -> None:
    page = (link(1, "Left"), link(2, "Right"))
    memory = taught(episode("a", "Open the green door.", (page, Click(1))))
    new = Observation("Open the green door.", "http://shop.test/0", "Shop", page)
    before = memory.propose(new, ())[0]
    memory.avoid(episode("f", "Sweep the stairs, please.", (page, Click(1))), [3.0])
    after = memory.propose(new, ())[0]
    assert after.action == before.action
    assert after.confidence > 0.9 * before.confidence


def test_what_is_written_behind_a_fields_text_keeps_what_stood_between() -> None:
    def tagged(name: str, held: str, tag: str) -> Trajectory:
        page = (Node(5, "textbox", "Tags", value=held, kind="input:text"),)
        return episode(name, f'Add the tag "{tag}".', (page, Fill(5, f"{held}, {tag}")))

    memory = taught(tagged("a", "red, blue", "green"))
    assert proposed(memory, tagged("new", "one", "two"), 0) == Fill(5, "one, two")


def test_what_may_send_something_is_given_up_where_any_step_before_it_was_doubtful() -> None:
    memory = taught(look_up("a", "10056", 1), look_up("b", "10055", 40))
    new = look_up("new", "10050", 70)
    shown = replace(new.steps[0].observation, nodes=(Node(7, "button", "Delete"), link(8, "Back")))

    def chosen(action: Action, confidence: float, source: str = MEMORY) -> Decision:
        held = Candidate(format_action(action), math.log(confidence))
        log_probs = () if source == MEMORY else (math.log(confidence),)
        return Decision(action, source=source, log_probs=log_probs, candidates=(held,))

    for before, mark, confidence, is_refused in (
        (chosen(Fill(5, "10050"), 0.9), 7, 0.9, False),
        (chosen(Fill(5, "10050"), 0.01), 7, 0.9, True),
        (chosen(Fill(5, "10050"), 0.6, "policy"), 7, 0.9, True),
        (chosen(Fill(5, "10050"), 0.7), 7, 0.6, True),
        (chosen(Fill(5, "10050"), 0.9), 8, 0.01, False),
    ):
        begun = replace(new, steps=(replace(new.steps[0], decision=before),))
        found = refuse(memory, chosen(Click(mark), confidence), begun, shown)
        assert isinstance(found.action, GiveUp) == is_refused


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


@pytest.mark.parametrize("shown", [("Yes", "yes"), ("yes", "Yes")])
def test_the_twin_in_the_goals_letter_case_is_clicked(shown: tuple[str, str]) -> None:
    def press(name: str, wanted: str, labels: tuple[str, ...], mark: int) -> Trajectory:
        buttons = tuple(Node(i + 1, "button", each, kind="button") for i, each in enumerate(labels))
        return episode(name, f'Click on the "{wanted}" button.', (buttons, Click(mark)))

    memory = taught(
        press("a", "ok", ("Cancel", "ok"), 2), press("b", "Previous", ("Previous", "no"), 1)
    )
    for wanted in shown:
        mark = shown.index(wanted) + 1
        assert proposed(memory, press("new", wanted, shown, mark), 0) == Click(mark)


def test_an_option_in_the_goals_letter_case_is_chosen() -> None:
    memory = taught(choose("a", "kg", ("g", "kg")), choose("b", "t", ("g", "t")))
    for wanted in ("Mb", "MB"):
        assert proposed(memory, choose("new", wanted, ("MB", "Mb")), 0) == SelectOption(2, wanted)


def test_an_option_is_the_one_label_of_the_list_that_the_goal_names() -> None:
    options = tuple(Node(0, "option", name) for name in ("anna", "ben", "farid"))
    page = (Node(5, "combobox", "", kind="select"), *options)

    def choose(name: str, goal: str, option: str) -> Trajectory:
        return episode(name, goal, (page, SelectOption(5, option)))

    memory = taught(choose("a", 'With "anna".', "anna"), choose("b", 'With "ben".', "ben"))
    new = choose("new", 'With "Berlin", where FARID works.', "farid")
    assert proposed(memory, new, 0) == SelectOption(5, "farid")


def test_texts_are_known_by_what_is_typed_in_the_field_and_where_they_were_used() -> None:
    fields = (Node(5, "textbox", "Phone"), Node(6, "textbox", "Team"))

    def move(name: str, phone: str, team: str, held: str = "") -> Trajectory:
        then = (fields[0], replace(fields[1], value=held))
        goal = f'Put "{phone}" down and "{team}".'
        return episode(name, goal, (fields, Fill(5, phone)), (then, Fill(6, team)))

    memory = taught(move("a", "0151 224", "Props"), move("b", "0151 337", "Wigs"))

    def features(new: Trajectory, step: int) -> dict[str, float]:
        best = memory.propose(new.steps[step].observation, new.steps[:step])[0].choices[-1]
        return {name: round(best.features[name]) for name in ("shaped", "repeated", "used")}

    usual = {"shaped": 1, "repeated": 0, "used": 0}
    assert features(move("c", "0151 882", "Archive"), 0) == usual
    assert features(move("d", "Archive", "0151 882"), 0) == {**usual, "shaped": 0}
    assert features(move("e", "0151 882", "Archive", held="archive"), 1)["repeated"] == 1
    assert features(move("f", "Archive", "Archive"), 1)["used"] == 1


def test_in_other_words_a_value_that_does_not_fit_the_field_gives_way_to_another() -> None:
    page = (Node(5, "textbox", "Phone"), Node(6, "textbox", "Team"))

    def move(name: str, phone: str, team: str, goal: str) -> Trajectory:
        then = (replace(page[0], value=phone), page[1])
        return episode(name, goal, (page, Fill(5, phone)), (then, Fill(6, team)))

    memory = taught(
        move("a", "0151 224", "Props", "Set my phone to 0151 224 and my team to Props."),
        move("b", "0151 337", "Wigs", "Set my phone to 0151 337 and my team to Wigs."),
    )
    new = move("c", "0151 882", "Sound", 'I moved to "Sound" and now have "0151 882".')
    assert proposed(memory, new, 0) == Fill(5, "0151 882")


def test_where_sentences_were_typed_a_word_stands_for_its_clause() -> None:
    page = (Node(5, "textbox", "Remark"),)

    def say(name: str, goal: str, remark: str) -> Trajectory:
        return episode(name, goal, (page, Fill(5, remark)))

    memory = taught(
        say("a", 'Write the remark "Nobody was hurt".', "Nobody was hurt"),
        say("b", 'Write the remark "Two chairs are missing".', "Two chairs are missing"),
    )
    new = say("c", "We need another remark, Waiting for the bus, thanks.", "Waiting for the bus")
    assert proposed(memory, new, 0) == Fill(5, "Waiting for the bus")


def test_an_outcome_that_no_demonstration_had_is_distrusted() -> None:
    memory = taught(look_up("a", "10056", 1))
    page = look_up("new", "10056", 70).steps[0].observation
    usual = memory.propose(page, ())[0].confidence
    page = replace(page, outcome="the field does not take this value")
    assert memory.propose(page, ())[0].confidence < usual / 2
