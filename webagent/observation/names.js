// Accessible names: Accessible Name and Description Computation 1.2 with the HTML and SVG mappings.
// The step names in comments are the standard's.

const FROM_CONTENT = new Set([
  "button", "cell", "checkbox", "columnheader", "gridcell", "heading", "link", "menuitem",
  "menuitemcheckbox", "menuitemradio", "option", "radio", "row", "rowheader", "switch", "tab",
  "tooltip", "treeitem",
]);
// Roles of elements to act on, whose names the standards settle.
const HAS_NAMES = new Set([...ACTIVE_ROLES, "colorpicker", "file", "image"]);
const LABELLABLE = /^(button|input|meter|output|progress|select|textarea)$/;
const NEVER_TEXT = /^(script|style|template|noscript|head|meta|link|datalist)$/;
// A word ends where one of these stands in a line.
const REPLACED = /^(audio|iframe|img|video)$/;
// Letters of icon fonts, which nobody can read.
const ICON_LETTERS = /[\ue000-\uf8ff]|[\udb80-\udbff][\udc00-\udfff]/g;

function accessibleName(element) {
  return readable(nameStep(element, { seen: new Set(), isRoot: true }));
}

function accessibleDescription(element) {
  const described = referred(element, "aria-describedby");
  if (described.length) return readable(described.map((part) => ofReferred(part, new Set())).join(" "));
  const said = clean(element[own.getAttribute]("aria-description"));
  if (said) return said;
  const title = clean(element[own.getAttribute]("title"));
  return title && title !== accessibleName(element) ? title : "";
}

const readable = (text) => clean(text.replace(ICON_LETTERS, ""));

// `way` says how the computation came here: `seen` what it has been at, `isRoot` to begin with,
// `isDirect` by a label or a reference, `isReferred` by aria-labelledby, `showsHidden` by a reference to
// something hidden.
function nameStep(element, way) {
  if (way.seen.has(element) || (!way.showsHidden && isUnsaid(element, way))) return "";
  way.seen.add(element);
  if (!way.isReferred) {
    const parts = referred(element, "aria-labelledby"); // 2B
    const text = parts.map((part) => ofReferred(part, way.seen)).join(" ");
    if (clean(text)) return text;
  }
  if (!way.isRoot && !way.isDirect) {
    const value = embeddedValue(element); // 2C
    if (value !== null) return value;
  }
  const label = clean(element[own.getAttribute]("aria-label")); // 2D
  if (label) return label;
  const native = nativeName(element, way); // 2E
  if (native !== null) return native;
  if (readsContent(element, way)) { // 2F
    const content = contentText(element, { ...way, isRoot: false, isDirect: false });
    if (readable(content)) return content;
    if (content && !way.isRoot) return tooltip(element) || " "; // it keeps words apart
  }
  return tooltip(element); // 2I
}

// A label may refer to the element itself, to put its own name among others; a field without a name
// that labels another element does so by its value.
function ofReferred(element, seen) {
  const others = new Set([...seen].filter((each) => each !== element));
  const showsHidden = element[own.getAttribute]("aria-hidden") === "true" || !isOnScreen(element);
  const name = nameStep(element, { seen: others, isReferred: true, isDirect: true, showsHidden });
  return clean(name) || seen.has(element) ? name : embeddedValue(element) || "";
}

function referred(element, attribute) {
  const ids = clean(element[own.getAttribute](attribute));
  if (!ids) return [];
  const root = element[own.getRootNode]();
  return ids.split(" ").map((id) => root.getElementById && root.getElementById(id)).filter(Boolean);
}

function isUnsaid(element, way) {
  return !way.isRoot && (element[own.getAttribute]("aria-hidden") === "true" || !isOnScreen(element));
}

function isOnScreen(element) {
  const style = getComputedStyle(element);
  if (style.display === "" || style.visibility !== "visible") return false;
  return style.display === "contents" || element[own.checkVisibility]();
}

function embeddedValue(element) {
  const role = roleOf(element);
  if (/^menu(bar)?$/.test(role)) return " "; // it is there to be used, and names nothing around it
  if (element.type === "password") return "•".repeat(element.value.length);
  if (/^(meter|progress)$/.test(tagOf(element))) return String(element.value);
  if (isTextField(element) || role === "textbox" || role === "searchbox") {
    return "value" in asField(element) ? element.value : element[own.textContent];
  }
  if (tagOf(element) === "select") return [...element.selectedOptions].map((option) => option.label).join(" ");
  if (role === "combobox" || role === "listbox") {
    const lists = [element, ...referred(element, "aria-owns")];
    const chosen = lists.flatMap((list) => [...list[own.querySelectorAll]("[role=option][aria-selected=true]")]);
    if (chosen.length || role === "listbox") return chosen.map((option) => option[own.textContent]).join(" ");
    return element[own.querySelector]("[role=option]") ? "" : element[own.textContent];
  }
  if (/^(slider|spinbutton|progressbar|meter|scrollbar)$/.test(role)) {
    const said = element[own.getAttribute]("aria-valuetext") || element[own.getAttribute]("aria-valuenow");
    const { value } = asField(element);
    return said || (value !== undefined ? String(value) : "");
  }
  return null;
}

