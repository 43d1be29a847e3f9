"""A drawing of a site's map: kinds of pages in rows by distance in actions."""

from html import escape

from worldmodel.map import MapEdge, SiteMap

_WIDTH, _HEIGHT = 250, 96
"""CSS pixels from one page to the next, right and down."""
_BOX = 220, 44
_PER_ROW = 6
_STYLE = """
body { font: 14px system-ui, sans-serif; margin: 1rem; background: Canvas; color: CanvasText }
rect { fill: Canvas; stroke: CanvasText; rx: 6 } .open rect { stroke-dasharray: 4 3 }
path { stroke: GrayText; fill: none; opacity: .55 } text { fill: CanvasText; font-size: 12px }
.small { font-size: 10px; opacity: .8 } g:hover rect, path:hover { stroke: Highlight; opacity: 1 }
"""


def draw_map(site: SiteMap, start: str) -> str:
    """Return the map as one HTML file without scripts. Pages with untried elements have a dashed
    frame; links are described when the pointer is on a line or a page."""
    places = _place(site, start)
    width = 40 + _WIDTH * min(_PER_ROW, len(places))
    height = 40 + max(y for _, y in places.values()) + _HEIGHT
    lines = [_draw_edge(edge, where, places) for edge in site.edges for where in edge.outcomes]
    boxes = [_draw_page(site, kind, places[kind]) for kind in places]
    text = f"{site.site}: {len(site.pages)} kinds of pages, {len(site.edges)} edges"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(text)}</title>'
        f"<style>{_STYLE}</style><h1>{escape(text)}</h1>"
        f'<svg role="img" aria-label="{escape(text)}" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}">{"".join(lines)}{"".join(boxes)}</svg></html>'
    )


def _place(site: SiteMap, start: str) -> dict[str, tuple[int, int]]:
    """Return left and top of each page."""
    ways = {kind: site.way(start, kind) for kind in site.pages}
    far = {kind: len(way) if way is not None else 99 for kind, way in ways.items()}
    rows: list[list[str]] = []
    for distance in sorted(set(far.values())):
        kinds = [kind for kind in site.pages if far[kind] == distance]
        rows += [kinds[i : i + _PER_ROW] for i in range(0, len(kinds), _PER_ROW)]
    return {
        kind: (20 + x * _WIDTH, 20 + y * _HEIGHT)
        for y, row in enumerate(rows)
        for x, kind in enumerate(row)
    }


def _draw_edge(edge: MapEdge, where: str, places: dict[str, tuple[int, int]]) -> str:
    if where not in places or where == edge.page:
        return ""
    (x1, y1), (x2, y2) = places[edge.page], places[where]
    x1, x2, down = x1 + _BOX[0] // 2, x2 + _BOX[0] // 2, y2 > y1
    y1, y2 = (y1 + _BOX[1], y2) if down else (y1, y2 + _BOX[1])
    middle = (y1 + y2) // 2
    text = f"{edge.page}: {edge.label} → {where}, {edge.outcomes[where]} of {edge.tries}"
    wide = min(5, 1 + edge.outcomes[where] // 10)
    way = f"M{x1} {y1} C{x1} {middle} {x2} {middle} {x2} {y2}"
    return f'<path d="{way}" stroke-width="{wide}"><title>{escape(text)}</title></path>'


def _draw_page(site: SiteMap, kind: str, place: tuple[int, int]) -> str:
    page, (x, y) = site.pages[kind], place
    did = [f"{e.label} → {', '.join(e.outcomes)}" for e in site.edges if e.page == kind]
    left = [f"never tried: {offer}" for offer in page.unexplored]
    text = "\n".join([page.title, *did, *left])
    name = kind if len(kind) < 34 else f"{kind[:33]}…"
    counts = f"{page.visits} steps, {page.different} addresses, {len(page.unexplored)} never tried"
    return (
        f'<g class="{"open" if page.unexplored else ""}"><title>{escape(text)}</title>'
        f'<rect x="{x}" y="{y}" width="{_BOX[0]}" height="{_BOX[1]}"/>'
        f'<text x="{x + 8}" y="{y + 18}">{escape(name)}</text>'
        f'<text class="small" x="{x + 8}" y="{y + 34}">{escape(counts)}</text></g>'
    )
