// Drawn elements in words: size, colour and shape, and the text they carry.

const NAMED = {
  black: "0,0,0", white: "255,255,255", gray: "128,128,128", silver: "192,192,192",
  red: "255,0,0", maroon: "128,0,0", orange: "255,165,0", yellow: "255,255,0",
  olive: "128,128,0", lime: "0,255,0", green: "0,128,0", cyan: "0,255,255",
  teal: "0,128,128", blue: "0,0,255", navy: "0,0,128", magenta: "255,0,255",
  purple: "128,0,128", pink: "255,192,203", brown: "165,42,42",
};
const EXACT = new Map(Object.entries(NAMED).map(([name, rgb]) => [rgb, name]));
// Upper ends of the hues, in degrees, as people name them.
const HUES = [
  [14, "red"], [42, "orange"], [68, "yellow"], [165, "green"], [195, "cyan"], [258, "blue"],
  [290, "purple"], [330, "magenta"], [345, "pink"], [360, "red"],
];
const NO_COLOUR = /^(none|transparent|inherit|initial|unset|revert|currentcolor)$/i;

function channels(colour) {
  const match = /rgba?\(([\d.]+),? ([\d.]+),? ([\d.]+)(?:[,/ ]+([\d.]+))?\)/.exec(colour || "");
  if (!match || (match[4] !== undefined && Number(match[4]) < 0.05)) return null;
  return match.slice(1, 4).map(Number);
}

// The word the author wrote, else the exact name, else lightness and hue; "" for no colour.
function colourName(colour, authored) {
  if (authored && /^[a-z]+$/i.test(authored) && !NO_COLOUR.test(authored)) return authored.toLowerCase();
  const rgb = channels(colour);
  if (!rgb) return "";
  return EXACT.get(rgb.join(",")) || shadeOf(rgb.map((value) => value / 255));
}

function shadeOf([red, green, blue]) {
  const [least, most] = [Math.min(red, green, blue), Math.max(red, green, blue)];
  const [lightness, chroma] = [(least + most) / 2, most - least];
  if (chroma < 0.08) return grayOf(lightness);
  const sixth = most === red ? (green - blue) / chroma
    : most === green ? (blue - red) / chroma + 2 : (red - green) / chroma + 4;
  const degrees = (sixth * 60 + 360) % 360;
  const hue = HUES.find(([end]) => degrees <= end)[1];
  if (hue === "orange" && lightness < 0.4) return "brown";
  return lightness > 0.72 ? `light ${hue}` : lightness < 0.28 ? `dark ${hue}` : hue;
}

function grayOf(lightness) {
  if (lightness < 0.12) return "black";
  if (lightness > 0.97) return "white";
  return lightness > 0.7 ? "light gray" : lightness < 0.35 ? "dark gray" : "gray";
}

function colourOf(shape, style) {
  const fill = colourName(style.fill, shape[own.style].fill || shape[own.getAttribute]("fill"));
  return fill || colourName(style.stroke, shape[own.style].stroke || shape[own.getAttribute]("stroke"));
}

function shapeName(shape) {
  const tag = tagOf(shape);
  if (tag === "rect") return "rectangle";
  if (tag === "text") return clean(shape[own.textContent]);
  if (tag !== "polygon") return tag;
  const corners = shape.points.numberOfItems;
  const known = { 3: "triangle", 4: "quadrilateral", 5: "pentagon", 6: "hexagon", 7: "heptagon" };
  return known[corners] || `shape with ${corners} corners`;
}

function sizeName(shape) {
  const box = shape[own.getBoundingClientRect]();
  return Math.max(box.width, box.height) < 16 ? "small" : "large";
}

// Text in a drawing is described like a shape where its look sets it apart from other text.
function isVaried(text) {
  const drawing = text.ownerSVGElement;
  if (!VARIED.has(drawing)) {
    const looks = new Set();
    for (const other of drawing[own.querySelectorAll]("text")) {
      looks.add(sizeName(other) + colourOf(other, getComputedStyle(other)));
    }
    VARIED.set(drawing, looks.size > 1 || drawing[own.querySelectorAll]("circle, rect, polygon").length > 0);
  }
  return VARIED.get(drawing);
}

let VARIED = new Map();

