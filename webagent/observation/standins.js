// Words for elements that show no text of their own: fields, pictures, bars.

const LARGEST_ICON = 40;
const WORD = /[\p{L}\p{N}]/u;
const NO_PICTURE = "a, button, input, select, textarea, img, [tabindex]";
const LOADING = /(^|[^a-zA-Z])(spin|load|skeleton|shimmer)|Spin|Load|Skeleton|Shimmer/;
const LONGEST_LOADING = 40;

// What a field shows, as words, where it cannot be used.
function shownValue(field) {
  if (!/^(input|select|textarea)$/.test(tagOf(field)) || /^(hidden|password)$/.test(field.type)) return "";
  if (/^(checkbox|radio)$/.test(field.type)) return field.checked ? "checked" : "unchecked";
  return valueOf(field) || clean(field.value) || clean(field[own.getAttribute]("placeholder"));
}

// What stands for an element that shows no text of its own: a picture's words, how far a bar is.
function standIn(element, style) {
  const tag = tagOf(element);
  if (tag === "img") return element.alt && !isInteractive(element, style) ? element.alt : "";
  if (tag === "progress" || tag === "meter") return barText(element);
  if (writtenRole(element) === "progressbar" && !clean(element[own.textContent]) && canBeSeen(element)) {
    return `${labelText(element)} ${barText(element)}`;
  }
  if (tag === "math") return canBeSeen(element) ? mathText(element) : "";
  if (isLoader(element, style)) return visibleText(element) || labelText(element) || "loading";
  if (isDotOfRow(element, style)) return nameOf(element, style);
  if (style.display === "table-cell") return "";
  const isTitled = element[own.hasAttribute]("title") && !isColouredBox(element, style);
  if (tag !== "svg" && !isTitled && !element[own.hasAttribute]("aria-label")) return "";
  if (isIcon(element) && canBeSeen(element) && !isInteractive(element, style)) return iconText(element);
  return "";
}

// A picture to those who cannot see it: small and without words, or called one by its author.
function isIcon(element) {
  const role = writtenRole(element);
  if (!/^(img)?$/.test(role)) return false;
  const isSvg = tagOf(element) === "svg";
  if (!isSvg && (WORD.test(element[own.textContent]) || element[own.querySelector](NO_PICTURE))) return false;
  const box = element[own.getBoundingClientRect]();
  if (box.width <= LARGEST_ICON && box.height <= LARGEST_ICON) return true;
  return role === "img" && !(isSvg && element[own.querySelector]("text, foreignObject, a, [tabindex]"));
}

// Something that turns or shimmers without end and is called by what it is for.
function isLoader(element, style) {
  if (style.animationIterationCount !== "infinite" || !LOADING.test(classOf(element)) || !canBeSeen(element)) return false;
  return !element[own.querySelector](CONTROLS) && visibleText(element).length <= LONGEST_LOADING;
}

function iconText(element) {
  const title = [...element[own.children]].find((child) => tagOf(child) === "title");
  return labelText(element) || (title ? clean(title[own.textContent]) : tooltip(element));
}

function barText(bar) {
  const text = clean(bar[own.getAttribute]("aria-valuetext"));
  if (text) return text;
  const isNative = /^(progress|meter)$/.test(tagOf(bar));
  const told = (name, otherwise) => Number(bar[own.getAttribute](`aria-value${name}`) ?? otherwise);
  if (!bar[own.hasAttribute](isNative ? "value" : "aria-valuenow") && tagOf(bar) !== "meter") return "in progress";
  const [now, most] = isNative ? [bar.value, bar.max] : [told("now"), told("max", 100)];
  const least = isNative ? bar.min ?? 0 : told("min", 0);
  return `${Math.round((100 * (now - least)) / (most - least))}%`;
}
