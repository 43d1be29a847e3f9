// Numbers and quotation marks that styles write into a page: CSS counters, with which headings, steps and
// figures are numbered, and `open-quote`.

const COUNTER = /(counters?)\(([\w-]+)(?:, "([^"]*)")?(?:, ([\w-]+))?\)/g;
const QUOTE = /(?<!no-)\b(open|close)-quote\b/g;
const ENGLISH_QUOTES = ["“", "”", "‘", "’"];

// Content with the numbers in the places of their counters: for each part the elements that have any. It
// depends on all that stands before, so it is found in one pass when a look first needs it.
let NUMBERED = null;

function numbered(element, part) {
  if (!NUMBERED) {
    NUMBERED = { "::before": new Map(), "::after": new Map() };
    new Counters().pass(document.documentElement, rulesOf(document).written);
  }
  return NUMBERED[part].get(element) || "";
}

class Counters {
  constructor() {
    this.scopes = new Map(); // by name: where each begins, the innermost last, and how far it is
  }

  pass(element, written) {
    const style = getComputedStyle(element);
    if (style.display === "none" || SKIPPED.has(tagOf(element))) return;
    this.change(style, flatParent(element) || element);
    const isWritten = element[own.matches](written);
    if (isWritten) this.write(element, "::before");
    const shadow = shadowOf(element);
    const inner = tagOf(element) === "slot" ? slotted(element) : shadow ? shadow.children : element[own.children];
    for (const child of [...inner]) {
      if (child[own.nodeType] === Node.ELEMENT_NODE) this.pass(child, shadow ? rulesOf(shadow).written : written);
    }
    if (isWritten) this.write(element, "::after");
  }

  write(element, part) {
    const style = getComputedStyle(element, part);
    if (/^(none|normal)$/.test(style.content) || style.display === "none") return;
    this.change(style, element);
    if (style.content.includes("counter")) NUMBERED[part].set(element, this.resolve(style.content, element));
  }

  // What a style does to them. A counter is seen by what is in the parent of where it begins.
  change(style, parent) {
    for (const [name, number] of changesOf(style.counterReset)) this.begin(name, number, parent);
    for (const [name, number] of changesOf(style.counterIncrement)) this.reach(name, parent).number += number;
    for (const [name, number] of changesOf(style.counterSet)) this.reach(name, parent).number = number;
  }

  begin(name, number, parent) {
    const seen = this.seen(name, parent);
    if (seen.length && seen[seen.length - 1].parent === parent) seen.pop();
    this.scopes.set(name, [...seen, { parent, number }]);
  }

  seen(name, place) {
    return (this.scopes.get(name) || []).filter(({ parent }) => parent === place || parent[own.contains](place));
  }

  reach(name, parent) {
    if (!this.seen(name, parent).length) this.begin(name, 0, parent);
    return this.seen(name, parent).pop();
  }

  resolve(content, element) {
    return content.replace(COUNTER, (_, kind, name, separator, type) => {
      const known = name === "list-item" ? itemNumbers(element) : this.seen(name, element).map(({ number }) => number);
      const numbers = known.map(COUNTED[type] || String);
      return `"${kind === "counter" ? numbers.pop() ?? 0 : numbers.join(separator)}"`;
    });
  }
}

// Pairs of name and number, as in `chapter 1 figure 0`.
function changesOf(value) {
  return [...value.matchAll(/([\w-]+) (-?\d+)/g)].map(([, name, number]) => [name, Number(number)]);
}

// A `content` value with the quotation marks in their places. Where the browser chooses them by the
// language, they are the English ones.
function withQuotes(content, element, quotes) {
  return content.replace(QUOTE, (_, side) => {
    const written = [...quotes.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, mark]) => mark);
    const marks = written.length || quotes === "none" ? written : ENGLISH_QUOTES;
    const level = Math.min(quotesAround(element), marks.length / 2 - 1);
    return `"${marks[2 * level + (side === "open" ? 0 : 1)] ?? ""}"`;
  });
}

function quotesAround(element) {
  let count = 0;
  for (let node = flatParent(element); node; node = flatParent(node)) {
    if (getComputedStyle(node, "::before").content.includes("open-quote")) count += 1;
  }
  return count;
}
