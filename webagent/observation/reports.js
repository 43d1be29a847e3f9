// What the page's own world reports to this one: who listens for the mouse, what canvases show.

const LISTENING = new WeakSet();
const PAINTED = new WeakMap();

function hearListeners(signal) {
  document.addEventListener(signal, (event) => {
    event.stopImmediatePropagation();
    if (event.relatedTarget) LISTENING.add(event.relatedTarget);
    for (const range of CSS.highlights.get(signal) || []) hearOf(range.startContainer);
  }, true);
}

function hearOf(node) {
  if (node instanceof ShadowRoot) keepShadow(node);
  else LISTENING.add(node);
}

function hearCanvases(signal) {
  document.addEventListener(signal, (event) => {
    event.stopImmediatePropagation();
    const before = PAINTED.get(event.target) || [];
    PAINTED.set(event.target, event.detail ? [...before, event.detail] : []);
  }, true);
}
