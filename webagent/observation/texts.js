// Text as it is drawn, where that changes what it says: struck through, raised, lowered, in a formula.

const SHIFTED = {
  sup: new Map(Object.entries({ ...[..."⁰¹²³⁴⁵⁶⁷⁸⁹"], "+": "⁺", "-": "⁻", "−": "⁻", "=": "⁼", "(": "⁽", ")": "⁾", n: "ⁿ", i: "ⁱ" })),
  sub: new Map(Object.entries({ ...[..."₀₁₂₃₄₅₆₇₈₉"], "+": "₊", "-": "₋", "−": "₋", "=": "₌", "(": "₍", ")": "₎", n: "ₙ", i: "ᵢ" })),
};

// Raised and lowered numbers; other text, as in 1st, reads well as it is.
function shifted(text, tag) {
  const signs = [...text].map((sign) => (clean(sign) ? SHIFTED[tag].get(sign) : sign));
  return signs.includes(undefined) ? text : signs.join("");
}

// Whether the text in an element is struck through, where that around it is or is not.
function isStruck(style, isAround) {
  if (style.textDecorationLine.includes("line-through")) return true;
  return isAround && !/^inline-/.test(style.display) && !/^(absolute|fixed)$/.test(style.position) && style.float === "none";
}

function drawnText(text, parent, style, isStruckOut) {
  const tag = tagOf(parent);
  const drawn = SHIFTED[tag] ? shifted(text, tag) : asDrawn(text, style);
  return isStruckOut && clean(drawn) ? drawn.replace(/^(\s*)(.*?)(\s*)$/s, "$1~~$2~~$3") : drawn;
}

// The name of an element with what its texts say by how they are drawn.
function drawnName(name, element, isAround) {
  if (!name || name.length > LONGEST_NAME || /^(select|textarea)$/.test(tagOf(element))) return name;
  for (const holder of [element, ...labelsFor(element)]) {
    const around = holder === element && isAround;
    const isOut = (each) => isStruck(getComputedStyle(each), each === holder ? around : isOut(each[own.parentElement]));
    let before = "";
    for (const node of textNodes(holder)) {
      const [parent, text] = [node[own.parentElement], ofTextNode(node).replace(/\s+/g, " ")];
      const drawn = drawnText(text, parent, getComputedStyle(parent), isOut(parent));
      const tail = before.slice(-9).trimStart();
      if (name.includes(tail + clean(text))) name = name.replace(tail + clean(text), () => tail + clean(drawn));
      else if (drawn.includes("~~")) name = name.replace(clean(text), () => clean(drawn));
      before += drawn;
    }
  }
  return name;
}

// A formula on one line: `1/2 + x²`.
function mathText(element) {
  const parts = [...element[own.children]].filter((part) => tagOf(part) !== "annotation").map(mathText);
  const grouped = parts.map((part) => (/^[\p{L}\p{N}.,]*$/u.test(part) ? part : `(${part})`));
  const [first, second = "", third = ""] = grouped;
  const raised = (text) => (shifted(text, "sup") === text ? `^${text}` : shifted(text, "sup"));
  const lowered = (text) => (shifted(text, "sub") === text ? `_${text}` : shifted(text, "sub"));
  switch (tagOf(element)) {
    case "mfrac": return `${first}/${second}`;
    case "msqrt": return `√${parts.length > 1 ? `(${parts.join("")})` : first}`;
    case "mroot": return `root ${second} of ${first}`;
    case "msup": case "mover": return first + raised(second);
    case "msub": case "munder": return first + lowered(second);
    case "msubsup": case "munderover": return first + lowered(second) + raised(third);
    case "mtr": return parts.join(" | ");
    case "mtable": return parts.join("; ");
    case "mo": return /^[=<>≤≥≠+−±→⇒]$|^-$/.test(clean(element[own.textContent])) ? ` ${clean(element[own.textContent])} ` : clean(element[own.textContent]);
    default: return parts.length ? parts.join("") : clean(element[own.textContent]);
  }
}