function describeDrawing(element, style) {
  const title = element[own.querySelector]("title");
  if (title && clean(title[own.textContent])) return clean(title[own.textContent]);
  const isText = tagOf(element) === "text" && element.ownerSVGElement;
  if (isText && !isVaried(element)) return clean(element[own.textContent]);
  if (!isText && !isShape(element)) {
    return clean(element[own.textContent]) || iconWords(element, style) || "drawing";
  }
  return [sizeName(element), colourOf(element, style), shapeName(element)].filter(Boolean).join(" ");
}

// A box without text that is nothing but a colour is called by it.
function paint(element, style) {
  if (picture(element, style) || element[own.childElementCount] || hasIcon(element, style)) return "";
  const colour = colourName(style.backgroundColor, element[own.style].backgroundColor);
  if (!colour && isOutlined(style)) return `${colourName(style.borderTopColor)} dashed outline`.trim();
  return colour ? `${colour} box` : "";
}

// Whether broken lines are all around, as around a place where something belongs.
function isOutlined(style) {
  return ["Top", "Right", "Bottom", "Left"].every(
    (side) => /dashed|dotted/.test(style[`border${side}Style`]) && parseFloat(style[`border${side}Width`]));
}

// Whether a style draws something in an element: a letter of an icon font, a picture cut out of its colour,
// an arrow made of borders.
function hasIcon(element, style) {
  const isCutOut = (drawn) => drawn.maskImage !== "none" || drawn.backgroundImage.includes("url(");
  if (isCutOut(style)) return true;
  return ["::before", "::after"].some((part) => {
    const drawn = getComputedStyle(element, part);
    if (drawn.content === "none" || drawn.content === "normal" || drawn.opacity === "0") return false;
    return generated(drawn.content) || isCutOut(drawn) || hasBorder(drawn);
  });
}

function hasBorder(style) {
  return ["Top", "Right", "Bottom", "Left"].some((side) => parseFloat(style[`border${side}Width`]));
}

// Whether there is nothing to see of an element without text.
function isBlank(element, style) {
  if (tagOf(element) === "img" && element[own.hasAttribute]("draggable")) return false;
  if (element instanceof SVGElement || element[own.childElementCount] || clean(element[own.textContent])) return false;
  if (channels(style.backgroundColor) || style.backgroundImage !== "none") return false;
  if (style.content !== "normal" || style.boxShadow !== "none") return false;
  if (hasBorder(style)) return false;
  return getComputedStyle(element, "::before").content === "none";
}

function isDrawn(element, style) {
  const tag = tagOf(element);
  if (tag === "canvas") return true;
  if (tag === "img") return element[own.getBoundingClientRect]().width > 40;
  if (element instanceof SVGElement) return isDrawnInSvg(element);
  return isColouredBox(element, style);
}

function isDrawnInSvg(element) {
  const root = element.ownerSVGElement;
  if (!root) return !element[own.querySelector]("*") && element[own.getBoundingClientRect]().width > 40;
  if (root.getBoundingClientRect().width <= 32) return false;
  return isShape(element) || /^(text|use|image)$/.test(tagOf(element));
}

function isColouredBox(element, style) {
  if (element[own.childElementCount] || clean(element[own.textContent]) || tagOf(element) === "hr") return false;
  const box = element[own.getBoundingClientRect]();
  if (box.width < 4 || box.height < 4 || style.maskImage !== "none") return false;
  if (box.width * box.height > (innerWidth * innerHeight) / 4) return false; // a background, a backdrop
  if (isOutlined(style)) return true;
  if (channels(style.backgroundColor) === null || style.backgroundColor === colourBehind(element, style)) return false;
  return style.display !== "table-cell" || !hasColourOfWords(element, style);
}

// Whether an empty cell is as coloured as one with words in its row: that is the colour of the row.
function hasColourOfWords(cell, style) {
  const row = flatParent(cell);
  const others = [...(row ? row[own.children] : [])].filter((other) => clean(other[own.textContent]));
  return others.some((other) => getComputedStyle(other).backgroundColor === style.backgroundColor);
}

// Cells have a colour each, often that of the page; of others only that of their parent is asked for.
function colourBehind(element, style) {
  let [behind, node] = ["", element];
  do {
    node = flatParent(node);
    behind = node ? getComputedStyle(node).backgroundColor : "rgb(255, 255, 255)";
  } while (node && style.display === "table-cell" && !channels(behind));
  return behind;
}
