// Finding the point of an element that a mouse would hit, and preparing elements for input. An
// option of a drop-down list has no point of its own: it answers with its label.

// `most` is how many points to answer with, for a frame of which something outside may cover a part.
function locate(mark, most = 1) {
  const element = byMark(mark);
  if (!element) return { error: `no element ${mark} on this page` };
  if (!element[own.isConnected]) return { error: `element ${mark} is gone from the page` };
  if (element[own.matches](":disabled")) return { error: `element ${mark} is disabled` };
  if (tagOf(element) === "option") return { option: element.label };
  const holder = canBeSeen(element) ? null : holderAround(element);
  if (holder) return { ...placeOver(holder), isHolder: true };
  if (!canBeSeen(element)) return { error: `element ${mark} is hidden` };
  const isSeen = isInView(element);
  if (!isSeen) bringToMiddle(element);
  let { points, hit } = reachable(element, most);
  if (!points.length && isSeen) {
    bringToMiddle(element); // out from behind a header, for one, that stays where it is
    ({ points, hit } = reachable(element, most));
  }
  const cutting = points.length ? null : holderAround(element);
  if (cutting) return { ...placeOver(cutting), isHolder: true };
  if (points.length) return { ...points[0], ...(most > 1 ? { points } : {}) };
  return { error: hit ? `element ${mark} is covered by ${calling(hit)}` : `element ${mark} is outside the page` };
}

// Where the mouse has to be for something to come up: on the element itself, best not on a control in it.
function placeOver(holder) {
  if (!isInView(holder)) bringToMiddle(holder);
  const [left, top, width, height] = boxOf(holder);
  return reachable(holder, 1).points[0] || { x: left + width / 2, y: top + height / 2 };
}

function bringToMiddle(element) {
  const hasBox = element[own.getClientRects]().length > 0;
  const shown = hasBox ? element : tagOf(element) === "area" ? imageOf(element) : element[own.children][0] || flatParent(element);
  shown[own.scrollIntoView]({ block: "center", inline: "center", behavior: "instant" });
}

// The first points of an element that reach it, and what lies over it where one does not.
function reachable(element, most) {
  const points = [];
  let hit = null;
  for (const [x, y] of placesOf(element)) {
    const found = elementAt(x, y);
    if (reaches(element, found) || isPartOfItsWidget(found, element)) {
      points.push({ x, y, isPicture: getComputedStyle(found).content.includes("url(") });
      if (points.length === most) break;
    } else hit = hit || found;
  }
  return { points, hit };
}

const LEADS = /(^|[\s_-])(handle|grip)(?=[\s_-]|$)/i;
const MOST_HANDLES = 50;

// What an element is dragged by: itself, or a part of it that is drawn or called as a handle.
function handleOf(mark) {
  const element = byMark(mark);
  const isHandle = (each) => LEADS.test(classOf(each)) || /^(grab|move)$/.test(getComputedStyle(each).cursor);
  if (!element || element[own.draggable] || isHandle(element)) return { mark };
  const handle = [...element[own.querySelectorAll]("*")].slice(0, MOST_HANDLES).find((each) => isHandle(each) && canBeSeen(each));
  return { mark: handle ? markOf(handle) : mark };
}

// Where to let go of what is dragged onto an element: its middle, whatever lies there. With `brings` it is
// scrolled to, as a person does who holds something that belongs further down.
function middleOf(mark, brings) {
  const element = byMark(mark);
  if (!element || !element[own.isConnected]) return { error: `element ${mark} is gone from the page` };
  if (!canBeSeen(element)) return { error: `element ${mark} is hidden` };
  const isSeen = isInView(element);
  if (brings && !isSeen) bringToMiddle(element);
  const [left, top, width, height] = boxOf(element);
  return { x: left + width / 2, y: top + height / 2, isSeen };
}

function isInView(element) {
  const box = rectOf(element);
  if (box.top < 0 || box.left < 0 || box.bottom > innerHeight || box.right > innerWidth) return false;
  for (let parent = flatParent(element); parent; parent = flatParent(parent)) {
    if (parent[own.scrollHeight] <= parent[own.clientHeight] || parent === document.body) continue;
    const frame = parent[own.getBoundingClientRect]();
    if (box.top < frame.top || box.bottom > frame.bottom) return false;
  }
  return true;
}

// The centre first, then ever finer grids, then the middle of each line of a broken link. Points on
// the element itself come before points on controls that lie inside it.
function* pointsOf(element) {
  const points = [...gridOf(element)];
  const inner = [];
  for (const point of points) {
    const found = elementAt(...point);
    if (found && found !== element && element[own.contains](found) && hasOwnMark(found, element)) inner.push(point);
    else yield point;
  }
  yield* inner;
}

function hasOwnMark(found, element) {
  for (let node = found; node && node !== element; node = node[own.parentElement]) {
    if (MARKS.has(node)) return true;
  }
  return false;
}

