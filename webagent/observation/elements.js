// What an element is: whether it can be seen and acted on, its role, name, value and states.

const MARKS = new WeakMap();
const BY_MARK = new Map();
let nextMark = 1;
let provisional = 0;

// Frames are read at the same time, so in them new elements get negative numbers at first.
function markOf(element) {
  let mark = MARKS.get(element);
  if (!mark) {
    mark = provisional ? provisional-- : nextMark++;
    setMark(mark, element);
  }
  return mark;
}

function setMark(mark, element) {
  MARKS.set(element, mark);
  BY_MARK.set(mark, new WeakRef(element));
}

// The numbers that were given out for the negative ones since this document was last spoken to.
function adopt(numbers) {
  for (const [before, mark] of numbers) {
    const element = byMark(before);
    BY_MARK.delete(before);
    if (element) setMark(mark, element);
  }
}

function byMark(mark) {
  const reference = BY_MARK.get(mark);
  return reference ? reference.deref() : undefined;
}

const clean = (text) => (text || "").replace(/[\s\u00a0\u200b]+/g, " ").replace(/\u00ad/g, "").trim();
const tagOf = (element) => element[own.localName];
const classOf = (element) => element[own.getAttribute]("class") || "";
const hasClass = (element, pattern) => pattern.test(classOf(element));

const SHAPES = new Set(["circle", "ellipse", "line", "path", "polygon", "polyline", "rect"]);
const SKIPPED = new Set([
  "base", "clippath", "clipPath", "datalist", "defs", "desc", "head", "link", "marker", "mask",
  "meta", "metadata", "noscript", "param", "script", "source", "style", "template", "title", "track",
]);
const TEXT_INPUTS = new Set([
  "date", "datetime-local", "email", "month", "number", "password", "search", "tel", "text",
  "time", "url", "week",
]);
const ROLES = {
  a: "link", area: "link", audio: "audio", button: "button", canvas: "graphic", details: "group", img: "image",
  option: "option", select: "combobox", summary: "button", textarea: "textbox", video: "video",
};
const INPUT_ROLES = {
  button: "button", checkbox: "checkbox", color: "colorpicker", file: "file", image: "button",
  number: "spinbutton", radio: "radio", range: "slider", reset: "button", search: "searchbox",
  submit: "button",
};
const KNOWN_ROLES = new Set(
  ("alert alertdialog application article banner blockquote button caption cell checkbox code columnheader " +
  "combobox complementary contentinfo definition deletion dialog directory document emphasis feed figure form " +
  "generic grid gridcell group heading img image insertion link list listbox listitem log main mark marquee " +
  "math menu menubar menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph " +
  "presentation progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox " +
  "separator slider spinbutton status strong subscript superscript switch tab table tablist tabpanel term " +
  "textbox time timer toolbar tooltip tree treegrid treeitem").split(" "),
);
const ACTIVE_ROLES = new Set([
  "button", "checkbox", "combobox", "link", "listbox", "menuitem", "menuitemcheckbox",
  "menuitemradio", "option", "radio", "scrollbar", "searchbox", "slider", "spinbutton", "switch",
  "tab", "textbox", "treeitem",
]);
const HANDLES = /(^|\s)ui-(sortable-handle|draggable|resizable-handle|slider-handle)(\s|$)/;

function isShape(element) {
  return element instanceof SVGElement && SHAPES.has(tagOf(element));
}

function isEditable(element) {
  if (document.designMode === "on" && element === document.body) return true;
  return element[own.isContentEditable] && !(element[own.parentElement] && element[own.parentElement][own.isContentEditable]);
}

function isNative(element) {
  switch (tagOf(element)) {
    case "a":
    case "area":
      return element[own.hasAttribute]("href") || LISTENING.has(element);
    case "audio":
    case "video":
      return element.controls;
    case "button":
    case "select":
    case "summary":
    case "textarea":
      return true;
    case "input":
      return element.type !== "hidden";
    default:
      return isEditable(element);
  }
}

function isInteractive(element, style) {
  if (isNative(element)) return true;
  if (tagOf(element) === "label" && element.control) return false;
  if (ACTIVE_ROLES.has(writtenRole(element)) || isDay(element)) return true;
  return isSensitive(element, style) && !isBlank(element, style);
}