// Null where the markup language says nothing of it.
function nativeName(element, way) {
  const tag = tagOf(element);
  if (LABELLABLE.test(tag) || tag.includes("-")) { // a custom element may be part of a form
    const text = labelsFor(element).map((label) => nameStep(label, { seen: new Set(way.seen), isDirect: true })).join(" ");
    if (clean(text)) return text;
  }
  if (tag === "input") return inputName(element);
  if (tag === "textarea" || tag === "select") return fieldName(element);
  if (tag === "img" || tag === "area") return imageName(element);
  const part = { fieldset: "legend", table: "caption", figure: "figcaption" }[tag];
  const caption = part && [...element[own.children]].find((child) => tagOf(child) === part);
  if (caption) return nameStep(caption, { seen: way.seen, isDirect: true });
  if (tag === "optgroup" || tag === "option") return element.label;
  if (element instanceof SVGElement) return svgName(element);
  return null;
}

// Asking an element for its labels searches the whole document, so they are collected once a look.
let LABELS = new Map();

function labelsFor(control) {
  const root = control[own.getRootNode]();
  if (!LABELS.has(root)) {
    const found = new Map();
    for (const label of root.querySelectorAll ? root.querySelectorAll("label") : []) {
      if (label.control) found.set(label.control, [...(found.get(label.control) || []), label]);
    }
    LABELS.set(root, found);
  }
  return LABELS.get(root).get(control) || [];
}

const FIELDS = "input:not([type=hidden]), select, textarea, [contenteditable=true]";
const MOST_AROUND_FIELD = 4;

// The words of a label that its author tied to no field and that stands alone before this one. A field with a
// placeholder is called by it only where it is the first behind the label.
function looseLabel(field, name) {
  if (name && name !== clean(field[own.getAttribute]("placeholder"))) return "";
  for (let [holder, level] = [field[own.parentElement], 0]; holder && level < MOST_AROUND_FIELD; holder = holder[own.parentElement], level++) {
    const labels = holder[own.querySelectorAll]("label");
    if (!labels.length) continue;
    const [label] = labels;
    if (labels.length > 1 || label.control || label[own.parentElement] !== holder || !precedes(label, field)) return "";
    const first = [...holder[own.querySelectorAll](FIELDS)].find((each) => precedes(label, each));
    const words = visibleText(label);
    return (!name || first === field) && words.length <= 60 ? words : "";
  }
  return "";
}

const precedes = (one, other) => Boolean(one[own.compareDocumentPosition](other) & Node.DOCUMENT_POSITION_FOLLOWING);

function inputName(input) {
  switch (input.type) {
    case "submit":
    case "reset":
    case "button": {
      const value = clean(input.value) || { submit: "Submit", reset: "Reset" }[input.type];
      return input[own.hasAttribute]("value") && clean(input.value) ? value : tooltip(input) || value || "";
    }
    case "image":
      return clean(input.alt) || clean(input[own.getAttribute]("value")) || tooltip(input) || "Submit";
    default:
      return fieldName(input);
  }
}

function fieldName(field) {
  return tooltip(field) || clean(field[own.getAttribute]("placeholder")) || clean(field[own.getAttribute]("aria-placeholder"));
}

function imageName(image) {
  const isDecoration = /^\s*(none|presentation)\b/.test(image[own.getAttribute]("role") || "");
  if (isDecoration && image[own.getAttribute]("alt") === "") return "";
  return image[own.hasAttribute]("alt") && clean(image.alt) ? clean(image.alt) : tooltip(image);
}

function svgName(element) {
  const title = [...element[own.children]].find((child) => tagOf(child) === "title");
  if (title && clean(title[own.textContent])) return title[own.textContent];
  return tagOf(element) === "a" ? clean(element[own.getAttribute]("xlink:title")) || null : null;
}

function tooltip(element) {
  return clean(element[own.getAttribute]("title"));
}

function readsContent(element, way) {
  return !way.isRoot || FROM_CONTENT.has(roleOf(element)) || tagOf(element) === "summary";
}

