// Frames: where the rows of another document belong, and how its points lie in this one.

const FRAME_KEYS = new WeakMap();
const FRAMES = new Map();

const EMBEDS = /^(iframe|frame|object|embed)$/;

// What the browser without a window shows nothing of, such as a PDF; an `object` shows what is in it instead.
function embedded(element) {
  const address = element.src || element.data;
  if (!address || (tagOf(element) === "embed" && !hasSize(element))) return "";
  const isPdf = /pdf$/i.test(element.type || address.split(/[?#]/)[0]);
  return ` ${isPdf ? "PDF" : "embedded"} ${address.slice(0, 200)}: goto opens it `;
}

function keyOfFrame(frame) {
  if (!FRAME_KEYS.has(frame)) {
    FRAME_KEYS.set(frame, FRAMES.size + 1);
    FRAMES.set(FRAMES.size + 1, new WeakRef(frame));
  }
  return FRAME_KEYS.get(frame);
}

// The fields of `Hole` in frames.py. Windows can be told apart across origins, documents cannot.
function holeOf(frame, isFocused) {
  const [[left, top], [scaleX, scaleY]] = [innerCorner(frame), scaleOf(frame)];
  return {
    left, top, scaleX, scaleY, isFocused,
    key: keyOfFrame(frame), index: placeOf(window, frame.contentWindow, frame),
    title: clean(frame[own.getAttribute]("title") || frame[own.getAttribute]("aria-label") || frame.name),
  };
}

function indexOf(parent, child) {
  for (let index = 0; index < parent.length; index++) if (parent[index] === child) return index;
  return -1;
}

// A frame in a shadow tree is not among them; its parent's key for it, below zero, stands for its place.
// One of another origin cannot learn that, and its place is -1.
function placeOf(parent, child, frame) {
  const index = indexOf(parent, child);
  if (index >= 0 || !frame) return index;
  return -1 - (parent === window ? keyOfFrame(frame) : parent.webagent.keyOfFrame(frame));
}

// The way from the top to this document, as places among each parent's frames.
function pathFromTop() {
  const path = [];
  for (let view = window; view !== view.parent; view = view.parent) path.unshift(placeOf(view.parent, view, elementOf(view)));
  return path;
}

function elementOf(view) {
  try {
    return view.frameElement && view.parent.webagent ? view.frameElement : null;
  } catch (error) {
    return null; // of another origin
  }
}

function scaleOf(frame) {
  const box = frame[own.getBoundingClientRect]();
  return [box.width / (frame[own.offsetWidth] || 1) || 1, box.height / (frame[own.offsetHeight] || 1) || 1];
}

function innerCorner(frame) {
  const [box, style, [scaleX, scaleY]] = [frame[own.getBoundingClientRect](), getComputedStyle(frame), scaleOf(frame)];
  return [
    box.left + (frame[own.clientLeft] + parseFloat(style.paddingLeft)) * scaleX,
    box.top + (frame[own.clientTop] + parseFloat(style.paddingTop)) * scaleY,
  ];
}

// For those who look at several documents at once: what a frame of the same origin shows, and what is
// known in it. One that our scripts have not reached yet shows nothing.
function frameBody(frame) {
  return frame.contentDocument && frame.contentWindow.webagent ? frame.contentDocument.body : null;
}

function knownMark(element) {
  if (element[own.ownerDocument] === document) return MARKS.get(element) || 0;
  const there = element[own.ownerDocument].defaultView && element[own.ownerDocument].defaultView.webagent;
  return there ? Math.max(0, there.knownMark(element)) : 0;
}

// Its box in the viewport of this document.
function boxOnPage(element) {
  const { left, top, width, height } = element[own.getBoundingClientRect]();
  let [x, y] = [left, top];
  let view = element[own.ownerDocument].defaultView;
  for (; view && view !== window && view.frameElement; view = view.parent) {
    const [corner, scale] = [innerCorner(view.frameElement), scaleOf(view.frameElement)];
    [x, y] = [corner[0] + x * scale[0], corner[1] + y * scale[1]];
  }
  return [x, y, width, height].map(Math.round);
}
