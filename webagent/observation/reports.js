// What the page's own world reports to this one: who listens for the mouse, what canvases show.

// Whether for clicks (1), for presses, with which drags begin (2), or both (3).
const LISTENING = new WeakMap();
const PAINTED = new WeakMap();

function hearListeners(signal) {
  document.addEventListener(signal, (event) => {
    event.stopImmediatePropagation();
    if (event.relatedTarget) noteListening(event.relatedTarget, event.detail);
    for (const range of CSS.highlights.get(signal) || []) hearOf(range.startContainer, event.detail);
  }, true);
}

function hearOf(node, what) {
  if (node instanceof ShadowRoot) keepShadow(node);
  else noteListening(node, what);
}

function noteListening(element, what) {
  LISTENING.set(element, (LISTENING.get(element) || 0) | what);
}

function hearCanvases(signal) {
  document.addEventListener(signal, (event) => {
    event.stopImmediatePropagation();
    const before = PAINTED.get(event.target) || [];
    PAINTED.set(event.target, event.detail ? [...before, event.detail] : []);
  }, true);
}