function* gridOf(element) {
  const boxes = [...element[own.getClientRects]()];
  if (isShape(element) && element.getPointAtLength && element.getTotalLength() > 0) {
    boxes.push(...outlineOf(element));
  }
  const whole = rectOf(element);
  if (!boxes.length) boxes.push(whole);
  for (const box of boxes) yield [box.left + box.width / 2, box.top + box.height / 2];
  for (const n of [3, 5, 9]) {
    for (let row = 0; row < n; row++) {
      for (let column = 0; column < n; column++) {
        yield [whole.left + (whole.width * (column + 0.5)) / n, whole.top + (whole.height * (row + 0.5)) / n];
      }
    }
  }
}

// A line or an open path is hit on its stroke only.
function* outlineOf(shape) {
  const matrix = shape.getScreenCTM();
  for (const share of [0.5, 0.25, 0.75, 0.1, 0.9]) {
    const point = shape.getPointAtLength(shape.getTotalLength() * share).matrixTransform(matrix);
    yield { left: point.x, top: point.y, width: 0, height: 0 };
  }
}

// An element's own points, then those of its labels: a page may hide a tick and draw it in the label.
function* placesOf(element) {
  yield* pointsOf(element);
  for (const label of labelsFor(element)) if (canBeSeen(label)) yield* gridOf(label);
}

// Whether what lies over a field is a mere part of the widget around both, as the words of a list that
// the page builds are: a click there is the widget's.
function isPartOfItsWidget(found, element) {
  let widget = flatParent(element);
  while (widget && !MARKS.has(widget)) widget = flatParent(widget);
  if (!found || !widget) return false;
  for (let node = found; node; node = flatParent(node)) {
    if (node === widget) return true;
    if (MARKS.has(node)) return false;
  }
  return false;
}

function reaches(element, found) {
  if (!found) return false;
  for (let node = found; node; node = flatParent(node)) {
    if (node === element) return true;
    if (tagOf(node) === "label" && node.control === element) return true;
  }
  return false;
}

function calling(element) {
  const text = clean(element[own.textContent]).slice(0, 30);
  const tag = tagOf(element) + (element[own.id] ? "#" + element[own.id] : "");
  return text ? `${tag} "${text}"` : tag;
}

// Readies a field for typing: focused, with all of its text selected. Answers how to go on.
function readyToFill(mark, text) {
  const element = byMark(mark);
  if (!element || !element[own.isConnected]) return { error: `element ${mark} is gone from the page` };
  if (!isTextField(element) && !["range", "color"].includes(element.type)) {
    const scale = sliderScale(element);
    if (scale && Number.isFinite(Number(text)) && clean(text)) {
      focusIn(element);
      return { scale: { ...scale, wanted: Number(text) } };
    }
    const isTyped = /^(text|search)box$/.test(writtenRole(element));
    return { error: `element ${mark} is not a text field${isTyped ? "; it may take keys once it is clicked" : ""}` };
  }
  if (element[own.matches](":disabled")) return { error: `element ${mark} is disabled` };
  if (asField(element).readOnly) return { error: `element ${mark} is read-only` };
  if (!canBeSeen(element)) return { error: `element ${mark} is hidden` };
  if (element.type === "number" && clean(text) && !Number.isFinite(Number(text))) return refused(element, text, mark);
  element[own.scrollIntoView]({ block: "nearest", behavior: "instant" });
  element[own.focus]();
  if (isSetWhole(element)) return setWhole(element, text, mark);
  if (asField(element).select) element.select();
  else getSelection().selectAllChildren(element);
  return { typing: true, empty: !valueOf(element) };
}

const CALLED_BY = ["id", "name", "class", "type", "aria-label", "placeholder"];

// A field that the page built anew while it was typed into, as some do at each key: what stands for it
// now is readied to take the whole text at once, where it holds a part of it. An empty one has done
// something with the text already.
function replacedField(mark, text) {
  const element = byMark(mark);
  if (!element || element[own.isConnected]) return {};
  const isAlike = (each) => CALLED_BY.every((name) => each[own.getAttribute](name) === element[own.getAttribute](name));
  const alike = [...document.body[own.querySelectorAll](tagOf(element))].filter((each) => isAlike(each) && canBeSeen(each));
  const now = alike.find((each) => each === document.activeElement) || (alike.length === 1 ? alike[0] : null);
  if (!now || !isTextField(now)) return {};
  const held = valueOf(now);
  if (!held || held === text || ![...held].every((letter) => text.includes(letter))) return {};
  now[own.focus]();
  if (asField(now).select) now.select();
  else getSelection().selectAllChildren(now);
  return { typing: true };
}

// Where a slider or counter that the page builds stands, and its ends; null for other elements.
function sliderScale(element) {
  if (!/^(slider|spinbutton)$/.test(writtenRole(element))) return null;
  const [now, least, most] = ["now", "min", "max"].map((end) => element[own.getAttribute]("aria-value" + end));
  if (!clean(now)) return null;
  return { now: Number(now), least: clean(least) ? Number(least) : null, most: clean(most) ? Number(most) : null };
}