function contentText(element, way) {
  const parts = [pseudoText(element, "::before")];
  const shadow = shadowOf(element);
  const nodes = shadow ? shadow.childNodes : tagOf(element) === "slot" ? slotted(element) : element[own.childNodes];
  for (const node of nodes) {
    if (node[own.nodeType] === Node.TEXT_NODE) parts.push(ofTextNode(node));
    else if (node[own.nodeType] === Node.ELEMENT_NODE) parts.push(childText(node, way));
  }
  parts.push(pseudoText(element, "::after"));
  for (const owned of referred(element, "aria-owns")) parts.push(` ${nameStep(owned, way)} `);
  return parts.join("");
}

function ofTextNode(node) {
  return flatParent(node) ? asDrawn(node.data, getComputedStyle(flatParent(node))) : node.data;
}

// Capitals are read where a style makes them.
function asDrawn(text, style) {
  if (style.textTransform === "uppercase") return text.toUpperCase();
  if (style.textTransform === "lowercase") return text.toLowerCase();
  return style.textTransform === "capitalize" ? text.replace(/(^|\s)\p{L}/gu, (start) => start.toUpperCase()) : text;
}

function childText(child, way) {
  if (NEVER_TEXT.test(tagOf(child))) return "";
  if (tagOf(child) === "br") return " ";
  const text = nameStep(child, way);
  if (text && REPLACED.test(tagOf(child))) return ` ${text} `;
  const display = getComputedStyle(child).display;
  return display === "inline" || display === "contents" ? text : ` ${text} `;
}

function pseudoText(element, part) {
  const style = getComputedStyle(element, part);
  if (style.content === "none" || style.content === "normal" || style.display === "none") return "";
  if (style.width === "0px" && style.display !== "inline") return ""; // holds a line open
  const content = style.content.includes("counter") ? numbered(element, part) : style.content;
  const text = generated(content.includes("quote") ? withQuotes(content, element, style.quotes) : content);
  const isApart = style.display !== "inline" || (text && SAID_INSTEAD.test(style.content));
  return isApart ? ` ${text} ` : text;
}

// What the style sheets of a document or shadow tree say of its elements, by selectors: to ask every element
// for its computed style would take longer. `written` may have text that a style writes, `broughtUp` is
// there while the mouse is over something. A sheet of another site cannot be read.
const SHEETS = new WeakMap();

function rulesOf(root) {
  const parts = [...(root.styleSheets || []), ...(root.adoptedStyleSheets || [])].map(rulesOfSheet);
  const written = parts.flatMap((part) => part.written);
  const broughtUp = parts.flatMap((part) => part.broughtUp);
  return { written: written.includes("*") ? "*" : ["q", ...written].join(", "), broughtUp };
}

function rulesOfSheet(sheet) {
  let rules;
  try {
    rules = sheet.cssRules;
  } catch {
    return { written: ["*"], broughtUp: [] };
  }
  const known = SHEETS.get(sheet);
  if (known && known.count === rules.length) return known;
  const found = { count: rules.length, written: [], broughtUp: [] };
  for (const rule of rules) readRule(rule, "", found);
  SHEETS.set(sheet, found);
  return found;
}

function readRule(rule, around, found) {
  if (rule.styleSheet) {
    const { written, broughtUp } = rulesOfSheet(rule.styleSheet);
    found.written.push(...written);
    return void found.broughtUp.push(...broughtUp);
  }
  const selector = (rule.selectorText || "&").replaceAll("&", around ? `:is(${around})` : "&");
  for (const inner of rule.cssRules || []) readRule(inner, rule.selectorText ? selector : around, found);
  if (!rule.style) return;
  found.broughtUp.push(...broughtUpBy(rule, selector));
  const content = rule.style.content;
  if (!content || /^(none|normal|""|'')$/.test(content)) return;
  const plain = selector.replace(/::?(before|after|marker)\b/g, ":not(_)");
  found.written.push(isSelector(plain) ? plain : "*");
}

// Not so of a nested rule's, which stands for its parent's by `&`, and of other pseudo-elements.
function isSelector(text) {
  if (text.includes("&")) return false;
  try {
    document.createDocumentFragment().querySelector(text);
    return true;
  } catch {
    return false;
  }
}

// The text of a `content` value: strings, attributes are resolved already, without those inside `url()`
// and the like; what stands after a slash is said instead of it.
const SAID_INSTEAD = /\/\s*((?:"(?:[^"\\]|\\.)*"\s*)+)$/;
const FUNCTION = /[\w-]+\((?:"(?:[^"\\]|\\.)*"|[^()"])*\)/g;

function generated(content) {
  const said = SAID_INSTEAD.exec(content);
  const strings = (said ? said[1] : content.replace(FUNCTION, "")).match(/"(?:[^"\\]|\\.)*"/g) || [];
  return strings.map((text) => text.slice(1, -1).replace(/\\(.)/g, "$1")).join("");
}
