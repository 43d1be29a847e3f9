// One walk over the page, in reading order, that turns it into rows for `records.Node`.

// Elements looked at, after which only what is in view is read; clocks may stand still here.
const MOST_READ = 12000;
// Options of one list that are read: of more the browser and a reader take seconds.
const MOST_OPTIONS = 1000;
const LONGEST_DESCRIPTION = 80;
// Of an element that is called by all the text in it.
const LONGEST_NAME = 160;
// Lines of one preformatted text that are measured one by one: the browser counts to each from the start.
const MOST_MEASURED = 200;

const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

function isFarOff(element) {
  const box = element[own.getBoundingClientRect]();
  return box.bottom < 0 || box.top > innerHeight || box.right < 0 || box.left > innerWidth;
}

// What is said about an element besides its name: its author's description, what the browser finds wrong
// with what was entered, what stands in a field as long as it is empty.
function shownDescription(element, name, value) {
  if (["aria-describedby", "aria-description"].some((each) => element[own.hasAttribute](each))) return accessibleDescription(element);
  if (isRefused(element)) return clean(`${element.validationMessage} ${element.validity.patternMismatch ? tooltip(element) : ""}`);
  if (tagOf(element) === "input" && element.list && !value) return suggestions(element.list);
  if (tagOf(element) === "input" && element.pattern && !value && tooltip(element) !== name) return tooltip(element);
  const isEmpty = isTextField(element) && !value && channels(getComputedStyle(element, "::placeholder").color);
  const placeholder = isEmpty ? clean(element[own.getAttribute]("placeholder")) : "";
  return lettersOf(name).includes(lettersOf(placeholder)) ? "" : placeholder;
}

// What the browser offers below an empty field, as far as a short line holds it.
function suggestions(list) {
  const labels = [...list.options].map((option) => clean(option.label || option.value)).filter(Boolean);
  const fits = labels.filter((_, index) => labels.slice(0, index + 1).join(", ").length <= LONGEST_DESCRIPTION - 20);
  return fits.length ? `suggests ${fits.join(", ")}${fits.length < labels.length ? ", …" : ""}` : "";
}

const lettersOf = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

function shortly(description, name) {
  return description.length <= LONGEST_DESCRIPTION && description !== name ? description : "";
}

// Text in these is chosen or where one is; that of the current page stands among links and is none.
const CHOSEN = "[aria-current]:not([aria-current=false], [aria-current=page]), [aria-selected=true]";
const LIST_ROLES = /^(combobox|listbox)$/;
const FIELD_ROLES = /^(textbox|searchbox|combobox|listbox|spinbutton|slider|checkbox|radio|switch)$/;

class Walk {
  constructor(ignore) {
    this.ignore = ignore;
    this.rows = [];
    this.text = "";
    this.textBox = null;
    this.textKind = "";
    this.textStates = [];
    this.textParent = null;
    this.row = null;
    this.grids = new Set();
    this.items = new Set();
    this.numbers = new Map();
    this.number = "";
    this.rules = rulesOf(document);
    this.broughtUp = 0;
    this.isStruck = false;
    this.cell = null;
    this.consumed = new Set();
    this.lists = new Map();
    this.focused = focusedElement();
    this.selection = getSelection().isCollapsed ? null : getSelection();
    this.visited = 0;
    this.unread = 0;
    this.covers = [];
    this.covered = 0;
    this.unusable = 0;
    this.isInert = false;
    NUMBERED = null;
    VARIED = new Map();
    LABELS = new Map();
    SHADOWS = [];
  }

  children(element, depth, muted) {
    const shadow = shadowOf(element);
    const nodes = shadow ? shadow.childNodes : shownChildren(element);
    const { rules, isStruck: isAround } = this;
    this.isStruck = isStruck(getComputedStyle(element), isAround);
    if (shadow) {
      this.rules = rulesOf(shadow);
      SHADOWS.push(shadow);
    }
    for (const node of tagOf(element) === "slot" ? slotted(element) : nodes) {
      if (node[own.nodeType] === Node.TEXT_NODE) this.addText(node, element, depth, muted);
      else if (node[own.nodeType] === Node.ELEMENT_NODE) this.element(node, depth, muted);
    }
    [this.rules, this.isStruck] = [rules, isAround];
  }

