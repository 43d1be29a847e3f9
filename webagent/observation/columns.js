// Rows and columns: what belongs to one line of a table, and what stands above a column.

const LONGEST_CELL = 80;
// Fewer numbers are no month.
const LEAST_DAYS = 20;
const LEAST_WEEKDAYS = 5;

// Whether an element is one of several cells of a row and holds only a few words, in however many blocks.
function isShort(cell) {
  if (cell[own.parentElement] === null || cell[own.parentElement][own.childElementCount] < 2) return false;
  return clean(cell[own.textContent]).length <= LONGEST_CELL && !cell[own.querySelector](`br, ul, ol, table, pre, ${CONTROLS}`);
}

const LONGEST_ROW = 200;

function isRowOfCells(element, style) {
  if (element[own.childElementCount] < 2 || (style.display !== "table-row" && writtenRole(element) !== "row")) return false;
  return !element[own.querySelector]("tr, [role=row]");
}

// What stands in the cells of a row is read as one line, where that is short and nothing in it is nested.
function joinRow(rows) {
  const isPlain = (row) => !row.hole && row.depth === rows[0].depth && row.kind !== "option" && row.kind !== "li";
  const letters = rows.reduce((sum, row) => sum + row.name.length + row.value.length, 0);
  if (rows.length > 1 && letters <= LONGEST_ROW && rows.every(isPlain)) for (const row of rows) row.line = rows;
}

// A coloured dot or bar in a cell that nothing listens for belongs to the text of its row.
function isDotOfRow(element, style) {
  if (!isColouredBox(element, style) || drawsTick(element) || style.display === "table-cell" || isInteractive(element, style)) return false;
  const table = element[own.closest]("table, [role=table], [role=grid], [role=treegrid]");
  if (!table || !element[own.closest]("td, th, [role=cell], [role=gridcell]")) return false;
  for (let node = element; node && node !== flatParent(table); node = flatParent(node)) {
    if (LISTENING.has(node) || node[own.matches](HEARS_MOUSE)) return false;
  }
  return true;
}

// What stands above the column of a table that a field is in.
function columnHeader(field) {
  const cell = field[own.closest]("td");
  const table = cell && tagOf(cell[own.parentElement]) === "tr" && cell[own.closest]("table");
  if (!table) return "";
  const head = [0, 1, 2].map((place) => table.rows[place]).find((row) => row && isHeaderRow(row));
  const header = head && cellAt(head, startOf(cell));
  const words = header && canBeSeen(header) ? clean(header[own.textContent]) : "";
  return words.length <= 60 ? words : "";
}

// The words before the only field of a row are about it; before several they are about the row.
function sharesRow(field) {
  return field[own.closest]("tr")[own.querySelectorAll]("input:not([type=hidden]), select, textarea").length > 1;
}

// Whether an element is all that can be acted on in its cell, so that the head of the column names it.
function onlyInCell(element) {
  const cell = element[own.closest]("td");
  return cell && [...cell[own.querySelectorAll](CONTROLS)].every((other) => other === element || element[own.contains](other));
}

function isHeaderRow(row) {
  const cells = [...row.cells].filter((cell) => clean(cell[own.textContent]));
  return cells.length > 1 && cells.every((cell) => tagOf(cell) === "th");
}

function startOf(cell) {
  return [...cell[own.parentElement].cells].slice(0, cell.cellIndex).reduce((sum, each) => sum + each.colSpan, 0);
}

function cellAt(row, column) {
  return [...row.cells].find((cell) => startOf(cell) <= column && column < startOf(cell) + cell.colSpan);
}

// Days of a calendar are told with the days of the week above them.
function sayWeekdays(rows) {
  let days = rows.filter((row) => row.mark && !row.description && /^\d{1,2}$/.test(row.name));
  while (days.length >= LEAST_DAYS) {
    let [holder, month] = [days[0].element, []];
    while (holder && month.length < LEAST_DAYS) {
      holder = holder[own.parentElement];
      month = days.filter(({ element }) => holder && holder[own.contains](element));
    }
    let heads = [];
    for (let level = 0; holder && !heads.length && level < 4; level++, holder = holder[own.parentElement]) {
      heads = weekdaysIn(holder, month[0].box[1]);
    }
    const above = month.map((row) => heads.find(({ box }) => isAbove(box, row.box)));
    const isMonth = new Set(above).size >= LEAST_WEEKDAYS;
    month.forEach((row, index) => (row.description = isMonth && above[index] ? above[index].name : ""));
    days = month.length ? days.filter((row) => !month.includes(row)) : [];
  }
}

function isAbove(head, box) {
  return Math.abs(head[0] + head[2] / 2 - box[0] - box[2] / 2) <= Math.max(head[2], box[2]) / 2;
}

// A row of single words above a height: the days of the week, with or without a column for the week's number.
function weekdaysIn(holder, bottom) {
  const rows = new Map();
  for (const element of holder[own.querySelectorAll](":not(:has(*))")) {
    const [text, box] = [clean(element[own.textContent]), boxOf(element)];
    if (!/^\p{L}{1,9}\.?$/u.test(text) || box[2] <= 2 || box[1] >= bottom) continue;
    rows.set(box[1], [...(rows.get(box[1]) || []), { name: labelText(element) || text, box }]);
  }
  return [...rows.values()].find((row) => row.length >= LEAST_WEEKDAYS && row.length <= 8) || [];
}
