"""Oracles for social feeds and search results: find the entry, then act on it."""

from benchmarks.solutions.registry import oracle
from benchmarks.solutions.view import View
from webagent.action import Action
from webagent.action.actions import Click, Fill

_MENU = ("Share via DM", "Copy link to Tweet", "Embed Tweet", "Mute", "Block", "Report")


@oracle("social-media")
def act_on_post(view: View) -> Action:
    """`For the user @joye, click on the "Mute" button.`: some buttons are behind `more`."""
    user, button = view.read(r'For the user (\S+), click on the "(.+)" button')
    post = view.after(view.line_with(user))
    if button not in _MENU:
        return Click(post.find(name=button.lower()).mark)
    item = f"{button} {user}" if button in ("Mute", "Block") else button
    return Click(post.find(name=item if view.done else "more").mark)


@oracle("social-media-all", "social-media-some")
def act_on_posts(view: View) -> Action:
    """`Click the "Like" button on all posts by @joye and then click Submit.`: from the top."""
    pattern = r'the "(\w+)" button on (?:all|(\d+)) posts? by (\S+) and then'
    button, amount, user = view.read(pattern)
    start = view.start
    posts = [node for node in start.page.nodes if user in node.name.split()]
    chosen = posts[: int(amount)] if amount else posts
    plan = [Click(start.after(post).find(name=button.lower()).mark) for post in chosen]
    return view.next_of(*plan, Click(view.find("button", name="Submit").mark))


@oracle("search-engine")
def open_search_result(view: View) -> Action:
    """`enter "Joye" and press "Search", then find and click the 5th search result.`"""
    text, place = view.read(r'enter "(.+)" and press .* the (\d+)\w\w search result')
    page, index = divmod(int(place) - 1, 3)
    button = view.find("button", name="Search")
    plan: list[Action] = [Fill(view.find("textbox").mark, text), Click(button.mark)]
    if len(view.done) < len(plan):
        return view.next_of(*plan)
    results = view.after(button)
    if page:
        plan.append(Click(results.find(name=str(page + 1)).mark))
    return view.next_of(*plan, Click(results.all("link")[index].mark))