  element(element, depth, muted) {
    if (SKIPPED.has(tagOf(element)) || this.consumed.has(element)) return;
    if (this.ignore && element[own.matches](this.ignore)) return;
    if (this.visited++ > MOST_READ && isFarOff(element)) return this.leaveUnread(element);
    const style = getComputedStyle(element);
    if (style.display === "none" || isCutAway(element, style)) return void this.bringUp(element, depth);
    if (element[own.inert] && !this.isInert) return this.inert(element, depth, muted);
    if (tagOf(element) === "br") return this.flush();
    if (style.display === "list-item") this.startItem(element, style);
    const label = labelled(element);
    if (label && (hasOwnLine(label) || isDrawnIn(element, label))) return this.children(element, depth, !this.isInert && isSaidBy(label, element));
    if (element instanceof SVGElement && isTooSmall(element)) return;
    if (tagOf(element) === "select" && isSpeck(element) && isDrawnBeside(element)) return;
    if (!this.isInert && tagOf(element) === "img" && element.useMap) this.areas(element, depth);
    const words = standIn(element, style) || (this.isInert && shownValue(element));
    if (words) return this.addWords(` ${words} `, element, flatParent(element), depth);
    const shown = style.visibility === "visible" && hasSize(element);
    if (style.visibility !== "visible" && this.bringUp(element, depth)) return;
    if (EMBEDS.test(tagOf(element))) {
      if (element.contentWindow) return shown && !this.isInert && this.frame(element, depth);
      if (style.visibility === "visible") this.addWords(embedded(element), element, element, depth);
    }
    if (shown) this.noteCover(element, style);
    if (this.isInert) return this.block(element, style, depth, muted);
    if (shown && this.openItems(element, style)) return this.block(element, style, depth, muted);
    if (shown && this.isOwnLine(element, style)) {
      return isOffCanvas(element) ? undefined : this.line(element, style, depth);
    }
    if (shown) noteHollow(element, style);
    this.block(element, style, depth, muted);
  }

  // The parts of a picture that are links.
  areas(image, depth) {
    const areas = areasOf(image).filter((area) => imageOf(area) === image && canBeSeen(area));
    if (areas.length) this.flush();
    for (const area of areas) {
      const style = getComputedStyle(area);
      this.rows.push({
        mark: true, role: roleOf(area), name: nameOf(area, style), value: "", states: statesOf(area, "link"),
        box: boxOf(area), depth, kind: "area", element: area, description: "",
      });
    }
  }

  // A list, grid or board that listens for what happens to its items: each of them gets a line.
  openItems(element, style) {
    if (this.items.has(element) || !isListening(element, style)) return false;
    const items = itemsOf(element);
    for (const item of items) this.items.add(item);
    return items.size > 1;
  }

  isOwnLine(element, style) {
    if (this.items.has(element)) return true;
    if (labelled(element)) return true;
    return (isInteractive(element, style) || isDrawn(element, style)) && !drawsTick(element);
  }

  // What the mouse brings up elsewhere; returns whether something hidden is that.
  bringUp(element, depth) {
    const rules = this.rules.broughtUp;
    const holder = !this.isInert && rules.length && this.broughtUp < MOST_BROUGHT_UP && holderOf(element, rules);
    if (!holder) return false;
    const found = hiddenControls(element, (node) => rules.some(({ target }) => node[own.matches](target)));
    if (found.length) this.flush();
    for (const control of found) {
      const [style, role] = [getComputedStyle(control), roleOf(control)];
      this.rows.push({
        mark: true, role, name: nameOf(control, style), value: valueOf(control), states: statesOf(control, role),
        box: boxOf(holder), depth, kind: kindOf(control), element: control, description: "appears on hover",
      });
    }
    this.broughtUp += found.length;
    return true;
  }

  // Icons that were called alike by words of their style are called by what tells them apart.
  distinguish() {
    const alike = new Map();
    for (const row of this.rows) {
      if (row.guess && row.name === row.guess) alike.set(row.name, [...(alike.get(row.name) || []), row]);
    }
    for (const rows of alike.values()) {
      if (rows.length === 1) continue;
      const words = rows.map(({ element }) => aroundWords(element));
      const isShared = (word) => words.every((some) => some.includes(word));
      rows.forEach((row, index) => {
        row.name = words[index].filter((word) => !isShared(word)).slice(0, 3).join(" ") || row.name;
      });
    }
  }

