// Resolves once nothing in the document has changed for a while.

function quiet(stillMs, limitMs) {
  return new Promise((resolve) => {
    let timer = setTimeout(() => done(true), stillMs);
    const limit = setTimeout(() => done(false), limitMs);
    const observer = new MutationObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(() => done(true), stillMs);
    });
    function done(isQuiet) {
      observer.disconnect();
      clearTimeout(timer);
      clearTimeout(limit);
      resolve(isQuiet);
    }
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  });
}

// Resolves with the next frame, before which the browser has told the page of scrolling and of
// animations that ended.
function nextFrame() {
  return new Promise((resolve) => requestAnimationFrame(() => resolve(true)));
}

// Whether something moves on the page and will come to an end.
function isAnimating() {
  return document.getAnimations().some((animation) => {
    const timing = animation.effect && animation.effect.getComputedTiming();
    return timing && Number.isFinite(timing.endTime);
  });
}
