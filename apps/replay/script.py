"""A stored episode as a plain Playwright script that needs nothing of ours."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

from apps.replay.recordings import ReplayedTask, read_values
from tasks.task import Task
from webagent.action import Action, format_action
from webagent.action import actions as act
from webagent.errors import SetupError
from webagent.guard.secret import find_placeholders
from webagent.policy.replay.goals import ValueMapping
from webagent.policy.replay.surroundings import describe_element
from webagent.records import Node, Observation, Trajectory

_FIELDS = {
    *("textbox", "searchbox", "combobox", "spinbutton", "listbox"),
    *("checkbox", "radio", "slider", "switch", "colorpicker", "file"),
}
_BY_TEXT = {"generic", "text", "group"}
_BY_STYLE = {"file": "input[type=file]", "colorpicker": "input[type=color]"}
_DRAWN = {"graphic"}
_TAGS = {"textbox": "input", "combobox": "select", "searchbox": "input", "spinbutton": "input"}


def source(value: str) -> str:
    """Return a text as a Python literal."""
    return json.dumps(value, ensure_ascii=False)


def locator(page: Observation, node: Node, values: ValueMapping) -> str:
    """Return an expression that finds the element, by whatever of its ways finds only one."""
    name, place = (
        values.replace_in(node.name),
        next(i for i, n in enumerate(page.nodes) if n is node),
    )
    frames = [i for i, each in enumerate(page.nodes) if each.role == "frame"]
    around = [i for i in frames if i < place and page.nodes[i].depth < node.depth]
    while around and any(n.depth <= page.nodes[around[-1]].depth
                         for n in page.nodes[around[-1] + 1 : place]):  # fmt: skip
        around.pop()
    inner = f'page.frame_locator("iframe >> nth={frames.index(around[-1])}")' if around else ""
    scope = inner or "page"
    alike = [n for n in page.nodes if n.mark and (n.role, n.name) == (node.role, node.name)]
    nth = f".nth({alike.index(node)})" if len(alike) > 1 else ""
    ways = [f"{scope}.{way}{nth}" for way in _list_expressions(node, name)]
    if not ways:
        same = [n for n in page.nodes if n.mark and n.role == node.role]
        style = _BY_STYLE.get(node.role)
        bare = f"locator({source(style)})" if style else f"get_by_role({source(node.role)})"
        ways = [f"{scope}.{bare}.nth({same.index(node)})"]
    separator = f",\n{8 * ' '}"
    return ways[0] if len(ways) == 1 else f"one(\n{8 * ' '}{separator.join(ways)},\n{4 * ' '})"


def is_drawn(node: Node) -> bool:
    """Return whether it is found by nothing but its place."""
    return node.role in _DRAWN or (node.role in _BY_TEXT and not node.name)


def _list_expressions(node: Node, name: str) -> list[str]:
    """Return expressions that may each find it by its name, the surest first."""
    if not name:
        return []
    if node.role in _BY_TEXT:
        return [f"get_by_text({source(name.split(' | ')[0])}, exact=True)"]
    by_role = f"get_by_role({source(node.role)}, name={source(name)}, exact=True)"
    if node.role not in _FIELDS:
        return [by_role]
    tag = "textarea" if node.kind == "textarea" else _TAGS.get(node.role, "input")
    quoted = f'"{name}"'
    if '"' in name:  # XPath knows no escapes
        parts = ", '\"', ".join(f'"{part}"' for part in name.split('"'))
        quoted = f"concat({parts})"
    beside = f"xpath=//text()[normalize-space()={quoted}]/following::{tag}[1]"
    ways = [f"get_by_label({source(name)}, exact=True)", f"locator({source(beside)})"]
    return ways if node.role in _BY_STYLE else [by_role, *ways]


_TEMPLATE = Path(__file__).with_name("script.txt")
_SIMPLE = {
    act.DoubleClick: "dblclick",
    act.Hover: "hover",
    act.Focus: "focus",
    act.Clear: "clear",
    act.Check: "check",
    act.Uncheck: "uncheck",
}
_ON_TABS = {
    act.GoBack: "page.go_back()",
    act.GoForward: "page.go_forward()",
    act.NewTab: "page.context.new_page()",
    act.TabClose: "page.close()",
}
_MOUSE = {act.MouseClick: "click", act.MouseDoubleClick: "dblclick", act.MouseMove: "move"}


def script_of(recording: ReplayedTask, values: Mapping[str, str]) -> str:
    """Return the source of the script. Raises `SetupError` for what Playwright has no words for."""
    episode, task = recording.episode, recording.task
    if task.seed != episode.task.seed:
        raise SetupError(
            "--seed and --to-script do not go together: replay it on the seed, and write the"
            " replayed episode"
        )
    if task.site and task.start_url == episode.task.start_url:
        raise SetupError(
            f"{task.id} is on {task.site}, which is started for every episode at an address of its"
            f" own; start one with `webagent site start {task.site}` and give its address as --url"
        )
    goal = episode.goal or task.goal
    carried = ValueMapping.between(goal, goal, read_values(episode, values), is_another_task=False)
    writer = ScriptWriter(episode, task, carried)
    lines = writer.lines()
    begin = ["page.goto(URL)"]
    if task.hooks.init:
        begin.insert(0, f"page.add_init_script({source(task.hooks.init)})")
    if task.hooks.start:
        begin.append(f"page.evaluate({source('() => { ' + task.hooks.start + ' }')})")
    return Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        goal=(goal or task.id).replace("\\", "\\\\").replace('"""', "'''"),
        episode=episode.id,
        needs="".join(f"\n    {name}" for name in writer.variables) or " none",
        url=source(task.start_url),
        width=task.viewport[0],
        height=task.viewport[1],
        begin="\n    ".join(begin),
        steps="\n    ".join(lines),
    )