  // A frame's rows are put in once its document has been asked for them.
  frame(element, depth) {
    this.flush();
    const hole = holeOf(element, element === this.focused);
    this.rows.push({
      mark: false, role: "frame", name: hole.title, value: "", states: [], box: boxOf(element), depth,
      kind: kindOf(element), element, hole,
    });
  }

  // Asking what is at a point is slow on long pages, so it is asked only below what could lie over it.
  noteCover(element, style) {
    if (style.position === "static" || (style.position === "relative" && style.zIndex === "auto")) return;
    this.covers.push([element, element[own.getBoundingClientRect]()]);
  }

  // The label of a list out of sight names the widget that stands for it and is nothing to act on itself.
  leaveOutLabels() {
    const lists = new Set(this.rows.map((row) => row.list).filter(Boolean));
    this.rows = this.rows.filter(({ element }) => !element || tagOf(element) !== "label" || !lists.has(element.control));
  }

  // Two labels of one field are both told of; one element has the focus.
  focusOnce() {
    for (const { states } of this.rows.filter((row) => row.states.includes("focused")).slice(1)) states.splice(states.indexOf("focused"), 1);
  }

  // Drawings are left as they are: in them things may well lie over each other.
  leaveOutCovered() {
    if (!this.covers.length) return;
    const kept = this.rows.filter((row) => row.hole || !row.element || !this.isCovered(row));
    this.covered = this.rows.filter((row) => row.mark).length - kept.filter((row) => row.mark).length;
    this.rows = kept;
  }

  isCovered({ element, box, kind }) {
    if (element instanceof SVGElement || kind === "option" || !box) return false;
    const [left, top, right, bottom] = [box[0], box[1], box[0] + box[2], box[1] + box[3]];
    const isBelow = ([cover, rect]) =>
      rect.left <= left && rect.top <= top && rect.right >= right && rect.bottom >= bottom &&
      !cover[own.contains](element) && !element[own.contains](cover);
    return this.covers.some(isBelow) && isPaintedOver(element, box, this.ignore);
  }

  // What cannot be used is read all the same where it is seen; nothing in it has a mark.
  inert(element, depth, muted) {
    this.unusable += element[own.querySelectorAll](CONTROLS).length;
    if (isOffCanvas(element) || isClipped(element)) return;
    this.isInert = true;
    this.element(element, depth, muted);
    this.isInert = false;
  }

  leaveUnread(element) {
    this.unread += 1 + element[own.getElementsByTagName]("*").length;
  }

  // What was left out, said at the end.
  sayWhatIsMissing(layers) {
    if (layers.length) this.say(`behind the dialog: ${count(behind(layers), "element")} that cannot be used now`, layers[0]);
    if (this.unusable) this.say(`inert: ${count(this.unusable, "element")} that cannot be used now`, document.body);
    if (this.covered) this.say(`behind other content: ${count(this.covered, "element")}`, document.body);
    if (this.unread) this.say(`out of view: ${count(this.unread, "more element")} not read`, document.body);
  }

  say(name, element, kind = "note") {
    this.rows.push({ mark: false, role: "text", name, value: "", states: [], box: [0, 0, 0, 0], depth: 0, kind, element });
  }

  // An element without a line of its own: only its content, set apart where it is a block.
  block(element, style, depth, muted) {
    const parent = element[own.parentElement];
    const isGap = style.display === "contents";
    const isTabular = style.display === "table-cell" || /^(cell|gridcell|columnheader|rowheader)$/.test(writtenRole(element));
    const isCell = isTabular || (this.grids.has(parent) && !isGap);
    const cell = this.cell;
    if (isCell) this.cell = isTabular && isShort(element) ? element : null;
    const apart = !/^(inline|ruby)/.test(style.display) || (this.isInert && tagOf(element) === "button");
    if (style.display === "inline-block" && this.text) this.text += " ";
    if (isCell) this.startCell(element, parent);
    else if (apart) this.part();
    if (style.contentVisibility === "hidden") return;
    if (style.display === "grid" || (isGap && this.grids.has(parent))) this.grids.add(element);
    const nested = /^(ul|ol)$/.test(tagOf(element)) && flatParent(element)[own.closest]("li,ul,ol");
    const isWritten = this.rules.written && !muted && element[own.matches](this.rules.written);
    if (isWritten) this.addGenerated(element, "::before", depth);
    const start = this.rows.length;
    this.children(element, nested ? depth + 1 : depth, muted);
    if (isWritten) this.addGenerated(element, "::after", depth);
    if (style.display === "list-item") this.number = "";
    if (isTabular) this.endCell(element);
    if (this.cell) this.text = this.text.replace(/, +$/, "");
    if (isCell) this.text += " ";
    this.cell = cell;
    if (!isCell && apart) this.part();
    if (isRowOfCells(element, style)) joinRow(this.rows.slice(start));
  }

