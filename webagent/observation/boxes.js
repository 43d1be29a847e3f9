// Where elements are, and whether there is anything of them to see.

function canBeSeen(element) {
  if (tagOf(element) === "area") return Boolean(imageOf(element) && canBeSeen(imageOf(element)));
  const style = getComputedStyle(element);
  return style.display !== "none" && style.visibility === "visible" && hasSize(element);
}

function isTooSmall(drawing) {
  const box = drawing[own.getBoundingClientRect]();
  return box.width <= 2 && box.height <= 2;
}

// The rectangle of an element; of one that has no box but for what is in it, of that, and of an area of a
// picture of its shape.
function rectOf(element) {
  const box = element[own.getBoundingClientRect]();
  if (box.width || box.height || !(element instanceof HTMLElement)) return box;
  if (tagOf(element) === "area") return rectOfArea(element, imageOf(element)) || box;
  if (getComputedStyle(element).display !== "contents") return box;
  const range = document.createRange();
  range.selectNodeContents(element);
  return range.getBoundingClientRect();
}

// The picture that an area belongs to, of several the first that is seen, and the areas of a picture.
function imageOf(area) {
  const map = area[own.closest]("map");
  const images = map && map.name ? [...area[own.getRootNode]().querySelectorAll(`img[usemap="#${CSS.escape(map.name)}"]`)] : [];
  return images.find(canBeSeen) || images[0];
}

function areasOf(image) {
  const name = tagOf(image) === "img" && /^#(.+)/.exec(image.useMap);
  const map = name && image[own.getRootNode]().querySelector(`map[name="${CSS.escape(name[1])}"]`);
  return map ? [...map.areas].filter((area) => isNative(area)) : [];
}

