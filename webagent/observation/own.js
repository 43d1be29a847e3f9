// The way to what every element has by itself. A form puts its fields before that: of `<form><input
// name=children>`, `form.children` is the field. Only symbols are safe from it, so `form[own.children]`
// leads to the member of that name on the prototypes, which no page can touch in this world.
//
// Other documents of this world must understand the same symbols.

const INTERFACES = [EventTarget, Node, Element, HTMLElement, SVGElement, MathMLElement];

function symbolsFor(names) {
  const symbols = {};
  for (const name of names) {
    symbols[name] = Symbol.for(name);
    for (const { prototype } of INTERFACES) {
      const member = Object.getOwnPropertyDescriptor(prototype, name);
      if (member) Object.defineProperty(prototype, symbols[name], member);
    }
  }
  return symbols;
}

const own = symbolsFor(OWN_NAMES);

// The element where it may be asked for what only fields have, such as `disabled`; of a form that
// would be one of its fields.
const NOTHING = Object.freeze({});
const asField = (element) => (tagOf(element) === "form" ? NOTHING : element);