  // Between two blocks; those in a short cell of a row do not part the row.
  part() {
    if (!this.cell) this.flush();
    else if (/[^\s|,:]\s*$/.test(this.text)) this.text += ", ";
  }

  // A row of cells without controls reads as one line: `Country | Japan`. An empty cell keeps its place.
  startCell(element, parent) {
    const row = this.grids.has(parent) ? `${element[own.getBoundingClientRect]().top}` : "";
    const isNext = this.row && this.row[0] === parent && this.row[1] === row;
    if (isNext && clean(this.text)) this.text += " | ";
    else this.flush();
    this.row = [parent, row];
  }

  // What else a cell shows: that the rows are sorted by it, or a picture of which only its style has a name.
  endCell(cell) {
    const order = sortOrder(cell);
    if (order && !cell[own.querySelector](CONTROLS)) this.text += ` ${order}`;
    const last = this.rows[this.rows.length - 1];
    if (last && last.mark && cell[own.contains](last.element)) return;
    const icon = !clean(cell[own.textContent]) && /(^|\|)\s*$/.test(this.text) && cell[own.querySelector]("svg, i, [class*=icon]");
    if (icon && canBeSeen(icon) && pictureName(icon)) this.addWords(pictureName(icon), icon, icon, 0);
  }

  // An item of a list begins with what is drawn before it, unless it has no text.
  startItem(item, style) {
    const [list, type] = [item[own.parentElement], style.listStyleType];
    const isWritten = this.rules.written && item[own.matches](this.rules.written);
    if (!list || (PLAIN_MARKERS.test(type) && !isWritten)) return;
    if (!this.numbers.has(list)) this.numbers.set(list, listNumbers(list));
    this.number = markerText(item, type, this.numbers.get(list).get(item), isWritten);
  }

  // Words that no text node holds.
  addWords(words, element, parent, depth) {
    this.beginText(parent, depth, element);
    this.text += words;
    this.textBox = union(this.textBox, boxOf(element));
  }

  addGenerated(element, part, depth) {
    const text = pseudoText(element, part).replace(ICON_LETTERS, "");
    if (clean(text)) this.addWords(text, element, element, depth);
    else if (text && this.text) this.text += " ";
  }

  // A line of text is of the kind of what its first words stand in, and as deep.
  beginText(parent, depth, element = parent) {
    if (this.text) return;
    [this.textKind, this.textParent, this.textDepth] = [kindOf(parent), element, depth];
    [this.text, this.number] = [this.number, ""];
    this.textStates = parent && parent[own.closest](CHOSEN) ? ["selected"] : [];
  }

  addText(node, parent, depth, muted) {
    const text = node.data;
    if (!clean(text)) {
      if (this.text) this.text += " ";
      return;
    }
    const style = getComputedStyle(parent);
    if (muted || this.consumed.has(node) || style.visibility !== "visible") return;
    const isSplit = text.includes("\n") && /^(pre|break-spaces)/.test(style.whiteSpace);
    const lines = isSplit ? text.split("\n") : [text];
    const evenly = lines.length > MOST_MEASURED && linesWithin(boxOfText(node, 0, text.length), lines.length);
    let start = 0;
    for (const [index, line] of lines.entries()) {
      if (index) this.flush();
      const box = clean(line) && (evenly ? evenly[index] : boxOfText(node, start, start + line.length));
      start += line.length + 1;
      if (!box) continue;
      this.beginText(parent, depth);
      if (this.selection && this.selection.containsNode(node, true)) this.textStates = [...new Set([...this.textStates, "highlighted"])];
      this.text += drawnText(asDrawn(line, style), parent, style, this.isStruck);
      this.textBox = union(this.textBox, box);
    }
  }