@dataclass(slots=True)
class ScriptWriter:
    """Writes the statements of the steps."""

    episode: Trajectory
    task: Task
    values: ValueMapping
    variables: list[str] = field(default_factory=list)
    """Environment variables that the script takes secrets from."""

    def lines(self) -> list[str]:
        """Return the statements in order; what answers a dialog stands before what opens it."""
        steps = self.episode.steps
        lines: list[str] = []
        for place, step in enumerate(steps):
            action, page = step.decision.action, step.observation
            made = self._statement(action, page)
            if isinstance(action, act.AnswerDialog):
                lines.insert(max(0, len(lines) - 1), made)
            else:
                lines.append(made)
            after = steps[place + 1].observation if place + 1 < len(steps) else self.episode.last
            if after is not None and after.active_tab != page.active_tab:
                lines.append(f"page = tab(page, {after.active_tab})")
        return lines

    def _statement(self, action: Action, page: Observation) -> str:
        if hasattr(action, "mark") and action.mark:
            node = page.node(action.mark)
            if node is None:
                raise SetupError(f"{format_action(action)}: the recorded page has no such element")
            return self._on_element(action, page, node)
        match action:
            case act.DragAndDrop(source=start, target=end):
                return f"{self._find(page, start)}.drag_to({self._find(page, end)})"
            case act.MouseDrag(x=x, y=y, to_x=to_x, to_y=to_y):
                return f"drag(page, {x}, {y}, {to_x}, {to_y})"
            case act.Scroll(dx=dx, dy=dy):
                return f"page.mouse.wheel({dx}, {dy})"
            case act.Press(key=key):
                return f"page.keyboard.press({source(key)})"
            case act.KeyboardType(text=text):
                return f"page.keyboard.type({self._text(text)})"
            case act.KeyboardInsertText(text=text):
                return f"page.keyboard.insert_text({self._text(text)})"
        return self._of_page(action)

    def _of_page(self, action: Action) -> str:
        match action:
            case act.Goto(url=url):
                where = self.values.replace_in(url) if self.values.given else url
                return f"page.goto({source(where)})"
            case act.TabFocus():
                return f"# {format_action(action)}"
            case act.Wait(milliseconds=milliseconds):
                return f"page.wait_for_timeout({milliseconds})"
            case act.Answer(text=text):
                return f"print({self._text(text)})" if text else "return"
            case act.GiveUp(reason=reason):
                return f"raise SystemExit({source(reason or 'it cannot be done')})"
            case act.AnswerDialog(reply=reply, text=text):
                reply_text = source(text) if text and reply == "accept" else ""
                return f'page.once("dialog", lambda dialog: dialog.{reply}({reply_text}))'
        if verb := _MOUSE.get(type(action)):
            return f"page.mouse.{verb}({getattr(action, 'x', 0)}, {getattr(action, 'y', 0)})"
        if type(action) in _ON_TABS:
            return _ON_TABS[type(action)]
        raise SetupError(
            f"{format_action(action)} has no counterpart in a script; replay the episode with"
            " webagent replay"
        )

    def _on_element(self, action: Action, page: Observation, node: Node) -> str:
        if node.kind == "option":
            place = next(i for i, each in enumerate(page.nodes) if each is node)
            lists = [each for each in page.nodes[:place] if each.kind == "select"]
            if not lists:
                raise SetupError(f"the list of option {node.name!r} is not on the recorded page")
            return (
                f"{locator(page, lists[-1], self.values)}.select_option(label={source(node.name)})"
            )
        if is_drawn(node) and isinstance(action, act.Click):
            left, top, width, height = node.box
            middle = f"{left + width // 2}, {top + height // 2}"
            return f"page.mouse.click({middle})  # {describe_element(node)}"
        found = locator(page, node, self.values)
        return f"{found}.{self._verb(action, node)}"

    def _verb(self, action: Action, node: Node) -> str:
        if type(action) in _SIMPLE:
            return f"{_SIMPLE[type(action)]}()"
        match action:
            case act.Click(button=button):
                return "click()" if button == "left" else f"click(button={source(button)})"
            case act.ClickWith(keys=keys, count=count, button=button):
                held = ", ".join(source(key) for key in keys.split("+") if key)
                return f"click(modifiers=[{held}], click_count={count}, button={source(button)})"
            case act.Fill(text=text):
                return f"fill({self._text(text, node)})"
            case act.SelectOption(option=option):
                return f"select_option(label={self._text(option)})"
            case act.SelectOptions(options=options):
                return f"select_option(label=[{', '.join(self._text(each) for each in options)}])"
            case act.Press(key=key):
                return f"press({source(key)})"
            case act.Scroll(dx=dx, dy=dy):
                return f'evaluate("element => element.scrollBy({dx}, {dy})")'
        if isinstance(action, act.UploadFile | act.UploadFiles):
            paths = (action.path,) if isinstance(action, act.UploadFile) else action.paths
            return f"set_input_files([{', '.join(map(source, paths))}])"
        raise SetupError(f"{format_action(action)} has no counterpart in a script")

    def _find(self, page: Observation, mark: int) -> str:
        node = page.node(mark)
        if node is None:
            raise SetupError(f"the recorded page has no element {mark}")
        return locator(page, node, self.values)

    def _text(self, text: str, node: Node | None = None) -> str:
        """Return a text as source; one that is secret from the environment."""
        names = find_placeholders(text)
        if not names and node is not None and node.kind == "input:password":
            return self._secret(node.name or "password")
        if names and text == f"<secret:{names[0]}>":
            return self._secret(names[0])
        if names:
            raise SetupError(f"{text!r} contains more than a secret; type the secret by itself")
        carried = self.values.carry(text)
        return source(carried.text if carried.how == "given" else text)

    def _secret(self, name: str) -> str:
        variable = re.sub(r"\W+", "_", name).strip("_").upper() or "PASSWORD"
        if variable not in self.variables:
            self.variables.append(variable)
        return f"os.environ[{source(variable)}]"