// The browser counts an area's pixels from the corner of the border, and enlarges them as the picture is.
function rectOfArea(area, image) {
  if (!image) return null;
  const around = image[own.getBoundingClientRect]();
  const numbers = (area.coords.match(/[^\s,;]+/g) || []).map((text) => Number(text) * (image.currentCSSZoom || 1));
  const [shape, [x, y, r]] = [area.shape.slice(0, 4).toLowerCase(), numbers];
  const [xs, ys] = [numbers.filter((_, at) => at % 2 === 0), numbers.filter((_, at) => at % 2)];
  const [x0, y0, x1, y1] =
    shape === "defa" ? [0, 0, around.width, around.height]
      : shape === "circ" ? [x - r, y - r, x + r, y + r]
        : [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
  return [x0, y0, x1, y1].every(Number.isFinite) ? new DOMRect(around.left + x0, around.top + y0, x1 - x0, y1 - y0) : null;
}

function hasSize(element) {
  const box = rectOf(element);
  if (element instanceof SVGElement) return box.width > 0 || box.height > 0;
  return box.width > 0 && box.height > 0;
}

// Text for screen readers only and collapsed panels: cut down to nothing, or fully transparent.
function isCutAway(element, style) {
  if (style.opacity === "0" && (tagOf(element) !== "input" || isOnlyStored(element, style)) && !isLaidOver(element)) return true;
  if (/^(inset\((50|100)%\)|circle\(0)/.test(style.clipPath)) return true;
  if (style.overflowX === "visible" && style.overflowY === "visible") return false;
  const box = element[own.getBoundingClientRect]();
  return !(element instanceof SVGElement) && !isNative(element) && (box.width <= 1 || box.height <= 1);
}

// A transparent field that neither the mouse nor the keyboard gets to: a widget keeps its value there.
function isOnlyStored(field, style) {
  return style.pointerEvents === "none" && field[own.tabIndex] < 0 && isTextField(field);
}

// A transparent list that lies over the words which stand for it.
function isLaidOver(element) {
  if (tagOf(element) !== "select" || !hasSize(element)) return false;
  const [left, top, width, height] = boxOf(element);
  return elementAt(left + width / 2, top + height / 2) === element;
}

// Elements from a control outwards that may cut it away.
const MOST_CUTTING = 3;

// Whether a labelled control is seen itself; one that is cut away, by itself or with what is around it, is
// told of by its label.
function hasOwnLine(control) {
  if (!canBeSeen(control)) return false;
  let [node, level] = [control, 0];
  while (node && level < MOST_CUTTING && !isCutAway(node, getComputedStyle(node))) [node, level] = [flatParent(node), level + 1];
  return !node || level === MOST_CUTTING;
}

// Put where no scrolling leads, as menus are that wait beside the page.
function isOffCanvas(element) {
  const box = rectOf(element);
  if (box.right + scrollX > 0 && box.bottom + scrollY > 0) return false;
  if (getComputedStyle(document.documentElement).direction === "rtl") return false;
  for (let holder = element[own.parentElement]; holder; holder = holder[own.parentElement]) {
    if (holder[own.scrollLeft] || (holder[own.scrollTop] && holder !== document.scrollingElement)) return false;
    if (startsAtItsEnd(holder)) return false;
  }
  return true;
}

// Whether scrolling up or to the left leads to more of an element, as in a chat that shows the last words first.
function startsAtItsEnd(holder) {
  const style = getComputedStyle(holder);
  if (style.overflow === "visible" || /clip|hidden/.test(style.overflow)) return false;
  const isReversed = style.display.includes("flex") && style.flexDirection.endsWith("reverse");
  const isDeeper = holder[own.scrollHeight] > holder[own.clientHeight], isWider = holder[own.scrollWidth] > holder[own.clientWidth];
  if (isDeeper && isReversed && style.flexDirection.startsWith("column")) return true;
  return isWider && (style.direction === "rtl" || isReversed || style.writingMode === "vertical-rl");
}

// Cut off entirely by something around it, as the slides of a carousel are that are not its turn.
function isClipped(element) {
  const box = element[own.getBoundingClientRect]();
  for (let holder = flatParent(element); holder && holder !== document.body; holder = flatParent(holder)) {
    if (getComputedStyle(holder).overflowX === "visible") continue;
    const around = holder[own.getBoundingClientRect]();
    if (box.right <= around.left || box.left >= around.right) return true;
    if (box.bottom <= around.top || box.top >= around.bottom) return true;
  }
  return false;
}

// The nearest element around another that a user can scroll, or the page; null for what stays where it is.
function scrollerOf(element) {
  for (let node = element; node && node !== document.body; node = flatParent(node)) {
    const style = getComputedStyle(node);
    const isLonger = node[own.scrollHeight] > node[own.clientHeight] || node[own.scrollWidth] > node[own.clientWidth];
    if (node !== element && isLonger && /auto|scroll/.test(style.overflow)) return node;
    if (style.position === "fixed") return null;
  }
  return document.scrollingElement;
}

// Boxes are in the viewport of their own document.
function toBox(rect) {
  return [rect.left, rect.top, rect.width, rect.height].map(Math.round);
}

function boxOf(element) {
  return toBox(rectOf(element));
}

function boxOfText(node, start, end) {
  const range = document.createRange();
  range.setStart(node, start);
  range.setEnd(node, end);
  const rect = range.getBoundingClientRect();
  return rect.width > 0 && rect.height > 0 ? toBox(rect) : null;
}

// The boxes of lines of one height that fill a box from top to bottom; none where the box is nothing.
function linesWithin(box, count) {
  const height = box && box[3] / count;
  return Array.from({ length: box ? count : 0 }, (_, index) => [
    box[0], Math.round(box[1] + index * height), box[2], Math.round(height),
  ]);
}

function union(a, b) {
  if (!a) return b;
  const [left, top] = [Math.min(a[0], b[0]), Math.min(a[1], b[1])];
  const right = Math.max(a[0] + a[2], b[0] + b[2]);
  const bottom = Math.max(a[1] + a[3], b[1] + b[3]);
  return [left, top, right - left, bottom - top];
}