  flush() {
    const text = clean(this.text).replace(/^(\| )+|( \|)+$/g, "");
    if (text) {
      this.rows.push({
        mark: false, role: "text", name: text, value: "", states: this.textStates, box: this.textBox,
        depth: this.textDepth, kind: this.textKind, element: this.textParent,
      });
    }
    this.text = "";
    this.textBox = this.textParent = null;
    this.textStates = [];
    this.row = null;
  }

  line(element, style, depth) {
    const control = labelled(element);
    const tick = control ? null : tickBehind(element);
    const source = control || tick || element;
    const list = control ? null : this.listOf(element);
    const drawn = source === element && !list && drawnTick(element);
    const role = drawn ? drawn.role : list && !LIST_ROLES.test(roleOf(element)) ? roleOf(list) : roleOf(source);
    let name = control ? visibleText(element) : drawn ? labelText(element) || tooltip(element) : nameOf(element, style);
    if (tick && !clean(element[own.textContent])) name = nameOf(tick, style);
    if (list) name = nameForList(element, list, name);
    if (!name && (list || tagOf(source) === "select" || drawn || !element[own.textContent])) name = this.nearbyName(list || element, role);
    if (LABELLABLE.test(tagOf(source)) && FIELD_ROLES.test(role)) name = looseLabel(source, name) || name;
    const isGuess = Boolean(name) && !clean(element[own.textContent]) && name === iconWords(element, style);
    const isVague = isGuess || (!name && /^(button|link)$/.test(role));
    if (isVague && onlyInCell(element)) name = columnHeader(element) || name;
    const rowOf = TICKED_ROLES.test(role) || (isVague && !name) ? rowWords(element) : "";
    name = name || rowOf;
    name = drawnName(name, element, isStruck(style, this.isStruck));
    this.flush();
    const row = {
      mark: true, role, name, value: list ? shownOfList(element, list) : valueBeside(source, name),
      states: statesOf(source, role, drawn), box: boxOf(element), depth, kind: kindOf(source), element, list,
    };
    if (isGuess) row.guess = name;
    if (source === this.focused) row.states.push("focused");
    const description = shortly(shownDescription(source, name, row.value), name);
    row.description = clean(`${this.number} ${description || (rowOf === "all rows" || name.includes(rowOf) ? "" : rowOf)}`);
    this.number = "";
    this.rows.push(row);
    this.inside(row, element, depth);
  }

  // Of a widget that stands for a list the outermost element does, not its parts.
  listOf(element) {
    const list = listBehind(element);
    if (list && !this.lists.has(list)) this.lists.set(list, element);
    return list && this.lists.get(list) === element ? list : null;
  }

  inside(row, element, depth) {
    const tag = tagOf(element);
    if (tag === "select") return this.options(element, depth + 1);
    const isEditor = isEditable(element) && element[own.querySelector](IN_EDITORS);
    if ((isTextField(element) && !isEditor) || /^(input|canvas|audio|video)$/.test(tag)) return;
    const start = this.rows.length;
    this.children(element, depth + 1, false);
    this.flush();
    const inner = this.rows.splice(start);
    if (isEditor) return void this.rows.push(...inner.filter((other) => other.hole || (other.mark && other.role !== "link")));
    if (isWhole(row, inner)) return this.sayWhatIsLabelledAway(row, inner);
    if (!row.list && isOnlyWrapped(row, inner)) {
      row.name = row.name || inner[0].name;
      return;
    }
    if (!row.list && isUnspoken(element, inner)) row.name = inner.map((other) => other.name).join(" ");
    if (isLabelledOtherwise(row, inner)) return void this.rows.push(...inner);
    if (inner.some((other) => other.mark || other.hole)) this.container(row, inner);
    else if (row.name.length > LONGEST_NAME && inner.length > 1) {
      row.name = inner[0].name;
      this.rows.push(...inner.slice(1));
    }
  }

  // The words that a control shows and its author's label leaves out, such as a number on an icon.
  sayWhatIsLabelledAway(row, inner) {
    const shown = inner.filter((other) => !other.mark && !other.hole && !isLigature(other.element));
    const words = shown.map((other) => other.name).join(" ");
    if (row.description || lettersOf(`${row.name} ${row.value}`).includes(lettersOf(words))) return;
    if (labelText(row.element)) row.description = shortly(words, row.name);
  }

