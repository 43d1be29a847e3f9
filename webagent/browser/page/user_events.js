// What a person does in this document, reported as it happens and before the page hears of it: only
// what the browser itself says was done by hand, never what a page has made up.

const SECRET_AUTOCOMPLETE = /^(current-password|new-password|one-time-code|cc-number|cc-csc)$/;
const LONE_KEYS = new Set(["Alt", "AltGraph", "CapsLock", "Control", "Dead", "Fn", "Meta", "NumLock", "Process", "Shift", "Unidentified"]);
const UNREAD_FROM = 100000; // marks of a document in which something is done before it was looked at
const CHANGED_MS = 300;
const SCROLLED_MS = 100;
const BY_HAND_MS = 1000;
const MOST_HOVERED = 8;
const SECRET_FIELDS = new WeakSet();
let emit = null;
let typingIn = null;
let hovered = [];
let scrolledAt = -SCROLLED_MS;
const scrolled = new Map(); // how far each scroller went since that was last reported

function reportUserEvents(name) {
  if (emit || !globalThis[name]) return;
  const binding = globalThis[name];
  emit = (what, said) => {
    if (what !== "scrolled") emitScrolled();
    binding(JSON.stringify({ what, url: location.href, ...said }));
  };
  const listen = (type, handler) => window.addEventListener(type, (event) => event.isTrusted && handler(event), { capture: true, passive: true });
  listen("pointerdown", onPointerDown);
  listen("pointerup", (event) => emit("up", spotOf(event)));
  listen("dblclick", (event) => emit("double", spotOf(event)));
  listen("drop", (event) => emit("dropped", spotOf(event)));
  listen("keydown", onKeyDown);
  listen("beforeinput", onBeforeInput);
  listen("input", onInput);
  listen("mouseover", onMouseOver);
  watchScrolling(listen);
  watchChanges();
}

// The element that is meant, also in shadow trees that the page has closed.
function targetOf(event) {
  let node = event.composedPath()[0];
  if (!(node instanceof Element)) node = node.parentElement || document.documentElement;
  for (let root = CLOSED.get(node); root; root = CLOSED.get(node)) {
    const inner = "clientX" in event ? root.elementFromPoint(event.clientX, event.clientY) : root.activeElement;
    if (!inner || inner === node) break;
    node = inner;
  }
  return node;
}

// The page as it is now. Pages in several documents can only be read by whoever reaches them all.
function lookNow() {
  if (window !== top || window.length) return null;
  return observe({ ignore: "", firstMark: BY_MARK.size ? 1 : UNREAD_FROM });
}

// The nearest element with a mark, going outward.
function nearestMarked(element) {
  for (let node = element; node; node = flatParent(node)) {
    if (MARKS.get(node)) return node;
    if (tagOf(node) === "label" && node.control && MARKS.get(node.control)) return node.control;
    for (const label of (/^(input|select|textarea)$/.test(tagOf(node)) && node.labels) || []) if (MARKS.get(label)) return label;
  }
  return null;
}

function factsOf(element) {
  const marked = nearestMarked(element);
  const control = marked ? labelledBy(marked) : element;
  return {
    mark: marked ? MARKS.get(marked) : 0,
    kind: kindOf(control),
    called: element === document.documentElement ? "the page" : calling(element),
  };
}

function spotOf(event) {
  const { clientX: x, clientY: y, button } = event;
  return { ...factsOf(targetOf(event)), x: Math.round(x), y: Math.round(y), isTop: window === top, button };
}

function heldKeys(event) {
  return [["Control", event.ctrlKey], ["Alt", event.altKey], ["Meta", event.metaKey], ["Shift", event.shiftKey]]
    .filter(([, isHeld]) => isHeld).map(([name]) => name);
}

function onPointerDown(event) {
  typingIn = null;
  const page = lookNow();
  const element = targetOf(event);
  const around = hovered.map((each) => each.deref()).filter((each) => each && isAround(each, element));
  emit("down", {
    ...spotOf(event), page, keys: heldKeys(event),
    hovered: around.map((each) => MARKS.get(each)), isSecret: isSecret(element),
  });
}

// Whether the mouse was over it on the way to the element: what it opened lies in it or beside it.
function isAround(marked, element) {
  const parent = marked[own.parentElement];
  return marked !== nearestMarked(element) && (marked[own.contains](element) || Boolean(parent && parent !== document.body && parent[own.contains](element)));
}

function onMouseOver(event) {
  const marked = nearestMarked(targetOf(event));
  if (!marked || hovered.some((each) => each.deref() === marked)) return;
  hovered = [...hovered, new WeakRef(marked)].slice(-MOST_HOVERED);
}

