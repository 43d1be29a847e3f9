// Ticks, lists and file fields: how an element is set, and what there is to choose from.

const OPTION_ROLES = "[role=option], [role=menuitem], [role=menuitemradio], [role=menuitemcheckbox], [role=treeitem]";

function present(mark) {
  const element = byMark(mark);
  return element && element[own.isConnected] ? element : null;
}

function labelledBy(element) {
  return labelled(element) || tickBehind(element) || element;
}

function tickOf(mark) {
  const element = present(mark);
  if (!element) return { error: `element ${mark} is gone from the page` };
  const box = labelledBy(element);
  const isNative = tagOf(box) === "input" && /^(checkbox|radio)$/.test(box.type);
  const drawn = drawnTick(box);
  const role = drawn ? drawn.role : box[own.getAttribute]("role") || "";
  if (!isNative && !TICKED_ROLES.test(role)) return { error: `element ${mark} cannot be checked or unchecked` };
  if (box[own.matches](":disabled") || box[own.getAttribute]("aria-disabled") === "true") return { error: `element ${mark} is disabled` };
  return {
    ticked: isNative ? box.checked : drawn ? drawn.isTicked : box[own.getAttribute]("aria-checked") === "true",
    isRadio: isNative ? box.type === "radio" : /radio$/.test(role),
  };
}

// Sets a native list to exactly these labels.
function chooseExactly(mark, labels) {
  const select = present(mark);
  if (!select) return { error: `element ${mark} is gone from the page` };
  if (tagOf(select) !== "select") return { error: `element ${mark} is not a list of the browser's own; click its options` };
  if (select[own.matches](":disabled")) return { error: `element ${mark} is disabled` };
  if (!select.multiple && labels.length !== 1) return { error: `element ${mark} takes one option, not ${labels.length}` };
  const chosen = new Set();
  for (const label of labels) {
    const option = optionOf(select, label);
    if (!option) return { error: `element ${mark} has no option ${JSON.stringify(label)}`, missing: label };
    chosen.add(option);
  }
  press(select);
  for (const option of select.options) option.selected = chosen.has(option);
  select[own.dispatchEvent](new Event("input", { bubbles: true, composed: true }));
  select[own.dispatchEvent](new Event("change", { bubbles: true }));
  return {};
}

// The list that a page builds itself: a listbox or menu, or what opens one.
function builtList(element) {
  if (/^(listbox|menu|tree)$/.test(element[own.getAttribute]("role") || "")) return element;
  const opener = openerOf(element);
  if (!opener) return null;
  const root = opener[own.getRootNode]();
  const ids = `${opener[own.getAttribute]("aria-controls") || ""} ${opener[own.getAttribute]("aria-owns") || ""}`.trim();
  for (const id of ids.split(/\s+/)) {
    const list = id && root.getElementById && root.getElementById(id);
    if (list) return list;
  }
  const holder = placeBehind(opener)?.holder;
  return holder && holder[own.querySelector](`${OPTION_ROLES}, li`) ? holder : root.body || root;
}

function openerOf(element) {
  const opens = "[role=combobox], [aria-haspopup=listbox], [aria-haspopup=menu], [aria-haspopup=true], [aria-haspopup=tree]";
  return element[own.closest](opens) || element[own.querySelector](opens) || (element[own.getAttribute]("list") || listBehind(element) ? element : null);
}

function builtOptions(element) {
  const list = builtList(element);
  const marked = list ? [...list[own.querySelectorAll](OPTION_ROLES)] : [];
  const options = marked.length || !list || list === element[own.ownerDocument].body ? marked : [...list[own.querySelectorAll]("li")];
  return options.filter(canBeSeen);
}

function optionLabel(option) {
  return clean(option[own.getAttribute]("aria-label") || visibleText(option));
}

// The option with this label in a list that the page builds, as far as it can be seen now.
function optionNamed(mark, label) {
  const element = present(mark);
  if (!element) return { error: `element ${mark} is gone from the page` };
  if (!builtList(element)) return { error: `element ${mark} is not a drop-down list` };
  const opener = openerOf(element) || element;
  if (asField(opener).disabled || opener[own.getAttribute]("aria-disabled") === "true") return { error: `element ${mark} is disabled` };
  const options = builtOptions(element).filter((option) => option[own.getAttribute]("aria-disabled") !== "true");
  const wanted = clean(label);
  const option = options.find((each) => optionLabel(each) === wanted) ||
    options.find((each) => optionLabel(each).toLowerCase() === wanted.toLowerCase());
  if (option) return { mark: markOf(option) };
  return { open: options.length > 0 || opener[own.getAttribute]("aria-expanded") === "true", filters: isTextField(element) };
}

// All labels of a list, those that can be chosen apart from those that cannot.
function labelsOf(mark) {
  let element = present(mark);
  if (element && tagOf(element) === "option") element = element[own.closest]("select");
  if (!element) return { enabled: [], disabled: [] };
  const isSelect = tagOf(element) === "select";
  const options = isSelect ? [...element.options] : builtOptions(element);
  const isOff = (option) => (isSelect ? option.disabled : option[own.getAttribute]("aria-disabled") === "true");
  const named = (some) => some.slice(0, 1000).map((each) => (isSelect ? clean(each.label) : optionLabel(each)));
  return { enabled: named(options.filter((each) => !isOff(each))), disabled: named(options.filter(isOff)) };
}

// The file field that is meant: itself, behind its label, or the only one inside.
function fileField(mark) {
  const element = present(mark);
  if (!element) return null;
  const field = labelledBy(element);
  if (field.type === "file") return field;
  const inside = element[own.querySelectorAll]("input[type=file]");
  return inside.length === 1 ? inside[0] : null;
}

function fileFieldOf(mark) {
  if (!present(mark)) return { error: `element ${mark} is gone from the page` };
  const field = fileField(mark);
  if (field && field[own.matches](":disabled")) return { error: `element ${mark} is disabled` };
  if (field && field.webkitdirectory) return { error: `element ${mark} takes a whole folder, which cannot be given` };
  return { takes: field ? (field.multiple ? "several" : "one") : "" };
}

// A file that nobody takes is opened by the browser in place of the page. So one is dropped only
// where the page wants it, and is opened nowhere.
let draggedOver = null, taken = false;
window.addEventListener("dragover", (event) => { draggedOver = event; }, true);
window.addEventListener("drop", (event) => {
  taken = true;
  // Begun here, to come after the page's own; a page that stops the event has taken it.
  window.addEventListener("drop", () => {
    taken = event.defaultPrevented;
    event.preventDefault();
  }, { once: true });
}, true);

function dropIsWanted() {
  const wanted = draggedOver !== null && draggedOver.defaultPrevented;
  [draggedOver, taken] = [null, false];
  return wanted;
}

// Whether the page took what was dropped on it last.
function dropWasTaken() {
  return taken;
}
