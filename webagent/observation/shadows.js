// Shadow trees, also those that their page closed: which there are, and the way up out of them.

const CLOSED = new WeakMap();
const LOOKED_INTO = new WeakSet();
const HOLLOW = new Set();
// The shadow trees that the last look went through.
let SHADOWS = [];
const HOSTS = /^(article|aside|blockquote|body|div|footer|h[1-6]|header|main|nav|p|section|span)$/;
const MOST_HOLLOW = 20;

function shadowOf(element) {
  return element[own.shadowRoot] || CLOSED.get(element) || null;
}

function keepShadow(root) {
  CLOSED.set(root.host, root);
}

// The parent on the screen: of what is put into a slot the slot, of a shadow tree its host.
function flatParent(node) {
  const parent = node[own.parentElement];
  const shadow = parent && shadowOf(parent);
  if (!shadow) return parent || node[own.getRootNode]().host || null;
  if (node[own.assignedSlot]) return node[own.assignedSlot];
  return [...shadow.querySelectorAll("slot")].find((slot) => slot.assignedNodes().includes(node)) || parent;
}

// A closed tree that came with the page's source is told of by nobody. What gives it away: its host
// is higher than what is in it, or has children that are not on the screen. The browser knows.
function noteHollow(element, style) {
  if (HOLLOW.size >= MOST_HOLLOW || LOOKED_INTO.has(element) || shadowOf(element)) return;
  if (isHollow(element, style)) HOLLOW.add(element);
}

function isHollow(element, style) {
  if (tagOf(element).includes("-")) return true;
  if (!HOSTS.test(tagOf(element))) return false;
  if (element[own.firstElementChild]) return getComputedStyle(element[own.firstElementChild]).display === "";
  if (clean(element[own.textContent]) || element[own.clientHeight] < 8 || style.position === "absolute") return false;
  if (!/^(block|flow-root)$/.test(style.display) || style.minHeight !== "0px") return false;
  if (parseFloat(style.paddingTop) + parseFloat(style.paddingBottom) >= element[own.clientHeight]) return false;
  if (/flex|grid/.test(getComputedStyle(flatParent(element)).display)) return false;
  if (style.aspectRatio !== "auto" || hasPseudo(element)) return false;
  return String(element[own.computedStyleMap]().get("height")) === "auto";
}

function hasPseudo(element) {
  return ["::before", "::after"].some((part) => getComputedStyle(element, part).content !== "none");
}

function takeHollow() {
  const found = [...HOLLOW];
  HOLLOW.clear();
  for (const element of found) LOOKED_INTO.add(element);
  return found;
}