const MOST_LEVELS_ABOVE_DAY = 8;

// Whether an element is a day of a calendar that listens as a whole, where a day is clicked, or dragged to.
function isDay(element) {
  if (writtenRole(element) !== "gridcell" || !/^\d{1,2}(\D|$)/.test(clean(element[own.textContent]))) return false;
  const grid = element[own.closest]("[role=grid]");
  for (let [node, level] = [element, 0]; grid && node && level < MOST_LEVELS_ABOVE_DAY; level++) {
    if (LISTENING.has(node)) return true;
    node = flatParent(node);
  }
  return false;
}

// Whether something without a control's tag or role reacts to the mouse, as far as one can tell.
function isSensitive(element, style) {
  if ((LISTENING.has(element) || element[own.matches](HEARS_MOUSE)) && !isDelegate(element, style)) return true;
  if (element[own.hasAttribute]("tabindex") && (element[own.tabIndex] >= 0 || takesKeys(element))) return true;
  if (element[own.draggable] && (tagOf(element) !== "img" || element[own.hasAttribute]("draggable"))) return true;
  if (HANDLES.test(classOf(element))) return true;
  // A link without an address in a row that is clicked as a whole leads elsewhere than the row.
  return style.cursor === "pointer" && (tagOf(element) === "a" || parentCursor(element) !== "pointer");
}

// Whether an element that only a script or a click puts the focus on takes keys for itself, and not for
// the controls in it, as a dialog does that closes with Escape.
function takesKeys(element) {
  if (!KEYED.has(element) && !element[own.matches](HEARS_KEYS)) return false;
  return !element[own.querySelector](CONTROLS);
}

const STRUCTURE = "h1, h2, h3, h4, h5, h6, p, li, tr, dt, form, section, article, main, nav, header, footer";
const LEAST_STRUCTURE = 3;

// Whether an element listens for what happens anywhere in it, as the root of a React page does; to
// mark it would make one element of the whole page. A root of React's hears of everything there is.
function isDelegate(element, style) {
  if (style.cursor === "pointer" || !(element instanceof HTMLElement)) return false;
  const isRoot = element[own.parentElement] === document.body;
  const hearsAll = KEYED.has(element) && LISTENING.get(element) === (1 | 2 | FOR_WHEEL);
  if (isRoot && hearsAll && !element[own.hasAttribute]("tabindex")) return true;
  if (element[own.querySelectorAll](STRUCTURE).length < LEAST_STRUCTURE) return false;
  const box = element[own.getBoundingClientRect]();
  return isRoot || box.width * box.height > (innerWidth * innerHeight) / 2;
}

function parentCursor(element) {
  return flatParent(element) ? getComputedStyle(flatParent(element)).cursor : "";
}

function isHandle(element) {
  return hasClass(element, /(^|\s)ui-slider-handle(\s|$)/);
}

function roleOf(element) {
  const explicit = writtenRole(element);
  if (explicit) return explicit;
  const tag = tagOf(element);
  if (isHandle(element)) return "slider";
  if (tag === "input") return isListed(element) ? "combobox" : INPUT_ROLES[element.type] || "textbox";
  if (tag === "select" && (element.multiple || element.size > 1)) return "listbox";
  if (ROLES[tag]) return ROLES[tag];
  if (isEditable(element)) return "textbox";
  if (element instanceof SVGElement) return "graphic";
  return "generic";
}

function isListed(input) {
  return Boolean(input.list) && /^(text|search|tel|url|email)$/.test(input.type);
}

// The first role the author wrote that there is. `none` counts only where nothing shows that the element
// is more than decoration, and then it is what a generic element is.
function writtenRole(element) {
  const words = clean(element[own.getAttribute]("role")).toLowerCase();
  if (!words) return "";
  const role = words.split(" ").find((word) => KNOWN_ROLES.has(word)) || "";
  return role === "presentation" || role === "none" ? "" : role;
}

function kindOf(element) {
  const tag = tagOf(element);
  if (tag === "input") return "input:" + element.type;
  return element instanceof SVGElement && tag !== "svg" ? "svg:" + tag : tag;
}

