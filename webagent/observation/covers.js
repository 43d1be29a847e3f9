// What lies in front of what: dialogs that shut the page off, and overlays painted over elements.

// A cover hardly larger than what it covers is more often a part of it: a drawn tick over the browser's
// own, a label over its field.
const COVER_RATIO = 4;
// Fields of a pixel are how built widgets take keys.
const LEAST_AREA = 16;

function isPaintedOver(element, box, ignore) {
  if (box[2] * box[3] < LEAST_AREA) return false;
  const [scroller, frame] = [scrollerOf(element), frameAround(element)];
  let cover = null;
  for (const [x, y] of samplesOf(box)) {
    if (x < frame.left || y < frame.top || x >= frame.right || y >= frame.bottom) continue;
    const found = elementAt(x, y);
    cover = found && coverIn(found, element, box[2] * box[3], ignore);
    if (!cover || (scroller && canScrollOut(box, scroller, cover))) return false;
  }
  return cover !== null;
}

// What is seen of the part of the page in which an element scrolls: outside of it, nothing covers it.
function frameAround(element) {
  const frame = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  for (let node = scrollerOf(element); node && node !== document.scrollingElement; node = scrollerOf(node)) {
    const box = node[own.getBoundingClientRect]();
    for (const side of ["left", "top"]) frame[side] = Math.max(frame[side], box[side]);
    for (const side of ["right", "bottom"]) frame[side] = Math.min(frame[side], box[side]);
  }
  return frame;
}

// Whether scrolling up or down brings an element out from behind what stays where it is, as a page's header does.
function canScrollOut([, top, , height], scroller, cover) {
  let fixed = cover;
  while (fixed && fixed !== scroller && !/^(fixed|sticky)$/.test(getComputedStyle(fixed).position)) fixed = flatParent(fixed);
  if (!fixed || fixed === scroller) return false;
  const isPage = scroller === document.scrollingElement;
  const { top: start, bottom: end } = isPage ? { top: 0, bottom: innerHeight } : scroller[own.getBoundingClientRect]();
  const over = fixed[own.getBoundingClientRect]();
  const [above, below] = [scroller[own.scrollTop], scroller[own.scrollHeight] - scroller[own.clientHeight] - scroller[own.scrollTop]];
  return (end - over.bottom >= height && above >= over.bottom - top) || (over.top - start >= height && below >= top + height - over.top);
}

function samplesOf([left, top, width, height]) {
  const at = (x, y) => [left + width * x, top + height * y];
  return [at(0.5, 0.5), at(0.1, 0.2), at(0.9, 0.2), at(0.1, 0.8), at(0.9, 0.8)];
}

// What opaque and large, from this element up to where both meet, hides the other; null where nothing does.
function coverIn(cover, element, area, ignore) {
  if (ignore && cover[own.closest](ignore)) return null;
  const around = new Set();
  for (let node = element; node; node = flatParent(node)) around.add(node);
  if (labelsFor(element).some((label) => label[own.contains](cover))) return null;
  for (let node = cover; node; node = flatParent(node)) {
    if (around.has(node)) return null;
    const box = node[own.getBoundingClientRect]();
    if (box.width * box.height >= COVER_RATIO * area && isOpaque(node)) return node;
  }
  return null;
}

function isOpaque(element) {
  const style = getComputedStyle(element);
  if (style.opacity < 0.9) return false;
  if (/^(img|video|canvas|iframe)$/.test(tagOf(element))) return true;
  const match = /rgba\(.*[,/] *([\d.]+)\)/.exec(style.backgroundColor);
  return !match || Number(match[1]) >= 0.9;
}

// What must be dealt with before anything else, in reading order; nothing where the page is free. A dialog
// that the browser keeps in front, one that says so itself and has every point of the page behind it, or
// all that lies on a translucent sheet over the window, if there is something to act on.
function layersInFront() {
  const native = [...document.querySelectorAll("dialog:modal")].pop();
  if (native) return [native];
  const modal = [...document.querySelectorAll("[aria-modal=true]")].reverse().find((each) => canBeSeen(each) && shutsOff(each));
  return modal ? [modal, ...inFrontOf(modal)] : layersOnSheet();
}