  // An element with controls of its own in it is named by the text around them; without any such
  // text it is only a wrapper, and its mark would be noise. The text in a form belongs to its fields. A row
  // that shows a pointer is named by its first words where all would be too long.
  container(row, inner) {
    const texts = inner.filter((other) => !other.mark && !other.hole && other.depth === row.depth + 1);
    const name = texts.map((other) => other.name).join(" | ");
    const isSurface = LISTENING.get(row.element) & 2 && labelText(row.element);
    const isForm = inner.filter((other) => FIELD_ROLES.test(other.role)).length > 1;
    const isNamed = name && !isForm && name.length <= LONGEST_NAME && texts.length <= 8;
    const isWidget = WITH_CONTROLS.test(row.role) && (labelText(row.element) || name);
    const isRow = texts.length && !isForm && getComputedStyle(row.element).cursor === "pointer" && row.element[own.offsetHeight] < innerHeight / 2;
    const keeps = row.kind === "svg" || row.list || isSurface || isNamed || isWidget || isRow;
    if (!keeps) {
      this.rows.pop();
      inner.forEach((other) => (other.depth -= 1));
      this.rows.push(...inner);
      return;
    }
    const said = isNamed || !(isWidget || isRow) ? texts : isRow ? firstThatFit(texts) : texts.slice(0, 1);
    if (!row.list && tagOf(row.element) !== "label") row.name = labelText(row.element) || said.map((other) => other.name).join(" | ") || "drawing";
    this.rows.push(...inner.filter((other) => !said.includes(other)));
  }

  // Of a long list the first options and those that are chosen.
  options(select, depth) {
    const [all, box] = [[...select.options], boxOf(select)];
    const chosen = all.length > MOST_OPTIONS ? all.slice(MOST_OPTIONS).filter((option) => option.selected) : [];
    const listed = [...all.slice(0, MOST_OPTIONS), ...chosen.slice(0, MOST_OPTIONS)];
    for (const option of listed) {
      this.rows.push({
        mark: true, role: "option", name: clean(option.label), value: "",
        states: statesOf(option, "option"), box, depth, kind: "option", element: option,
        description: tagOf(option[own.parentElement]) === "optgroup" ? clean(option[own.parentElement].label) : "",
      });
    }
    if (listed.length === all.length) return;
    const name = `${count(all.length - listed.length, "more option")} not listed; select_option takes each by its label`;
    this.rows.push({ mark: false, role: "text", name, value: "", states: [], box, depth, kind: "note", element: select });
  }

  // A control without a name is called by the short text that stands beside it.
  nearbyName(element, role) {
    if (role === "radio") return this.followingText(element);
    if (role === "checkbox") return this.followingText(element) || rowWords(element) || switchLabel(element);
    if (role === "switch") return switchLabel(element);
    if (!isTextField(element) && !/^(select|input)$/.test(tagOf(element))) return "";
    const inline = clean(this.text).replace(/( \|)+$/, "");
    const column = columnHeader(element);
    if (column && (!inline || sharesRow(element))) return column;
    if (inline && inline.length <= 60) {
      this.text = "";
      this.textBox = null;
      return inline;
    }
    return inline ? "" : this.onlyTextAround(element);
  }

  // The short text that shares a small block with no other control, before or after it.
  onlyTextAround(element) {
    let holder = element[own.parentElement];
    for (let level = 0; holder && level < 3; level++, holder = holder[own.parentElement]) {
      if (holder[own.querySelectorAll]("a, button, input, select, textarea, [role]").length > 1) return "";
      const text = clean(holder[own.textContent].replace(element[own.textContent], ""));
      if (text.length > 40 || holder[own.querySelectorAll]("li:not(:empty)").length > 2) return "";
      if (text) return this.take(text, holder);
    }
    return "";
  }

  take(text, holder) {
    const last = this.rows[this.rows.length - 1];
    if (last && !last.mark && !last.hole && holder[own.contains](last.element)) return this.rows.pop().name;
    for (const node of textNodes(holder)) this.consumed.add(node);
    return text;
  }