function scaleAt(mark) {
  const element = byMark(mark);
  return (element && element[own.isConnected] && sliderScale(element)) || { error: `element ${mark} is gone from the page` };
}

// Fields whose widget does not take typed characters one by one.
function isSetWhole(element) {
  return ["color", "date", "datetime-local", "month", "range", "time", "week"].includes(element.type);
}

const FORMS = {
  color: "#ff8000", date: "2026-12-31", "datetime-local": "2026-12-31T14:30", month: "2026-12", number: "12.50",
  time: "14:30", week: "2026-W05",
};

function refused(element, text, mark) {
  const form = FORMS[element.type] ? `write it as ${FORMS[element.type]}` : `it goes from ${element.min || 0} to ${element.max || 100}`;
  return { error: `element ${mark} is a field of type ${element.type} and does not take ${text}; ${form}` };
}

async function setWhole(element, text, mark) {
  const before = element.value;
  element.value = text;
  if (element.value !== clean(text).toLowerCase() && element.value !== text) {
    element.value = before;
    return refused(element, text, mark);
  }
  const isDragged = element.type === "range"; // pages seek, or look at the result, where one lets go
  const tell = (kind, event) => element[own.dispatchEvent](new event(kind, { bubbles: true, cancelable: true }));
  if (isDragged) tell("mousedown", MouseEvent);
  tell("input", Event);
  await null; // React takes note of the value first
  tell("change", Event);
  if (isDragged) tell("mouseup", MouseEvent);
  return { typing: false };
}

function choose(mark, label) {
  const marked = byMark(mark);
  const isOption = marked && tagOf(marked) === "option";
  const element = isOption ? marked[own.closest]("select") : marked;
  if (!element || !element[own.isConnected]) return { error: `element ${mark} is gone from the page` };
  if (tagOf(element) !== "select") return { error: `element ${mark} is not a drop-down list` };
  if (element[own.matches](":disabled")) return { error: `element ${mark} is disabled` };
  const option = isOption && marked.label === label && !marked.disabled ? marked : optionOf(element, label);
  if (!option) return { error: `element ${mark} has no option ${JSON.stringify(label)}` };
  press(element);
  if (element.multiple) option.selected = !option.selected;
  else element.selectedIndex = option.index;
  element[own.dispatchEvent](new Event("input", { bubbles: true, composed: true }));
  element[own.dispatchEvent](new Event("change", { bubbles: true }));
  return {};
}

// Opens a list of the browser's own as far as its page hears of it: widgets keep open what is pressed.
function press(select) {
  const tell = (type) => select[own.dispatchEvent](new MouseEvent(type, { bubbles: true, cancelable: true, composed: true }));
  tell("mousedown");
  select[own.focus]();
  tell("mouseup");
  tell("click");
}

function optionOf(select, label) {
  const wanted = clean(label);
  const options = [...select.options].filter((option) => !option.disabled);
  return options.find((option) => clean(option.label) === wanted) ||
    options.find((option) => option.value === label) ||
    options.find((option) => clean(option.label).toLowerCase() === wanted.toLowerCase());
}

function focusOn(mark) {
  if (!mark) return {};
  const element = byMark(mark);
  if (!element || !element[own.isConnected]) return { error: `element ${mark} is gone from the page` };
  focusIn(element);
  return {};
}

// A widget that takes no focus itself has a part that takes it, such as a slider's track.
function focusIn(element) {
  element[own.focus]();
  const part = element[own.matches](":focus, :focus-within") ? null : element[own.querySelector]("[tabindex]");
  if (part) part[own.focus]();
}

function scrollOn(mark, dx, dy) {
  const element = mark ? byMark(mark) : document.scrollingElement;
  if (!element || !element[own.isConnected]) return { error: `element ${mark} is gone from the page` };
  for (let node = element; mark && node && !isScroller(node); node = flatParent(node)) {
    if ((LISTENING.get(node) & FOR_WHEEL) || node[own.matches]("[onwheel]")) return { turnsWheel: true };
  }
  let moved = element;
  while (moved && !scrolls(moved, dx, dy)) moved = flatParent(moved);
  return moved ? {} : { error: "there is nothing left to scroll that way" };
}

function isScroller(element) {
  const isLonger = element[own.scrollHeight] > element[own.clientHeight] || element[own.scrollWidth] > element[own.clientWidth];
  return isLonger && /auto|scroll/.test(getComputedStyle(element).overflow);
}

function scrolls(element, dx, dy) {
  const before = [element[own.scrollLeft], element[own.scrollTop]];
  element[own.scrollBy]({ left: dx, top: dy, behavior: "instant" });
  return before[0] !== element[own.scrollLeft] || before[1] !== element[own.scrollTop];
}

function titleOf() {
  return document.title;
}

let dragStart = null;
window.addEventListener("dragstart", (event) => { dragStart = event; }, true);

// Whether the page began a native drag and let it go on.
function dragHasStarted() {
  const started = dragStart !== null && !dragStart.defaultPrevented;
  dragStart = null;
  return started;
}
