// Every element of the page with what is known of it, by which Chromium's own trees are joined with
// the marks. The browser answers with its own numbers for the elements, so that nothing has to be
// written into the page to find them again.

const MOST_ELEMENTS = 20000;

// The elements in document order behind a JSON text with, for each, its mark (0 for none), box, the
// part of it that is in view, and whether it answers clicks; 1 in the last place for what is no part
// of the task. With `all`, elements that had no mark get one.
function members(ignore, firstMark, all) {
  nextMark = Math.max(nextMark, firstMark);
  const elements = [];
  const facts = [];
  const visit = (element, clip, isOut) => {
    if (elements.length >= MOST_ELEMENTS) return;
    isOut = isOut || Boolean(ignore && element[own.matches](ignore));
    const box = boxOnPage(element);
    elements.push(element);
    facts.push([markFor(element, all && !isOut), ...box, shareIn(clip, box), answersClicks(element), Number(isOut)]);
    const inner = clipsContent(element) ? overlap(clip, box) : clip;
    for (const child of contentOf(element)) {
      if (child[own.nodeType] === Node.ELEMENT_NODE) visit(child, inner, isOut);
    }
  };
  visit(document.documentElement, [0, 0, innerWidth, innerHeight], false);
  const focus = deepestFocus();
  return [JSON.stringify({ facts, nextMark, focus: focus ? knownMark(focus) : 0 }), ...elements];
}

// What is in a frame has the marks that were given there.
function markFor(element, all) {
  return all && element[own.ownerDocument] === document ? markOf(element) : knownMark(element);
}

function clipsContent(element) {
  if (tagOf(element) === "iframe") return true;
  if (/^(html|body)$/.test(tagOf(element))) return false;
  const style = getComputedStyle(element);
  return style.overflowX !== "visible" || style.overflowY !== "visible";
}

function overlap(a, b) {
  const [left, top] = [Math.max(a[0], b[0]), Math.max(a[1], b[1])];
  const right = Math.min(a[0] + a[2], b[0] + b[2]);
  const bottom = Math.min(a[1] + a[3], b[1] + b[3]);
  return [left, top, Math.max(0, right - left), Math.max(0, bottom - top)];
}

function shareIn(clip, box) {
  const whole = box[2] * box[3];
  const seen = overlap(clip, box);
  return whole ? Math.round((100 * seen[2] * seen[3]) / whole) / 100 : 0;
}

function answersClicks(element) {
  if (LISTENING.has(element) || element[own.hasAttribute]("onclick")) return 1;
  return isNative(element) && !asField(element).disabled ? 1 : 0;
}

function deepestFocus() {
  let element = document.activeElement;
  while (element) {
    const frame = tagOf(element) === "iframe" ? frameBody(element) : null;
    const inside = shadowOf(element) || (frame && frame[own.ownerDocument]);
    if (!inside || !inside.activeElement) return element;
    element = inside.activeElement;
  }
  return element;
}
