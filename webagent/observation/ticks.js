// Tick boxes that a component draws: the field that keeps the tick out of sight, or only the drawing.

const TICKED_ROLES = /^(checkbox|radio|switch|menuitemcheckbox|menuitemradio)$/;
const TICKS = "input[type=checkbox], input[type=radio]";
const DRAWN_TICK = /(?:^|[\s_-])(check-?box|radio)(?=[\s_-]|$)/i;
const DRAWN_TICKED = /(?:^|[\s_-])(checked|marked)(?=[\s_-]|$)/i;
// Elements from the drawing outwards, or in it, that are looked at.
const MOST_AROUND_TICK = 3;

// What a label stands for, where that is to act on and not to read, as an `output` is.
function labelled(element) {
  const control = tagOf(element) === "label" && element.control;
  return control && (isNative(control) || isInteractive(control, getComputedStyle(control))) ? control : null;
}

// The field that an element to click is drawn for, in it or beside it, and which nobody sees or labels.
function tickBehind(element) {
  if (!(element instanceof HTMLElement) || isNative(element) || writtenRole(element)) return null;
  const isEmpty = !clean(element[own.textContent]);
  for (let [holder, level] = [element, 0]; holder && level < (isEmpty ? MOST_AROUND_TICK : 1); holder = holder[own.parentElement], level++) {
    const fields = holder[own.querySelectorAll]("input:not([type=hidden]), select, textarea, button");
    if (!fields.length) continue;
    const [field] = fields;
    return fields.length === 1 && field[own.matches](TICKS) && !hasOwnLine(field) && !labelsFor(field).some(canBeSeen) ? field : null;
  }
  return null;
}

// `checkbox` or `radio`, and whether it is ticked, of an element without words that is drawn and called as one.
function drawnTick(element) {
  if (!(element instanceof HTMLElement) || !/^(|button)$/.test(writtenRole(element)) || clean(element[own.textContent])) return null;
  if (element[own.hasAttribute]("aria-pressed") || (isNative(element) && tagOf(element) !== "button")) return null;
  const parts = [element, ...element[own.querySelectorAll]("*")].slice(0, MOST_AROUND_TICK);
  const words = parts.map(classOf).join(" ");
  const [, kind] = DRAWN_TICK.exec(words) || [];
  return kind ? { role: /^r/i.test(kind) ? "radio" : "checkbox", isTicked: DRAWN_TICKED.test(words) } : drawnSwitch(element);
}

// A switch that is drawn as one: a round knob at one end of a flat track with round ends, the element or all
// that is in it.
function drawnSwitch(element) {
  const fills = ([only, ...others]) => only && !others.length && only[own.offsetHeight] === element[own.offsetHeight];
  const track = fills(element[own.children]) ? element[own.children][0] : element;
  const [box, style] = [track[own.getBoundingClientRect](), getComputedStyle(track)];
  const shape = box.width / box.height;
  if (box.height < 10 || box.height > 44 || shape < 1.3 || shape > 3 || !isRound(style, box.height)) return null;
  const middle = knobsOf(track, box).map((knob) => knob.left + knob.width / 2 - box.width / 2);
  if (middle.length !== 1 || Math.abs(middle[0]) < box.width / 12) return null;
  return { role: "switch", isTicked: middle[0] > 0 === (style.direction !== "rtl") };
}

// The round parts of about a track's height, by their place in it.
function knobsOf(track, box) {
  const parts = [...track[own.querySelectorAll]("*")].slice(0, MOST_AROUND_TICK).map((part) => {
    const { left, width, height } = part[own.getBoundingClientRect]();
    return { left: left - box.left, width, height, style: getComputedStyle(part) };
  });
  for (const pseudo of ["::before", "::after"]) {
    const style = getComputedStyle(track, pseudo);
    if (style.content === "none") continue;
    const moved = new DOMMatrix(style.transform === "none" ? "" : style.transform).e;
    parts.push({ left: parseFloat(style.left) + moved, width: parseFloat(style.width), height: parseFloat(style.height), style });
  }
  const isKnob = ({ width, height, style }) =>
    height > box.height / 2 && Math.abs(width - height) < height / 4 && width < box.width * 0.7 && isRound(style, height);
  return parts.filter(isKnob);
}

function isRound(style, height) {
  const [radius] = style.borderTopLeftRadius.split(" ");
  return parseFloat(radius) * (radius.endsWith("%") ? height / 100 : 1) >= height / 3;
}

// The words that begin the row of a switch: the first around it, where the row is not much higher and has no
// other box to tick.
function switchLabel(element) {
  const most = Math.max(120, 4 * element[own.offsetHeight]);
  for (let [holder, level] = [element[own.parentElement], 0]; holder && level < 4; holder = holder[own.parentElement], level++) {
    if (holder[own.offsetHeight] > most || holder[own.querySelectorAll](TICKS).length > 1) return "";
    const words = textNodes(holder).map((node) => clean(node.data)).find((text) => /\p{L}/u.test(text));
    if (words) return shortly(words, "");
  }
  return "";
}

// Whether an element is how a component draws the tick of a transparent field that lies over it.
function drawsTick(element) {
  if (!(element instanceof HTMLElement) || isNative(element) || writtenRole(element) || clean(element[own.textContent])) return false;
  for (let [holder, level] = [element[own.parentElement], 0]; holder && level < MOST_AROUND_TICK; holder = holder[own.parentElement], level++) {
    const fields = holder[own.querySelectorAll](TICKS);
    if (fields.length > 1) return false;
    if (fields.length) return isTransparent(fields[0]) && liesOver(fields[0], element);
  }
  return false;
}

function isTransparent(element) {
  return getComputedStyle(element).opacity === "0";
}

function liesOver(one, other) {
  const [a, b] = [one[own.getBoundingClientRect](), other[own.getBoundingClientRect]()];
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

// What tells a row of a table from the others: its first cell with words and without a control.
function rowWords(element) {
  if (element[own.closest]("th, thead, [role=columnheader]")) return "all rows";
  const row = element[own.closest]("tr, [role=row]");
  const hasWords = (cell) => /\p{L}{2}/u.test(cell[own.textContent]) && !cell[own.contains](element);
  const isPlain = (cell) => !cell[own.querySelector]("button, input, select, textarea, table, [role=button]");
  const cell = row && [...row[own.children]].find((each) => hasWords(each) && isPlain(each));
  const words = cell ? visibleText(cell) : "";
  if (!words || words.length > LONGEST_CELL) return "";
  return row[own.querySelectorAll](TICKS).length > 1 ? clean(`${words} ${columnHeader(element)}`) : words;
}
