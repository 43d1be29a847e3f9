// CSS counters, with which styles number headings, steps and figures.

// Whether a style sheet of the document writes a counter: only then are elements asked about them.
let COUNTS = false;
const COUNTER = /(counters?)\(([\w-]+)(?:, "([^"]*)")?(?:, ([\w-]+))?\)/g;

class Counters {
  constructor() {
    this.scopes = new Map(); // by name: where each begins, the innermost last, and how far it is
  }

  // What an element's style, or that of generated content in it, does to them. A counter is seen by
  // what is in the parent of where it begins.
  pass(style, parent) {
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

  // A `content` value with the numbers in the places of their counters.
  resolve(content, element) {
    return content.replace(COUNTER, (_, kind, name, separator, type) => {
      const numbers = this.seen(name, element).map(({ number }) => (COUNTED[type] || String)(number));
      return `"${kind === "counter" ? numbers.pop() ?? 0 : numbers.join(separator)}"`;
    });
  }
}

// Pairs of name and number, as in `chapter 1 figure 0`.
function changesOf(value) {
  return [...value.matchAll(/([\w-]+) (-?\d+)/g)].map(([, name, number]) => [name, Number(number)]);
}
