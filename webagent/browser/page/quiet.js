// When the document has come to rest.

// Resolves with nothing once no change, short timer or finite animation is left, else, when the time
// is up, with what the page still is. Pages that poll always have a timer: those hold for a while.
function rest(stillMs, limitMs, timersMs) {
  const began = performance.now();
  return new Promise((resolve) => {
    let timer = setTimeout(check, stillMs);
    const limit = setTimeout(() => done(isAnimating() ? "moving" : "changing"), limitMs);
    const observer = new MutationObserver(again);
    function again() {
      clearTimeout(timer);
      timer = setTimeout(check, stillMs);
    }
    function check() {
      const awaits = awaitsOptions();
      const isTicking = performance.now() - began < (awaits ? 1.5 : 1) * timersMs && pendingTimers(awaits) > 0;
      if (isTicking || isAnimating()) again();
      else done("");
    }
    function done(unrest) {
      observer.disconnect();
      clearTimeout(timer);
      clearTimeout(limit);
      resolve(unrest);
    }
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  });
}

// Whether what was typed may bring suggestions, and none is there yet: pages wait for more letters.
function awaitsOptions() {
  const field = focusedElement();
  if (!field || !isTextField(field) || roleOf(field) !== "combobox" || !valueOf(field)) return false;
  return ![...document.querySelectorAll("[role=option]")].some(canBeSeen);
}

// How many short timers of the page are running, or also longer ones; none where its own world does not count them.
function pendingTimers(alsoLonger) {
  let count = 0;
  const hear = (event) => { count = event.detail; };
  document.addEventListener(TIMERS_ANSWER, hear, { once: true });
  document.dispatchEvent(new CustomEvent(TIMERS_QUESTION, { detail: alsoLonger }));
  document.removeEventListener(TIMERS_ANSWER, hear);
  return count;
}

// How long the page is: whether what came into view has brought more.
function extent() {
  return document.getElementsByTagName("*").length;
}

// Resolves with the next frame, before which the browser has told the page of scrolling and of
// animations that ended.
function nextFrame() {
  return new Promise((resolve) => requestAnimationFrame(() => resolve(true)));
}

// Whether something moves on the page and will come to an end.
function isAnimating() {
  return [document, ...SHADOWS].flatMap((root) => root.getAnimations()).some((animation) => {
    const timing = animation.effect && animation.effect.getComputedTiming();
    return timing && Number.isFinite(timing.endTime) && animation.playState === "running";
  });
}

// Whether this is a page at all, and not the empty one that stands before the first.
function hasArrived() {
  return location.href !== "about:blank";
}

let [isLive, watchesView] = [false, false];

// What a virtual clock has to know: whether something moves, whether a live connection was opened,
// whether something else than the page knows has come to lie under the mouse, whether it hears what is in view.
function unrest(mouse) {
  const lostMouse = Boolean(mouse) && hasLostMouse(...mouse);
  return { animating: isAnimating(), live: isLive, watchesView, lostMouse, takesText: lostMouse && takesText() };
}

// Whether a text that is typed now might change something, were it empty: what is selected goes, and
// a field that still has the caret may take the focus back.
function takesText() {
  const active = document.activeElement;
  if (getSelection()?.type !== "None") return true;
  if (!active || active === document.body) return document.designMode === "on" || active?.isContentEditable;
  return Boolean(shadowOf(active)) || active.isContentEditable || Boolean(active.editContext)
    || active[own.matches]("input, textarea, iframe, frame, object, embed");
}

function hearConnections() {
  document.addEventListener(LIVE, (event) => {
    event.stopImmediatePropagation();
    if (event.detail === "view") watchesView = true;
    else isLive = true;
  }, true);
}

hearConnections();
