// What an element is that is about to be acted on, so that anyone can tell later which one it was.

const MOST_TEXT = 300;
const MOST_ATTRIBUTES = 40;
const MOST_OUTLINE = 20000;
const EMPTY_TAGS = /^(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;
let lastActed = null;

function acted(mark) {
  return actedFacts(present(mark));
}

function actedAt(x, y) {
  return actedFacts(through(elementAt(x, y), (frame) => {
    const [[left, top], [scaleX, scaleY]] = [innerCorner(frame), scaleOf(frame)];
    return frame.contentDocument.elementFromPoint((x - left) / scaleX, (y - top) / scaleY);
  }));
}

// What a click at a point or the Enter key presses beside what is there: the control of a label, the button that
// sends the form of a field. Null for nothing.
function pressedWith(mark, point, isEnter) {
  const element = point ? elementAt(...point) : mark ? present(mark) : deepFocus();
  const label = point && element && element[own.closest]("label");
  const pressed = label ? label.control : point || !element ? null : !isTextField(element) ? element : isEnter ? senderOf(element) : null;
  if (!pressed) return null;
  return { role: roleOf(pressed), name: nameOf(pressed, getComputedStyle(pressed)), value: valueOf(pressed), kind: kindOf(pressed) };
}

function senderOf(field) {
  const sends = "button:not([type=button], [type=reset]), input[type=submit], input[type=image]";
  const { form } = tagOf(field) === "input" ? field : NOTHING;
  return form ? [...form[own.querySelectorAll](sends), ...form.elements].find((each) => each[own.matches](sends)) || null : null;
}

function deepFocus() {
  let element = document.activeElement;
  while (element && shadowOf(element) && shadowOf(element).activeElement) element = shadowOf(element).activeElement;
  return element;
}

function actedInFocus() {
  const element = deepFocus();
  return actedFacts(through(element, (frame) => frame.contentDocument.activeElement));
}

// The value that it has by now: of the element with this mark, or of the one described last.
function actedValue(mark) {
  const element = mark ? present(mark) : lastActed && lastActed.deref();
  return element && element[own.isConnected] ? valueOf(element) : null;
}

// Into a frame whose document can be read from here.
function through(element, inner) {
  const frames = element && /^i?frame$/.test(tagOf(element)) && element.contentDocument;
  return (frames && inner(element)) || element;
}

function actedFacts(element) {
  if (!element) return null;
  lastActed = new WeakRef(element);
  const page = element[own.ownerDocument];
  const outline = skeletonOf(element);
  return {
    frame: page.defaultView === top ? null : page.URL,
    tag: tagOf(element),
    selector: selectorOf(element),
    xpath: xpathOf(element),
    text: clean(element[own.textContent]).slice(0, MOST_TEXT),
    value: valueOf(element),
    attributes: Object.fromEntries([...element[own.attributes]].slice(0, MOST_ATTRIBUTES).map(
      (each) => [each.name, each.value.slice(0, MOST_TEXT)])),
    outline: outline.length > MOST_OUTLINE ? null : outline,
  };
}

// The shortest chain of tags, up from the element, that leads to it alone; through `>>>` out of
// shadow trees.
function selectorOf(element) {
  const root = element[own.getRootNode]();
  const steps = [];
  for (let node = element; node; node = node[own.parentElement]) {
    const id = node[own.id];
    const named = id ? `#${CSS.escape(id)}` : "";
    steps.unshift(named && isAlone(root, named) ? named : placedTag(node));
    const selector = steps.join(" > ");
    if (isAlone(root, selector)) return root.host ? `${selectorOf(root.host)} >>> ${selector}` : selector;
  }
  return steps.join(" > ");
}

function isAlone(root, selector) {
  return root.querySelectorAll(selector).length === 1;
}

function placedTag(node) {
  const place = placeAmongAlike(node);
  return place ? `${CSS.escape(tagOf(node))}:nth-of-type(${place})` : CSS.escape(tagOf(node));
}

// Counted from 1; 0 for the only one of its tag.
function placeAmongAlike(node) {
  const parent = node[own.parentNode];
  const alike = parent ? [...parent.children].filter((each) => tagOf(each) === tagOf(node)) : [node];
  return alike.length > 1 ? alike.indexOf(node) + 1 : 0;
}

// From the document down; none in a shadow tree, where XPath does not reach.
function xpathOf(element) {
  if (element[own.getRootNode]().host) return null;
  const steps = [];
  for (let node = element; node; node = node[own.parentElement]) {
    const place = placeAmongAlike(node);
    steps.unshift(tagOf(node) + (place ? `[${place}]` : ""));
  }
  return `/${steps.join("/")}`;
}

// The page without its texts, cut down to what lies around the element and beside it, as HTML: any
// selector can be tried on it later. The element bears `data-acted`.
function skeletonOf(element) {
  let html = enclosed(element, "", " data-acted");
  for (let node = element; html.length <= MOST_OUTLINE; node = node[own.parentElement]) {
    const parent = node[own.parentElement];
    const beside = parent || node[own.parentNode];
    const around = beside && beside.children ? [...beside.children] : [node];
    const place = around.indexOf(node);
    const [before, after] = [around.slice(0, place), around.slice(place + 1)];
    html = before.map(besides).join("") + html + after.map(besides).join("");
    if (!parent) break;
    html = enclosed(parent, html, "");
  }
  return html;
}

function enclosed(node, inner, mark) {
  const attributes = [...node[own.attributes]].map((each) => ` ${each.name}="${quoted(each.value)}"`).join("");
  return tagged(tagOf(node), attributes + mark, inner);
}

function besides(node) {
  const kept = ["id", "class"].filter((name) => node[own.hasAttribute](name));
  return tagged(tagOf(node), kept.map((name) => ` ${name}="${quoted(node[own.getAttribute](name))}"`).join(""), "");
}

function tagged(tag, attributes, inner) {
  return EMPTY_TAGS.test(tag) ? `<${tag}${attributes}>` : `<${tag}${attributes}>${inner}</${tag}>`;
}

function quoted(value) {
  return value.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");
}