  followingText(element) {
    let node = element[own.nextSibling];
    while (node && (node[own.nodeType] === Node.COMMENT_NODE || (node[own.nodeType] === Node.TEXT_NODE && !clean(node.data)))) node = node[own.nextSibling];
    if (!node || (node[own.nodeType] === Node.ELEMENT_NODE && !/^(span|label|b|i|em|strong)$/.test(tagOf(node)))) return "";
    const text = clean(node[own.textContent]);
    const isApart = isInteractive(node[own.parentElement], getComputedStyle(node[own.parentElement])) ||
      (node[own.nodeType] === Node.ELEMENT_NODE && isInteractive(node, getComputedStyle(node)));
    if (text && text.length <= 80 && !isApart) this.consumed.add(node);
    return text.length <= 80 ? text : "";
  }
}

// What a list shows is often its name as well.
function valueBeside(control, name) {
  const value = valueOf(control);
  return value === name && tagOf(control) === "div" ? "" : value;
}

// Whether the words of a label are in its control's name, which an author may have written otherwise.
function isSaidBy(control, label) {
  const written = control[own.hasAttribute]("aria-label") || control[own.hasAttribute]("aria-labelledby");
  const name = written && labelText(control);
  if (!name) return true;
  const words = textNodes(label).filter((node) => !control[own.contains](node)).map((node) => node.data);
  return name.includes(clean(words.join(" ")));
}

// Whether an element hears of the mouse and is nothing in itself that one would press.
function isListening(element, style) {
  const heard = LISTENING.get(element);
  if (!heard || !(element instanceof HTMLElement) || style.cursor === "pointer") return false;
  if (isNative(element) || writtenRole(element) || element[own.hasAttribute]("tabindex")) return false;
  if (/^(form|fieldset)$/.test(tagOf(element)) || element[own.querySelector]("select")) return false;
  return heard === 2 || !isDelegate(element, style);
}

const ITEMS = /^(li|td|th|div|section|article|figure|span)$/;
const MOST_ITEM_TEXTS = 2000;

// What the texts of a list are parts of: for each the nearest element that has another like it beside
// it. Nothing where texts are left over, as in a card with a heading: that is one thing to press.
function itemsOf(list) {
  const items = new Set();
  const texts = textNodes(list).filter((node) => clean(node.data)).slice(0, MOST_ITEM_TEXTS);
  for (const text of texts) {
    let item = text[own.parentElement];
    while (item !== list && !hasLikeness(item)) item = item[own.parentElement];
    if (item === list) return new Set();
    items.add(item);
  }
  return items;
}

function hasLikeness(element) {
  if (!ITEMS.test(tagOf(element))) return false;
  if (/^t[dh]$/.test(tagOf(element))) return true;
  const kind = clean(classOf(element)).split(" ")[0];
  const isLike = (other) => other !== element && tagOf(other) === tagOf(element) && clean(classOf(other)).split(" ")[0] === kind;
  return [...element[own.parentElement][own.children]].some((other) => isLike(other) && clean(other[own.textContent]));
}

function textNodes(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  return nodes;
}

// The first lines that make a name together.
function firstThatFit(lines) {
  const end = lines.findIndex((_, at) => lines.slice(0, at + 1).map((line) => line.name).join(" | ").length > LONGEST_NAME);
  return end < 0 ? lines : lines.slice(0, Math.max(1, end));
}

// What can be acted on in an editor by itself.
const IN_EDITORS = "button, input, select, [role=button], [role=checkbox], [contenteditable=false]";
// What is pressed as a whole and may hold other controls beside its words.
const WITH_CONTROLS = /^(button|link|menuitem\w*|option|tab)$/;

// Links, buttons and widgets swallow what only decorates them; real controls inside stay, unless one that is
// called as the widget is all there is, and not the only entry of a menu that opens beside it.
function isWhole(row, inner) {
  const native = /^(button|select|textarea|input)/;
  if (inner.some((other) => other.mark && native.test(other.kind))) return false;
  const holds = WITH_CONTROLS.test(row.role) || tagOf(row.element) === "label";
  const controls = holds ? inner.filter(isControlInside) : [];
  if (controls.length > 1) return false;
  if (controls.length && (lettersOf(controls[0].name) !== lettersOf(row.name) || isBeside(controls[0].box, row.box))) return false;
  if (row.role === "treeitem" || row.role === "listbox") return false;
  if (row.role === "combobox" && inner.some((other) => other.role === "option")) return false;
  return isNative(row.element) || ACTIVE_ROLES.has(row.role);
}

