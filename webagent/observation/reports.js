// What the page's own world reports to this one: who listens for what, what canvases show.

const FOR_KEYS = 4;
const FOR_WHEEL = 8;
const FOR_INTERNALS = 16;
const FOR_CLIPBOARD = 32;
// Listeners in the page's source, which no script of the page put there.
const HEARS_MOUSE = `auxclick click contextmenu dblclick drop mousedown mouseenter mouseup pointerdown
  pointerenter pointerup touchend touchstart wheel`.split(/\s+/).map((type) => `[on${type}]`).join();
const HEARS_KEYS = "[onkeydown], [onkeypress], [onkeyup]";
// Whether for clicks (1), for presses, with which drags begin (2), or both (3).
const LISTENING = new WeakMap();
// Which listen for keys.
const KEYED = new WeakSet();
const PAINTED = new WeakMap();
// By custom element: what it says of itself out of sight, by the attributes that would say so.
const INTERNALS = new WeakMap();
let speaking = null;

function hearListeners(signal) {
  document.addEventListener(signal, (event) => {
    event.stopImmediatePropagation();
    if (typeof event.detail === "string") return noteInternals(speaking, event.detail);
    if (event.detail === FOR_CLIPBOARD) unsaid.add("the page may not read the clipboard; in a field, Control+v pastes");
    if (event.relatedTarget) noteListening(event.relatedTarget, event.detail);
    for (const range of CSS.highlights.get(signal) || []) hearOf(range.startContainer, event.detail);
  }, true);
}

function hearOf(node, what) {
  if (what === FOR_INTERNALS) speaking = node;
  else if (node instanceof ShadowRoot) keepShadow(node);
  else noteListening(node, what);
}

function noteListening(element, what) {
  if (what === FOR_KEYS) return void KEYED.add(element);
  LISTENING.set(element, (LISTENING.get(element) || 0) | what);
}

// From the first such element on, what elements say so is read with their attributes.
let readAttribute = null;

function noteInternals(element, said) {
  const [, name, value] = /^(?:aria)?(\w+)=(.*)$/s.exec(said);
  if (!INTERNALS.has(element)) INTERNALS.set(element, new Map());
  INTERNALS.get(element).set(name === "role" ? name : `aria-${name.toLowerCase()}`, value || null);
  if (readAttribute) return;
  readAttribute = Element.prototype[own.getAttribute];
  Element.prototype[own.getAttribute] = function (attribute) {
    return readAttribute.call(this, attribute) ?? INTERNALS.get(this)?.get(attribute) ?? null;
  };
}

function hearCanvases(signal) {
  document.addEventListener(signal, (event) => {
    event.stopImmediatePropagation();
    const before = PAINTED.get(event.target) || [];
    PAINTED.set(event.target, event.detail ? [...before, event.detail] : []);
  }, true);
}