function isTextField(element) {
  const tag = tagOf(element);
  if (tag === "input") return TEXT_INPUTS.has(element.type);
  return tag === "textarea" || isEditable(element);
}

function visibleText(element) {
  return clean(element instanceof HTMLElement ? element[own.innerText] : element[own.textContent]);
}

function labelText(element) {
  const ids = clean(element[own.getAttribute]("aria-labelledby"));
  if (ids) {
    const root = element[own.getRootNode]();
    const parts = ids.split(" ").map((id) => root.getElementById && root.getElementById(id));
    const text = clean(parts.filter(Boolean).map((part) => part[own.textContent]).join(" "));
    if (text) return text;
  }
  const label = clean(element[own.getAttribute]("aria-label"));
  if (label) return label;
  return clean(labelsFor(element).map(visibleText).join(" "));
}

// Words a developer wrote for an icon without text: its id and classes, else its picture's name.
// Words of style libraries that say nothing about the icon are left out.
const LOOKS = /ui-(corner|state|widget|icon|button)\S*|\bbtn-((outline-)?(primary|secondary|success|danger|warning|info|light|dark)|link|default|xs|sm|lg|block)\b|(?<![\w-])show(?![\w-])/g;

// Words of style sheets and made-up names of classes, which say nothing of what an element is for.
const OF_STYLE = new RegExp(
  "^(ui|icon|btn|fa|glyphicon|active|current|selected|mui\\w*|mat|mdi|mdc|css|theme|light|dark|round(ed)?|size|small|" +
  "medium|large|default|elevated|outlined|flat|plain|tonal|contained|density|comfortable|compact|variant|inherit|" +
  "root|base|wrapper|responsive|clickable|notranslate|item|image)?$|[a-z]\\d+[a-z]|\\d[a-z]+\\d", "i");

function iconWords(element, style) {
  // A letter before a hyphen or before all other words is of a style, as in `v-icon`; one behind them may be all
  // there is to say, as `x` of `mark x`.
  const authored = `${element[own.id]} ${classOf(element)}`.replace(LOOKS, " ").replace(/(?<![\w-])[a-z](?=-)/gi, " ");
  const words = (text) => [...new Set(clean(text.replace(/[^\p{L}\p{N}]+/gu, " ")).split(" "))];
  const known = words(authored).filter((word) => !OF_STYLE.test(word));
  while (/^[a-z]$/i.test(known[0] || "")) known.shift();
  return (known.length ? known : words(picture(element, style))).slice(0, 5).join(" ");
}

// A font that draws a picture for a word.
function isLigature(element) {
  return /icon|symbol/i.test(getComputedStyle(element).fontFamily);
}

// What a picture without words shows, by the name it has in its collection of icons.
const ICON_CLASS = /(?:^|\s)(?:fa|bi|lucide|icon|mdi|glyphicon|ti|ri|ph|feather|anticon|pi|octicon)-([a-z][\w-]*)/g;

const ICON_LOOKS = /^(solid|regular|light|thin|duotone|brands|sharp|fw|2?x[sl]|sm|lg|\d+(x|px)|spin|pulse|border|inverse|li|(rotate|flip|stack)-.*)$/;

function pictureName(icon) {
  const told = icon[own.getAttribute]("data-icon") || /^(\w+)Icon$/.exec(icon[own.getAttribute]("data-testid") || "")?.[1];
  const names = [...classOf(icon).matchAll(ICON_CLASS)].map(([, name]) => name).filter((name) => !ICON_LOOKS.test(name));
  return readable(told || names.pop() || "").replace(/-/g, " ");
}

const ICONS = "svg, i, [class*=icon], [class*='fa-'], [class*='bi-'], [class*='mdi-']";

function innerIcon(element) {
  const icon = element[own.querySelector](ICONS);
  return icon ? pictureName(icon) : "";
}

function ownIcon(element, style) {
  return element instanceof HTMLElement && hasIcon(element, style) ? pictureName(element) : "";
}

const OF_STATES = /^(show|open|opened|expanded|active|current|selected|focus|focused|hover)$/;

