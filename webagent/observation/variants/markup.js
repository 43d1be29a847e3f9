// The page as HTML that carries the marks, for the variants that are written from it. Nothing is
// written into the page itself.

const LONGEST_ATTRIBUTE = 1000;
const NEVER_CLOSED = new Set([
  "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
]);

// What is shown of the page, with fields as they are filled in now; stops after so many characters.
function markup(ignore, most) {
  const parts = [];
  let length = 0;
  const put = (text) => {
    parts.push(text);
    length += text.length;
  };
  const write = (node) => {
    if (length > most) return;
    if (node[own.nodeType] === Node.TEXT_NODE) put(escaped(node.data));
    if (node[own.nodeType] !== Node.ELEMENT_NODE || isLeftOut(node, ignore)) return;
    put(`<${tagOf(node)}${attributesOf(node).map(asAttribute).join("")}>`);
    if (NEVER_CLOSED.has(tagOf(node))) return;
    if (tagOf(node) === "textarea") put(escaped(node.value));
    else for (const child of contentOf(node)) write(child);
    put(`</${tagOf(node)}>`);
  };
  if (document.body) write(document.body);
  return parts.join("");
}

// The children that are shown: of a frame its body, of a host what its shadow holds.
function contentOf(element) {
  const tag = tagOf(element);
  if (tag === "iframe") return [frameBody(element)].filter(Boolean);
  if (shadowOf(element)) return shadowOf(element).childNodes;
  return tag === "slot" ? slotted(element) : element[own.childNodes];
}

function isLeftOut(element, ignore) {
  if (SKIPPED.has(tagOf(element)) || (ignore && element[own.matches](ignore))) return true;
  return !/^(option|optgroup|area)$/.test(tagOf(element)) && getComputedStyle(element).display === "none";
}

function attributesOf(element) {
  const mark = knownMark(element);
  const now = mark ? [["mark", String(mark)]] : [];
  if (tagOf(element) === "input" && element.type !== "file") now.push(["value", fieldText(element)]);
  if (asField(element).checked) now.push(["checked", ""]);
  if (tagOf(element) === "option" && element.selected) now.push(["selected", ""]);
  for (const { name, value } of element[own.attributes]) {
    if (!/^(mark|value|checked|selected)$/.test(name)) now.push([name, value.slice(0, LONGEST_ATTRIBUTE)]);
  }
  return now;
}

function fieldText(input) {
  return input.type === "password" ? "•".repeat(input.value.length) : input.value;
}

const asAttribute = ([name, value]) => ` ${name}="${escaped(value).replaceAll('"', "&quot;")}"`;
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