// What a page puts at its end to lie in front of all else, as it does with the list of a field in a dialog.
function inFrontOf(layer) {
  const ends = [...document.body[own.children]].flatMap((end) => (hasSize(end) ? [end] : [...end[own.children]]));
  return ends.filter((end) => {
    const { left, top, width, height } = end[own.getBoundingClientRect]();
    const found = width * height && !end[own.contains](layer) && !isBackdrop(end) && elementAt(left + width / 2, top + height / 2);
    return found && end[own.contains](found);
  });
}

const SHARES = [0.05, 0.35, 0.65, 0.95]; // of the window's width and height: the points that are looked at
const FINER_SHARES = [...SHARES, 0.2, 0.5, 0.8];
const OPPOSITE_CORNERS = [0.05, 0.95]; // a drawer leaves one of them free

function layersOnSheet() {
  const sheet = OPPOSITE_CORNERS.map(sheetAt).find(Boolean);
  if (!sheet) return [];
  const layers = new Set(sheet[own.querySelector](CONTROLS) ? [sheet] : []);
  for (const x of FINER_SHARES) for (const y of FINER_SHARES) layers.add(layerOf(elementAt(innerWidth * x, innerHeight * y), sheet));
  layers.delete(null);
  for (const end of inFrontOf(sheet)) if (![...layers].some((layer) => layer[own.contains](end))) layers.add(end);
  const isBefore = (one, other) => one[own.compareDocumentPosition](other) & Node.DOCUMENT_POSITION_FOLLOWING;
  const hasControl = [...layers].some((layer) => layer[own.querySelector](CONTROLS));
  return hasControl ? [...layers].sort((one, other) => (isBefore(one, other) ? -1 : 1)) : [];
}

// The translucent sheet at the corner of the window, under nothing but what fills the window as well.
function sheetAt(share) {
  const [x, y] = [innerWidth * share, innerHeight * share];
  const top = elementAt(x, y);
  if (!top || !isBackdrop(top)) return null;
  for (const element of document.elementsFromPoint(x, y)) {
    if (!isBackdrop(element)) return null;
    if (isTranslucent(element)) return element;
  }
  return null;
}

function isTranslucent(element) {
  const style = getComputedStyle(element);
  const [, alpha = "1"] = /rgba\(.*[,/] *([\d.]+)\)/.exec(style.backgroundColor) || [];
  const opacity = Number(alpha) * Number(style.opacity);
  return opacity > 0.05 && opacity < 0.95;
}

// The outermost element around a point in front of a sheet that does not hold the sheet; the sheet itself
// for what is in it.
function layerOf(found, sheet) {
  const around = new Set();
  for (let node = sheet; node; node = flatParent(node)) around.add(node);
  let layer = found;
  while (layer && !around.has(layer) && flatParent(layer) && !around.has(flatParent(layer))) layer = flatParent(layer);
  return layer && flatParent(layer) === sheet ? sheet : around.has(layer) ? null : layer;
}

function shutsOff(dialog) {
  for (const x of SHARES) {
    for (const y of SHARES) {
      const found = elementAt(innerWidth * x, innerHeight * y);
      if (!found || found === document.body || found === document.documentElement) return false;
      if (!dialog[own.contains](found) && !found[own.contains](dialog) && !isBackdrop(found)) return false;
    }
  }
  return true;
}

function isBackdrop(element) {
  const box = element[own.getBoundingClientRect]();
  return getComputedStyle(element).position === "fixed" && box.width >= 0.9 * innerWidth && box.height >= 0.9 * innerHeight;
}

const CONTROLS = "a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [tabindex='0']";

function behind(layers) {
  const all = document.querySelectorAll(CONTROLS).length;
  return layers.reduce((left, layer) => left - layer[own.querySelectorAll](CONTROLS).length, all);
}

function elementAt(x, y) {
  let found = document.elementFromPoint(x, y);
  while (found && shadowOf(found)) {
    const inner = shadowOf(found).elementFromPoint(x, y);
    if (!inner || inner === found) break;
    found = inner;
  }
  return found;
}

// Whether something else has come to lie under the mouse, and the page has not been told yet.
// (In quirks mode a bare `:hover` matches links alone.)
function hasLostMouse(x, y) {
  const found = elementAt(x, y);
  return Boolean(found) && !found[own.matches](":is(:hover)");
}
