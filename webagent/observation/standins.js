// Words for elements that show no text of their own: fields, pictures, bars.

const LARGEST_ICON = 40;

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
  if (tag !== "svg" && !element[own.hasAttribute]("aria-label")) return "";
  return isIcon(element) && canBeSeen(element) && !isInteractive(element, style) ? iconText(element) : "";
}

// Small, without text, and nothing else than a picture to those who cannot see it.
function isIcon(element) {
  if (!/^(img)?$/.test(writtenRole(element))) return false;
  if (tagOf(element) !== "svg" && (element[own.childElementCount] || clean(element[own.textContent]))) return false;
  const box = element[own.getBoundingClientRect]();
  return box.width <= LARGEST_ICON && box.height <= LARGEST_ICON;
}

function iconText(element) {
  const title = [...element[own.children]].find((child) => tagOf(child) === "title");
  return labelText(element) || (title ? clean(title[own.textContent]) : "");
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
