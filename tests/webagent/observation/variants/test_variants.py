"""The forms of a page: what each leaves out, keeps and says, without a browser."""

import pytest

from webagent.errors import SetupError
from webagent.observation.render import cut_to_tokens
from webagent.observation.variants import VARIANTS, AccessibilityTree, variant_named
from webagent.observation.variants.markup import clean_html
from webagent.observation.variants.pruned import prune, recall
from webagent.observation.variants.registry import write_accessibility
from webagent.records import Node, Observation

PAGE = """
<body class="x" data-y="1"><script>evil()</script><!-- secret --><style>p{}</style>
<div><div><h2>Fares &amp; times</h2></div></div>
<p onclick="go()">Read <a mark="1" href="/terms" class="link">the <b>terms</b></a>.</p>
<ul><li>One</li><li>Two <ol><li>Inner</li></ol></li></ul>
<table><tr><th>City</th><th>Price</th></tr><tr><td>Rome</td><td>9 | 10</td></tr></table>
<form><label>Name <input mark="2" type="text" value="Ada" style="color:red"></label>
<select mark="3"><option selected>Red</option><option>Blue</option></select>
<input mark="4" type="checkbox" checked><button mark="5">Send &lt;now&gt;</button></form>
<span mark="6" class="icon trash"></span><img src="data:image/png;base64,AAAA" alt="Logo">
</body>
"""


def page(*nodes: Node, captured: str = "") -> Observation:
    """An observation of these lines."""
    return Observation("", "", "", nodes, captured=captured)


def test_cleaned_html_keeps_what_elements_are_and_nothing_for_browsers_alone():
    assert clean_html(PAGE).splitlines() == [
        "<body>",
        " <h2>Fares &amp; times</h2>",
        " <p>",
        "  Read",
        '  <a mark="1" href="/terms">',
        "   the",
        "   <b>terms</b>",
        "  </a>",
        "  .",
        " </p>",
        " <ul>",
        "  <li>One</li>",
        "  <li>",
        "   Two",
        "   <ol>",
        "    <li>Inner</li>",
        "   </ol>",
        "  </li>",
        " </ul>",
        " <table>",
        "  <tr>",
        "   <th>City</th>",
        "   <th>Price</th>",
        "  </tr>",
        "  <tr>",
        "   <td>Rome</td>",
        "   <td>9 | 10</td>",
        "  </tr>",
        " </table>",
        " <form>",
        "  <label>",
        "   Name",
        '   <input mark="2" type="text" value="Ada">',
        "  </label>",
        '  <select mark="3">',
        "   <option selected>Red</option>",
        "   <option>Blue</option>",
        "  </select>",
        '  <input mark="4" type="checkbox" checked>',
        '  <button mark="5">Send &lt;now&gt;</button>',
        " </form>",
        ' <span mark="6" class="icon trash"></span>',
        ' <img alt="Logo">',
        "</body>",
    ]


def test_pruning_says_everything_once():
    lines = prune(
        page(
            Node(0, "text", "Colours", kind="h2"),
            Node(0, "text", "Send"),
            Node(1, "button", "Send"),
            Node(0, "text", "City | Rome"),
            Node(0, "text", "Price | 9"),
            Node(2, "combobox", "Size", "M"),
            Node(3, "option", "S", depth=1, kind="option"),
            Node(4, "option", "M", states=("selected",), depth=1, kind="option"),
            Node(5, "generic", "Jemima"),
            Node(6, "graphic", ""),
            Node(0, "text", "an item", kind="li"),
        )
    )
    assert lines.splitlines() == [
        "## Colours",
        '[1] button "Send"',
        "| City | Rome |",
        "| --- | --- |",
        "| Price | 9 |",
        '[2] combobox "Size" value="M"',
        "  options: S | *M*",
        '[5] clickable "Jemima"',
        "- an item",
    ]


def test_an_earlier_page_is_recalled_around_what_was_acted_on():
    nodes = (
        Node(1, "link", "far above"),
        Node(2, "link", "Home", depth=0),
        Node(3, "generic", "Mail from Ada", depth=0),
        Node(4, "button", "delete", depth=1),
        Node(5, "button", "star", depth=1),
        Node(6, "generic", "Mail from Bob", depth=0),
        Node(7, "button", "delete", depth=1),
    )
    assert recall(page(*nodes), (5,)).splitlines() == [
        '[3] clickable "Mail from Ada"',
        '  [4] button "delete"',
        '  [5] button "star"',
    ]
    assert recall(page(*nodes), ()) == ""


def ax(number: int, role: str, name: str = "", children: str = "", **more: object) -> dict:
    """A node as Chromium answers it; its backend node id is its number."""
    return {
        "nodeId": str(number),
        "backendDOMNodeId": number,
        "role": {"value": role},
        "name": {"value": name},
        "childIds": children.split(),
        **more,
    }


def test_the_accessibility_tree_loses_only_what_says_nothing():
    nodes = [
        ax(1, "RootWebArea", "Shop", "2 3 6"),
        ax(2, "generic", "", "4"),
        ax(3, "none", "", "5", ignored=True),
        ax(4, "button", "Buy", "7", properties=[{"name": "focused", "value": {"value": True}}]),
        ax(5, "checkbox", "Gift", properties=[{"name": "checked", "value": {"value": "false"}}]),
        ax(6, "generic", "", ""),
        ax(7, "StaticText", "Buy"),
        ax(8, "button", "cover"),
    ]
    nodes[0]["childIds"].append("8")
    tree = AccessibilityTree(nodes, {4: 1, 6: 9}, frozenset({8}))
    assert write_accessibility(tree).splitlines() == [
        'RootWebArea "Shop"',
        '  [1] button "Buy" focused',
        '  checkbox "Gift"',
        "  [9] generic",
    ]


def test_what_does_not_fit_is_counted():
    lines = [f"line {number}" for number in range(100)]
    assert cut_to_tokens(lines, 20).splitlines()[-1] == "... 90 more lines left out"
    assert cut_to_tokens(lines, 1000).count("\n") == 99


@pytest.mark.parametrize("name", [name for name, each in VARIANTS.items() if each.capture])
def test_what_was_captured_is_bounded_like_the_lines(name: str):
    if VARIANTS[name].image:
        pytest.skip("captures which marks are in view, not text")
    assert len(VARIANTS[name].write(page(captured="\n".join(["word"] * 10_000)), 100)) < 400


def test_a_misspelt_variant_is_answered_with_the_close_one():
    with pytest.raises(SetupError, match="did you mean accessibility"):
        variant_named("accessibilty")
