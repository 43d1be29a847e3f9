(() => {
  let frame = 0;
  const waiting = new Map();
  window.requestAnimationFrame = (callback) => {
    const id = ++frame;
    waiting.set(id, setTimeout(() => { waiting.delete(id); callback(performance.now()); }, 16));
    return id;
  };
  window.cancelAnimationFrame = (id) => { clearTimeout(waiting.get(id)); waiting.delete(id); };
  if (document.startViewTransition) document.startViewTransition = (given) => {
    const update = typeof given === "function" ? given : given && given.update;
    const done = Promise.resolve().then(() => update && update());
    const end = done.then(() => {});
    const types = new Set();
    return { updateCallbackDone: done, ready: end, finished: end, skipTransition() {}, types };
  };
})();
