// What the browser draws before the items of a list: numbers in many forms, letters, words.

const PLAIN_MARKERS = /^(none|disc|circle|square|disclosure-(open|closed))$/;
const LATIN = "abcdefghijklmnopqrstuvwxyz";
const GREEK = "αβγδεζηθικλμνξοπρστυφχψω";
const ROMAN = [
  [1000, "m"], [900, "cm"], [500, "d"], [400, "cd"], [100, "c"], [90, "xc"], [50, "l"], [40, "xl"],
  [10, "x"], [9, "ix"], [5, "v"], [4, "iv"], [1, "i"],
];
const MOST_ROMAN = 3999;

const COUNTED = {
  decimal: String,
  "decimal-leading-zero": (number) => (number < 0 ? "-" : "") + String(Math.abs(number)).padStart(2, "0"),
  "lower-alpha": (number) => letters(number, LATIN),
  "lower-latin": (number) => letters(number, LATIN),
  "upper-alpha": (number) => letters(number, LATIN).toUpperCase(),
  "upper-latin": (number) => letters(number, LATIN).toUpperCase(),
  "lower-greek": (number) => letters(number, GREEK),
  "lower-roman": romanNumeral,
  "upper-roman": (number) => romanNumeral(number).toUpperCase(),
};

// After the last letter come two of them, as in the columns of a spreadsheet; below 1 there are digits.
function letters(number, alphabet) {
  if (number < 1) return String(number);
  let text = "";
  for (let rest = number; rest > 0; rest = Math.floor((rest - 1) / alphabet.length)) {
    text = alphabet[(rest - 1) % alphabet.length] + text;
  }
  return text;
}

function romanNumeral(number) {
  if (number < 1 || number > MOST_ROMAN) return String(number);
  let [text, rest] = ["", number];
  for (const [value, letters] of ROMAN) for (; rest >= value; rest -= value) text += letters;
  return text;
}

// The number of each item of a list.
function listNumbers(list) {
  const items = [...list[own.children]].filter((child) => tagOf(child) === "li");
  let number = list[own.hasAttribute]("start") ? list.start : list.reversed ? items.length : 1;
  const numbers = new Map();
  for (const item of items) {
    if (item[own.hasAttribute]("value")) number = item.value;
    numbers.set(item, number);
    number += list.reversed ? -1 : 1;
  }
  return numbers;
}

// The numbers of the items that an element is in, the innermost last.
function itemNumbers(element) {
  const numbers = [];
  for (let item = element[own.closest]("li"); item && item[own.parentElement]; ) {
    const list = item[own.parentElement];
    numbers.unshift(listNumbers(list).get(item) ?? 0);
    item = list[own.closest]("li");
  }
  return numbers;
}

// The text before an item: what the page's style writes as its marker, else its number. Nothing of a
// style of counting that the page made up itself.
function markerText(item, type, number, isWritten) {
  const written = isWritten && getComputedStyle(item, "::marker").content;
  if (written && !/^(none|normal)$/.test(written)) return generated(withNumber(written, number));
  if (type.startsWith('"')) return generated(type);
  return COUNTED[type] && number !== undefined ? `${COUNTED[type](number)}. ` : "";
}

function withNumber(content, number) {
  return content.replace(/counter\(list-item(?:, ([\w-]+))?\)/g, (_, type) => {
    return number === undefined ? '""' : `"${(COUNTED[type] || String)(number)}"`;
  });
}
