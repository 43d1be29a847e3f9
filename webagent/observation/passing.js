// What came on the page and went before anybody looked, as a toast does that is shown for a while.

const LEAST_PASSING_MS = 400; // shorter, and a person could not read it
const LONGEST_PASSING = 200;
const MOST_PASSING = 20;
const CHOICES = "[role=listbox], [role=option], [role=menu], [role=tree]"; // that an action opened and closed
const MOST_LOOKS = 200; // changes looked at from one look to the next: a page may change without end

const PASSING = new Map(); // by element: its text, when it came and when it went
const CHANGES = new MutationObserver(notePassing);
let passed = [];
const unsaid = new Set(); // what the page was refused without a word
let seenBefore = null; // the text of the last look; null before the first
let looksLeft = MOST_LOOKS;

function notePassing(records) {
  const now = performance.now();
  for (const { target, addedNodes } of records) {
    for (const node of addedNodes.length ? addedNodes : [target]) {
      noteCame(node[own.nodeType] === Node.ELEMENT_NODE ? node : node[own.parentElement], now);
    }
  }
  for (const [element, entry] of PASSING) entry.went = isPassingShown(element) ? null : entry.went ?? now;
}

function noteCame(element, now) {
  if (!element || PASSING.size >= MOST_PASSING || looksLeft <= 0) return;
  looksLeft -= 1;
  const text = clean(element[own.textContent]);
  if (!text || text.length > LONGEST_PASSING || SKIPPED.has(tagOf(element))) return;
  if (element[own.closest](CHOICES) || element[own.querySelector](CHOICES)) return;
  for (const [other, entry] of PASSING) {
    if (!other[own.contains](element)) continue;
    if (entry.went === null) entry.text = clean(other[own.textContent]).slice(0, LONGEST_PASSING);
    return;
  }
  if (seenBefore.includes(text.toLowerCase()) || !isPassingShown(element)) return;
  PASSING.set(element, { text, came: now, went: null });
}

function isPassingShown(element) {
  if (!element[own.checkVisibility]({ opacityProperty: true, visibilityProperty: true })) return false;
  const box = element[own.getBoundingClientRect]();
  return box.width > 4 && box.height > 4 && !isOffCanvas(element);
}

// Sentences about what came and went since the last look; about the same again where that look is
// repeated. `names` is what is seen now.
function tellPassed(names, isRepeated) {
  if (seenBefore === null) {
    const filter = { attributes: true, attributeFilter: ["class", "style", "hidden", "open"] };
    CHANGES.observe(document, { subtree: true, childList: true, characterData: true, ...filter });
  } else {
    notePassing(CHANGES.takeRecords());
  }
  const now = names.join("\n").toLowerCase();
  const gone = [...PASSING.values()]
    .filter(({ text, came, went }) => went !== null && went - came >= LEAST_PASSING_MS && !now.includes(text.toLowerCase()))
    .map(({ text, came, went }) => `appeared for ${Math.max(1, Math.round((went - came) / 1000))} s: ${text}`);
  gone.push(...unsaid);
  unsaid.clear();
  passed = isRepeated ? [...passed, ...gone] : gone;
  PASSING.clear();
  [seenBefore, looksLeft] = [now, MOST_LOOKS];
  return passed;
}