// Words that a developer wrote around an icon and for what is drawn in it.
function aroundWords(element) {
  const drawn = element[own.querySelector]("svg, i, [class*=icon]");
  const written = [element[own.parentElement], drawn].filter(Boolean).map((each) => `${each[own.getAttribute]("data-ref") || ""} ${classOf(each)}`);
  const words = clean(written.join(" ").replace(/[^\p{L}\p{N}]+/gu, " ")).split(" ");
  return [...new Set(words)].filter((word) => !OF_STATES.test(word)); // a name stays the same while a menu is open
}

function picture(element, style) {
  const source = element[own.getAttribute]("src") || style.content + style.backgroundImage;
  const match = /([^/"()]+)\.(png|jpe?g|gif|svg|webp)/i.exec(source);
  return match ? match[1] : "";
}

function nameOf(element, style) {
  const name = HAS_NAMES.has(roleOf(element)) ? accessibleName(element) : labelText(element);
  return name || likelyName(element, style);
}

// What a reader would call an element to which the standards give no name.
function likelyName(element, style) {
  const tag = tagOf(element);
  if (tag === "input" && ["button", "submit", "reset"].includes(element.type)) {
    return element.value || { submit: "Submit", reset: "Reset" }[element.type] || "";
  }
  if (isTextField(element)) {
    const held = [element, element[own.children][0]].map((each) => each && each[own.getAttribute]("data-placeholder"));
    const written = [...["placeholder", "title"].map((name) => element[own.getAttribute](name)), ...held];
    const labels = labelsFor(element).filter(canBeSeen).map(visibleText).join(" "); // one that moves is there twice
    return labels || clean(written.find(Boolean));
  }
  if (tag === "select" || tag === "input" || isHandle(element)) return clean(element[own.getAttribute]("title"));
  if (element instanceof SVGElement) return describeDrawing(element, style);
  if (tag === "canvas") return (PAINTED.get(element) || []).join(", ");
  if (TICKED_ROLES.test(roleOf(element))) return rowWords(element) || switchLabel(element); // its classes say no more than that it is one
  const text = tag === "img" ? "" : visibleText(element);
  const said = text || clean(element[own.getAttribute]("alt")) || clean(element[own.getAttribute]("title"));
  return said || scriptedTooltip(element) || imageAlt(element) || innerIcon(element) || ownIcon(element, style) || paint(element, style) || iconWords(element, style);
}

// What a script shows as a tooltip.
function scriptedTooltip(element) {
  const names = element[own.getAttributeNames]().filter((name) => /^data-([\w-]+-)?(title|tooltip|tip|hint|tippy-content)$/.test(name));
  return clean(names.map((name) => element[own.getAttribute](name)).find((text) => /\p{L}/u.test(text)));
}

function imageAlt(element) {
  const image = element[own.querySelector]("img[alt], svg title, [aria-label]");
  if (!image) return "";
  return clean(image[own.getAttribute]("alt") || image[own.getAttribute]("aria-label") || image[own.textContent]);
}

function valueOf(element) {
  const tag = tagOf(element);
  if (tag === "select") return clean([...element.selectedOptions].map((o) => o.label).join(", "));
  if (isTextField(element)) return isEditable(element) ? clean(element[own.innerText]) : element.value;
  if (tag === "input" && ["range", "color"].includes(element.type)) return element.value;
  if (tag === "input" && element.type === "file") return [...element.files].map((f) => f.name).join(", ");
  if (isHandle(element)) return element[own.style].left || element[own.style].bottom;
  if (isMedia(element)) return `${clockTime(element.currentTime)} of ${clockTime(element.duration)}`;
  if (writtenRole(element) === "combobox" && !shadowOf(element)) return visibleText(element);
  return element[own.getAttribute]("aria-valuetext") || element[own.getAttribute]("aria-valuenow") || "";
}

function isMedia(element) {
  return tagOf(element) === "video" || tagOf(element) === "audio";
}

function clockTime(seconds) {
  if (!Number.isFinite(seconds)) return "?";
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
}

const SELECTED = /(^|[\s_-])(active|current|selected)(\s|$)/;

function isMarkedSelected(element) {
  if (hasClass(element, SELECTED)) return true;
  const item = element[own.parentElement];
  return tagOf(element) === "a" && item && tagOf(item) === "li" && hasClass(item, SELECTED);
}

function statesOf(element, role, drawn) {
  const states = [];
  const aria = (name) => element[own.getAttribute]("aria-" + name);
  if (role === "checkbox" || role === "radio" || role === "switch") {
    const isMixed = tagOf(element) === "input" ? element.indeterminate : aria("checked") === "mixed";
    const checked = tagOf(element) === "input" ? element.checked : drawn ? drawn.isTicked : aria("checked") === "true";
    states.push(isMixed ? "mixed" : checked ? "checked" : "unchecked");
  }
  const current = aria("current");
  const chosen = tagOf(element) === "option" ? element.selected : aria("selected") === "true";
  if (chosen || (current && current !== "false") || (!drawn && role !== "combobox" && isMarkedSelected(element))) states.push("selected");
  if (aria("pressed") === "true") states.push("pressed");
  const open = tagOf(element) === "summary" ? String(flatParent(element).open) : aria("expanded");
  if (open === "true") states.push("expanded");
  if (open === "false") states.push("collapsed");
  if (element[own.matches](":disabled") || aria("disabled") === "true" || isOutOfReach(element)) states.push("disabled");
  if (asField(element).readOnly || aria("readonly") === "true") states.push("readonly");
  if (aria("invalid") === "true" || isRefused(element)) states.push("invalid");
  const header = /^(button|link|columnheader|generic)$/.test(role) && element[own.closest]("[aria-sort]");
  if (header && sortOrder(header)) states.push(sortOrder(header));
  if (isMedia(element)) states.push(element.paused ? "paused" : "playing");
  if (isTextField(element)) states.push(...fieldStates(element));
  if (role === "menuitem") states.push(...menuIcon(element));
  return states;
}

// Whether a style keeps the mouse from a link or button, and nothing around it takes the click instead.
function isOutOfReach(element) {
  if (!/^(a|button)$/.test(tagOf(element)) || getComputedStyle(element).pointerEvents !== "none") return false;
  return !element[own.parentElement] || !element[own.parentElement][own.closest]("a, button, label, [onclick]");
}

// Whether the browser has told the user that what was entered will not do.
function isRefused(element) {
  const { form } = /^(input|select|textarea)$/.test(tagOf(element)) ? element : NOTHING;
  return Boolean(form) && !form[own.hasAttribute]("novalidate") && element[own.matches](":user-invalid");
}

function sortOrder(header) {
  const order = header[own.getAttribute]("aria-sort");
  return /^(ascending|descending)$/.test(order) ? `sorted:${order}` : "";
}

// How far a field that shows only part of its text is scrolled, and whether text in it is selected.
function fieldStates(field) {
  const states = [];
  const hidden = field[own.scrollHeight] - field[own.clientHeight];
  if (hidden > 4 && tagOf(field) !== "input") {
    states.push(`scrolled:${Math.min(100, Math.round((100 * field[own.scrollTop]) / hidden))}%`);
  }
  if (field === document.activeElement && hasSelection(field)) states.push("highlighted");
  return states;
}

function hasSelection(field) {
  if (isEditable(field)) return !getSelection().isCollapsed;
  return field.selectionStart !== null && field.selectionStart !== field.selectionEnd;
}

// Entries of a menu differ by their icons as well as by their words.
function menuIcon(item) {
  for (const part of item[own.querySelectorAll]("[class*=icon-]")) {
    const name = /(?:^|[\s-])icon-([\w-]+)/.exec(classOf(part));
    if (name && !clean(part[own.textContent]) && !/^(caret|triangle|check|blank)/.test(name[1])) return [`icon:${name[1]}`];
  }
  return [];
}

// Role, name and description, by the standards alone, of every marked element, and the elements.
function called() {
  [LABELS, NUMBERED] = [new Map(), null];
  const marks = [...BY_MARK.keys()].sort((a, b) => a - b);
  const elements = marks.map(byMark).filter((element) => element && element[own.isConnected]);
  const said = elements.map((each) => [roleOf(each), accessibleName(each), accessibleDescription(each)]);
  return [JSON.stringify(said), ...elements];
}