// Keys that do something of themselves. Of the others only what the page takes for itself is reported,
// which is known once it has heard of the key.
function onKeyDown(event) {
  if (event.isComposing || LONE_KEYS.has(event.key)) return;
  const element = targetOf(event);
  const isField = isTextField(element) || element[own.isContentEditable];
  const takesLines = isField && tagOf(element) !== "input";
  const isShortcut = event.ctrlKey || event.altKey || event.metaKey;
  const isTyped = isField && event.key.length === 1 && !isShortcut;
  const said = {
    ...factsOf(element), key: event.key, held: heldKeys(event), isShortcut,
    ...(element === document.body ? { mark: 0, called: "the page" } : {}),
  };
  const isSure = !isShortcut && (event.key === "Escape" || (event.key === "Enter" && !takesLines && !isChosenFrom(element)) ||
    (event.key === " " && /^(a|button|summary)$/.test(tagOf(element))));
  if (isSure) {
    typingIn = null;
    emit("key", { ...said, page: lookNow() });
    return;
  }
  const page = isTyped ? null : lookNow();
  const before = isField ? valueOf(element) : "";
  setTimeout(() => {
    if (!event.defaultPrevented) return;
    if (!isTyped) emit("key", { ...said, page });
    else if (valueOf(element) !== before) emitValue(element);
  });
}

function isChosenFrom(element) {
  return tagOf(element) === "select";
}

function fieldOf(event) {
  let element = targetOf(event);
  while (element[own.isContentEditable] && element[own.parentElement] && element[own.parentElement][own.isContentEditable]) element = element[own.parentElement];
  return element;
}

function onBeforeInput(event) {
  const field = fieldOf(event);
  if (typingIn === field) return;
  typingIn = field;
  emit("typing", { ...factsOf(field), page: lookNow(), value: textIn(field), isSecret: isSecret(field) });
}

function onInput(event) {
  const element = fieldOf(event);
  if (tagOf(element) === "select") {
    const labels = [...element.selectedOptions].map((option) => clean(option.label));
    emit("chosen", { ...factsOf(element), labels, isSeveral: element.multiple });
  } else if (/^(checkbox|radio)$/.test(element.type)) emit("ticked", { ...factsOf(element), isTicked: element.checked });
  else if (element.type === "file") emit("files", { ...factsOf(element), count: element.files.length, key: keepFiles(element) });
  else emitValue(element);
}

function emitValue(element) {
  emit("typed", { ...factsOf(element), value: textIn(element), isSecret: isSecret(element) });
}

function textIn(element) {
  if (!element[own.isContentEditable]) return "value" in asField(element) ? String(element.value) : "";
  return element[own.innerText].replace(/\n$/, "");
}

function isSecret(element) {
  const isOne = element.type === "password" || SECRET_AUTOCOMPLETE.test(element[own.getAttribute]("autocomplete") || "");
  if (isOne) SECRET_FIELDS.add(element);
  return isOne || SECRET_FIELDS.has(element);
}

const CHOSEN_FILES = [];

// The browser says where files lie, if it is shown them.
function keepFiles(field) {
  CHOSEN_FILES.push([...field.files]);
  return CHOSEN_FILES.length - 1;
}

function chosenFiles(key) {
  return CHOSEN_FILES[key] || [];
}

// The beginning of a scroll is reported at once, while what was seen before it is known; then what has
// been added, now and then and before anything else is reported.
function watchScrolling(listen) {
  const places = new WeakMap();
  let [byHand, over] = [-BY_HAND_MS, null];
  listen("wheel", (event) => { [byHand, over] = [performance.now(), targetOf(event)]; });
  listen("keydown", () => { [byHand, over] = [performance.now(), null]; });
  listen("scroll", (event) => {
    const isPage = event.target === document;
    const scroller = isPage ? document.scrollingElement : event.target;
    if (!scroller) return;
    const [left, top] = places.get(scroller) || [0, 0];
    const now = [Math.round(scroller[own.scrollLeft]), Math.round(scroller[own.scrollTop])];
    places.set(scroller, now);
    if (performance.now() - byHand > BY_HAND_MS) return;
    const marked = isPage ? null : nearestMarked(over || scroller);
    const said = scrolled.get(scroller) || { mark: marked ? MARKS.get(marked) : 0, dx: 0, dy: 0, called: "" };
    said.dx += now[0] - left;
    said.dy += now[1] - top;
    const isFirst = !scrolled.size;
    scrolled.set(scroller, said);
    const wait = scrolledAt + SCROLLED_MS - performance.now();
    if (wait <= 0) emitScrolled();
    else if (isFirst) setTimeout(emitScrolled, wait);
  });
}

function emitScrolled() {
  for (const said of scrolled.values()) emit("scrolled", said);
  if (scrolled.size) scrolledAt = performance.now();
  scrolled.clear();
}

function watchChanges() {
  let isWaiting = false;
  const observer = new MutationObserver(() => {
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(() => { isWaiting = false; emit("changed", {}); }, CHANGED_MS);
  });
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
}
