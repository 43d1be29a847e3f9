// What a page's style brings up while the mouse is over something: menus, the buttons of a row.

const BRINGS_UP = ["display", "visibility", "opacity", "max-height", "height", "transform", "clip-path"];
const HIDES = /^(none|hidden|0(px|%)?|scale\(0\)|)$/;
const MOST_BROUGHT_UP = 200; // in one look
const MOST_WORDS_BROUGHT_UP = 20; // of a menu without a control

// For each selector of a rule that brings something up: what it brings up, and what the mouse is over then.
function broughtUpBy(rule, selector) {
  if (!selector.includes(":hover") || !BRINGS_UP.some((name) => !HIDES.test(rule.style.getPropertyValue(name)))) return [];
  return selector.split(/,(?![^(]*\))/).filter((each) => each.includes(":hover")).flatMap((each) => {
    const isHost = /^\s*:host\([^\s]*:hover/.test(each);
    const holder = isHost ? ":host" : clean(heldPart(each)).replaceAll(":hover", ":not(_)");
    const target = clean(isHost ? each.slice(endOfCompound(each, each.indexOf("("))) : each).replaceAll(":hover", ":not(_)");
    return holder !== target && isSelector(holder) && isSelector(target) ? [{ target, holder }] : [];
  });
}

// A selector up to what the mouse is over: `.row:hover` of `.row:hover > .edit`, and of `.edit:is(.row:hover *)`.
function heldPart(selector) {
  const at = selector.lastIndexOf(":hover");
  let [start, depth] = [at, 0];
  while (start >= 0 && depth >= 0) depth += { ")": 1, "(": -1 }[selector[start--]] || 0;
  let end = endOfCompound(selector, at + ":hover".length);
  if (depth < 0 && selector[end] !== ")") return selector.slice(start + 2, end);
  while (selector[end] === ")") end = endOfCompound(selector, end + 1);
  return selector.slice(0, end);
}

function endOfCompound(selector, from) {
  for (let [at, depth] = [from, 0]; at < selector.length; at++) {
    if (depth === 0 && /[\s>+~)]/.test(selector[at])) return at;
    depth += { "(": 1, ")": -1 }[selector[at]] || 0;
  }
  return selector.length;
}

// What the mouse has to be over for a hidden element to come up, if that is seen itself.
function holderOf(element, rules) {
  for (const { target, holder } of rules) {
    if (!element[own.matches](target)) continue;
    const { host } = element[own.getRootNode]();
    if (host && holder === ":host") return host;
    const beside = element[own.previousElementSibling];
    const around = element[own.parentElement] && element[own.parentElement][own.closest](holder);
    const found = around || (beside && beside[own.matches](holder) ? beside : null);
    if (found && canBeSeen(found)) return found;
  }
  return null;
}

// The same for any element in something hidden: from the innermost outwards the first that can be seen.
function holderAround(element) {
  for (let node = element; node; node = node[own.parentElement]) {
    const isHidden = !canBeSeen(node) || isCutAway(node, getComputedStyle(node));
    const holder = isHidden && holderOf(node, rulesOf(node[own.getRootNode]()).broughtUp);
    if (holder) return holder;
  }
  return null;
}

// What there is to act on in something hidden; without any, its items by their words.
function hiddenControls(element, isBroughtUp) {
  const found = [];
  const collect = (node) => {
    const style = getComputedStyle(node);
    if (node !== element && style.display === "none" && !isBroughtUp(node)) return;
    if (isInteractive(node, style)) found.push(node);
    else for (const child of node[own.children]) collect(child);
  };
  collect(element);
  if (found.length) return found;
  const items = new Set(textNodes(element).filter((node) => clean(node.data)).map((node) => node[own.parentElement]));
  return [...items].slice(0, MOST_WORDS_BROUGHT_UP);
}
