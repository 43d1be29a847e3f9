// The lists of a page, cell by cell: its tables, and elements of one kind beside each other.

const TABLES = "table, [role=table], [role=grid], [role=treegrid]";
const ROWS = "tr, [role=row]";
const HEADS = "th, [role=columnheader]";
const CELLS = `td, ${HEADS}, [role=cell], [role=gridcell], [role=rowheader]`;
// Elements that are a part of the text around them, and those that are no records.
const EMPHASIS = /^(abbr|b|bdi|code|em|font|i|kbd|mark|q|s|small|strong|sub|sup|u|var|wbr|br)$/;
const PARTS = `tbody, thead, tfoot, col, option, optgroup, script, style, ${ROWS}, ${CELLS}`;
const MOST_SPANNED = 1000;

// Each as its place, which it has on all of its pages, its columns, its rows, and the tags of their texts.
function lists(ignore) {
  const found = [];
  const visit = (element) => {
    if (isLeftOut(element, ignore)) return;
    if (element[own.matches](TABLES)) found.push(readTable(element));
    const children = [...contentOf(element)].filter((child) => child[own.nodeType] === Node.ELEMENT_NODE);
    found.push(...readGroups(element, children.filter((child) => !isLeftOut(child, ignore))));
    children.forEach(visit);
  };
  if (document.body) visit(document.body);
  return JSON.stringify(found.filter(({ columns }) => columns.length));
}

function readTable(table) {
  const carried = new Map();
  const rows = ownedBy(table, ROWS, TABLES).map((row) => readRow(row, carried)).filter(Boolean);
  const width = Math.max(0, ...rows.map(({ texts }) => texts.length));
  const filled = ({ texts }) => [...texts, ...Array(width - texts.length).fill("")];
  const count = ({ texts }) => texts.filter(Boolean).length;
  const heads = rows.filter(({ isHead }) => isHead);
  // The one that names most columns, the last of several.
  const head = heads.reduce((best, row) => (count(row) >= count(best) ? row : best), { texts: [] });
  const columns = countNames(filled(head).map((text) => text || "td"));
  const tags = [...new Set(leavesOf(table).map(([leaf]) => tagOf(leaf)))];
  return { place: wayTo(table), columns, rows: rows.filter(({ isHead }) => !isHead).map(filled), tags };
}

// The texts of a row, with those of cells above that reach down to it; none for a note across all columns.
function readRow(row, carried) {
  const cells = ownedBy(row, CELLS, ROWS);
  const texts = [];
  for (const cell of [...cells, null]) {
    for (let above; (above = carried.get(texts.length)) && above.left > 0; above.left--) texts.push(above.text);
    for (let span = cell ? spanOf(cell, "colspan") : 0; span > 0; span--) {
      carried.set(texts.length, { left: spanOf(cell, "rowspan") - 1, text: wordsIn(cell) });
      texts.push(wordsIn(cell));
    }
  }
  const isNote = (cells.length === 1 && texts.length > 1) || row[own.closest]("tfoot");
  const isHead = Boolean(row[own.closest]("thead")) || cells.every((cell) => cell[own.matches](HEADS));
  return isNote || !texts.some(Boolean) ? null : { isHead, texts };
}

// What is inside, but not in another such element inside.
function ownedBy(parent, wanted, boundary) {
  const isOwn = (each) => each[own.parentElement][own.closest](boundary) === parent;
  return [...parent[own.querySelectorAll](wanted)].filter((each) => isOwn(each) && !isLeftOut(each, ""));
}

function spanOf(cell, name) {
  const span = Number(cell[own.getAttribute](name));
  return span > 0 && span <= MOST_SPANNED ? Math.floor(span) : 1;
}

function readGroups(parent, children) {
  const kinds = new Map();
  for (const child of children.filter((each) => !each[own.matches](PARTS))) {
    kinds.set(likenessOf(child), [...(kinds.get(likenessOf(child)) || []), child]);
  }
  const found = [];
  for (const [kind, members] of kinds) {
    if (members.length < 2) continue;
    const leaves = members.map(leavesOf).filter((each) => each.length);
    const names = leaves.map((each) => countNames(each.map(([leaf]) => clean(classOf(leaf)) || tagOf(leaf))));
    const columns = [...new Set(names.flat())];
    const cell = (at, name) => (leaves[at][names[at].indexOf(name)] || [null, ""])[1];
    const rows = leaves.map((_, at) => columns.map((name) => cell(at, name)));
    const tags = [...new Set(leaves.flat().map(([leaf]) => tagOf(leaf)))];
    found.push({ place: `${wayTo(parent)} ${kind}`, columns, rows, tags });
  }
  return found;
}

// The elements inside that hold a text of their own, each with it.
function leavesOf(element) {
  const shown = [...contentOf(element)].filter(
    (each) => each[own.nodeType] === Node.TEXT_NODE || (each[own.nodeType] === Node.ELEMENT_NODE && !isLeftOut(each, "")),
  );
  const isText = (each) => each[own.nodeType] === Node.TEXT_NODE;
  const hasText = shown.some((each) => isText(each) && clean(each.data));
  const isPart = (each) => isText(each) || (hasText && EMPHASIS.test(tagOf(each)));
  const textOf = (each) => (tagOf(each) === "br" ? " " : each[own.innerText] || "");
  const text = clean(shown.filter(isPart).map((each) => (isText(each) ? each.data : textOf(each))).join(""));
  return [...(hasText ? [[element, text]] : []), ...shown.filter((each) => !isPart(each)).flatMap(leavesOf)];
}

function countNames(names) {
  const seen = new Map();
  return names.map((name) => {
    seen.set(name, (seen.get(name) || 0) + 1);
    return seen.get(name) > 1 ? `${name} ${seen.get(name)}` : name;
  });
}

const wordsIn = (element) => clean(element[own.innerText] || "");
const likenessOf = (element) => `${tagOf(element)}.${clean(classOf(element)).split(" ")[0].toLowerCase().replace(/[^a-z]/g, "")}`;

function wayTo(element) {
  const names = [];
  for (let at = element; at && tagOf(at) !== "html"; at = flatParent(at)) names.unshift(likenessOf(at));
  return names.join(" ");
}