// Whether the middle of one box lies outside another.
function isBeside([left, top, width, height], [x, y, w, h]) {
  const [across, down] = [left + width / 2 - x, top + height / 2 - y];
  return across < 0 || down < 0 || across > w || down > h;
}

function isControlInside({ hole, mark, name, element }) {
  if (hole || !mark || !name || element[own.closest]("[aria-hidden=true]")) return Boolean(hole);
  return element[own.hasAttribute]("href") || ACTIVE_ROLES.has(writtenRole(element));
}

// A widget all of which is one part that listens in its place, as in the shadow tree of its host.
function isOnlyWrapped(row, inner) {
  return inner.length === 1 && inner[0].mark && inner[0].role === "generic" && ACTIVE_ROLES.has(row.role);
}

// Whether the words in an element are none of its own: they are put into slots of its shadow tree.
function isUnspoken(element, inner) {
  if (!inner.length || inner.some((other) => other.mark || other.hole)) return false;
  return !labelText(element) && !visibleText(element);
}

// Whether an author's label says something else than the words inside.
function isLabelledOtherwise(row, inner) {
  if (inner.some((other) => other.mark || other.hole)) return false;
  const label = labelText(row.element);
  return Boolean(label) && row.name === label && inner.some((other) => !label.includes(other.name));
}

// A closed `details` shows its summary only.
function shownChildren(element) {
  if (tagOf(element) !== "details" || element.open) return element[own.childNodes];
  return [...element[own.children]].filter((child) => tagOf(child) === "summary").slice(0, 1);
}

function slotted(slot) {
  const nodes = slot.assignedNodes();
  return nodes.length ? nodes : slot[own.childNodes];
}

// An element that has been hidden loses the focus with the next frame, and has lost it here at once.
function focusedElement() {
  let element = document.activeElement;
  while (element && shadowOf(element) && shadowOf(element).activeElement) {
    element = shadowOf(element).activeElement;
  }
  return element && element[own.checkVisibility]({ visibilityProperty: true }) ? element : null;
}

// What the server said of this document; 0 where it was not asked.
function responseStatus() {
  const [entry] = performance.getEntriesByType("navigation");
  return (entry && entry.responseStatus) || 0;
}

// Marks continue after those of earlier documents, so that a number never changes its meaning. In a
// frame, for which `firstMark` is 0, they are to be replaced by other numbers later; `within` names the
// frames of the top document that are shown.
// A look is `again` that follows another without an action between them.
function observe({ ignore, firstMark, within, mouse, again }) {
  const path = pathFromTop();
  if (within && !within.includes(path[0])) return null;
  if (firstMark) nextMark = Math.max(nextMark, firstMark);
  else provisional = provisional || -1;
  const walk = new Walk(ignore);
  const layers = layersInFront();
  for (const layer of layers.length ? layers : [document.body || document.documentElement]) if (layer) walk.element(layer, 0, false);
  walk.flush();
  walk.leaveOutLabels();
  walk.leaveOutCovered();
  walk.focusOnce();
  walk.distinguish();
  sayWeekdays(walk.rows);
  walk.sayWhatIsMissing(layers);
  for (const said of tellPassed(walk.rows.map((row) => row.name), again)) walk.say(said, document.documentElement, "passed");
  const rows = walk.rows.map((row, index) => [
    row.mark ? markOf(row.element) : 0,
    row.role, row.name, row.value, row.states, row.box, row.depth, row.kind,
    row.description === row.name ? "" : row.description || "",
    Boolean(row.line) && index > 0 && walk.rows[index - 1].line === row.line,
  ]);
  const focus = walk.focused ? MARKS.get(walk.focused) || 0 : 0;
  const page = document.scrollingElement || document.documentElement;
  return JSON.stringify({
    title: document.title, url: location.href, focus, nextMark,
    scroll: [Math.round(scrollY), Math.max(0, Math.round((page ? page[own.scrollHeight] : 0) - innerHeight - scrollY))],
    rows, path, hollow: HOLLOW.size, lostMouse: Boolean(mouse) && hasLostMouse(...mouse),
    animating: isAnimating(), status: responseStatus(),
    holes: walk.rows.flatMap((row, index) => (row.hole ? [{ ...row.hole, row: index }] : [])),
  });
}
