// Widgets that a page draws in place of one of the browser's own lists, which it keeps out of sight.

// Elements from the widget outwards, the last of which stands beside the list.
const MOST_AROUND = 3;
const OPENERS = "[role=combobox], [role=listbox][aria-haspopup], [aria-haspopup=listbox]";
const ITEM = /^(li|td|tr|nav|form)$/;
const MOST_WIDGETS = 9;
const WIDGETS = `${OPENERS}, button, [tabindex]`;

// The list that an element stands for; null for most elements.
function listBehind(widget) {
  return placeBehind(widget)?.list ?? null;
}

// That list, and the outermost element of the widget, in which its options may be drawn.
function placeBehind(widget) {
  if (/^(select|option|label|textarea)$/.test(tagOf(widget)) || (isTextField(widget) && !asField(widget).readOnly)) return null;
  const isOpener = widget[own.matches](OPENERS);
  if (!isOpener && leadsAway(widget)) return null;
  const isMeant = (list) => list && tagOf(list) === "select" && isOutOfSight(list) &&
    (showsChosen(widget, list) || (isOpener && (list.multiple || !widget[own.querySelector]("input, textarea"))));
  const inside = isOpener ? widget[own.querySelectorAll]("select") : [];
  if (inside.length === 1 && isMeant(inside[0])) return { list: inside[0], holder: widget };
  for (let [holder, level] = [widget, 0]; holder && level < MOST_AROUND; holder = holder[own.parentElement], level++) {
    if (!isOpener && ITEM.test(tagOf(holder))) return null;
    const beside = [holder[own.previousElementSibling], holder[own.nextElementSibling]].filter(isMeant);
    const list = beside.find((each) => showsChosen(widget, each)) || beside[0];
    if (list) return isOpener || !hasOpener(holder) ? { list, holder } : null;
  }
  return null;
}

// Whether an element is a link of the page, which a list of the same pages may stand beside for small screens.
function leadsAway(element) {
  const address = element[own.getAttribute]("href");
  return Boolean(address) && !/^(#|javascript:)/i.test(address);
}

// Whether a part of a widget is what opens it; one that is seen only while it is typed in is none.
function hasOpener(holder) {
  return [...holder[own.querySelectorAll](OPENERS)].some((each) => canBeSeen(each) && !isOffCanvas(each) && getComputedStyle(each).opacity !== "0");
}

// Whether a list is drawn by a widget beside it, so that nobody sees or uses it itself.
function isDrawnBeside(list) {
  return [list[own.nextElementSibling], list[own.previousElementSibling]].some((beside) => beside && isDrawnIn(beside, list));
}

// Whether an element is or holds the widget that stands for a list.
function isDrawnIn(holder, list) {
  if (tagOf(list) !== "select") return false;
  const widgets = [holder, ...holder[own.querySelectorAll](WIDGETS)].filter((each) => each[own.matches](WIDGETS));
  return widgets.slice(0, MOST_WIDGETS).some((each) => canBeSeen(each) && listBehind(each) === list);
}

function isOutOfSight(list) {
  return !canBeSeen(list) || isCutAway(list, getComputedStyle(list)) || isSpeck(list);
}

function isSpeck(element) {
  const box = element[own.getBoundingClientRect]();
  return box.width <= 1 || box.height <= 1;
}

// Whether the words of a widget begin with what is chosen in the list.
function showsChosen(widget, list) {
  const chosen = lettersOf(valueOf(list));
  return Boolean(chosen) && lettersOf(visibleText(widget)).startsWith(chosen);
}

// What the widget shows of the list: what is chosen, without the signs that the widget draws beside it.
function shownOfList(widget, list) {
  const shown = visibleText(widget);
  const chosen = [...list.selectedOptions].map((option) => clean(option.label)).filter(Boolean);
  const isShown = chosen.length && chosen.every((each) => shown.includes(each));
  return isShown ? chosen.join(", ") : shown;
}

// The name of a widget: what its author calls it, unless that is only what it shows or what it is; else
// that of the list. A label around both says the list's name and holds the widget's words.
function nameForList(widget, list, name) {
  const [letters, shown] = [lettersOf(name), lettersOf(`${visibleText(widget)} ${valueOf(list)}`)];
  if (labelText(widget) && letters && letters !== roleOf(widget) && !shown.includes(letters)) return name;
  const around = labelsFor(list).find((label) => label[own.contains](widget));
  if (!around) return accessibleName(list) || labelOfPart(widget);
  const words = textNodes(around).filter((node) => !widget[own.contains](node) && !list[own.contains](node));
  return clean(words.map((node) => node.data).join(" "));
}

// The words of a label that refers to the widget, or to the field in it where one types.
function labelOfPart(widget) {
  const field = widget[own.querySelector]("input");
  const label = field && labelText(field);
  if (label || !widget[own.id]) return label || "";
  const pointing = widget[own.getRootNode]().querySelector(`label[for="${CSS.escape(widget[own.id])}"]`);
  return pointing ? visibleText(pointing) : "";
}
