// Runs in the page's own world before its scripts, with the wall clock: counts the short timers that
// have not fired yet and answers when asked by an event with a secret name.
(question, answer, shortMs) => {
  const running = new Set();
  const { setTimeout: set, clearTimeout: clear } = window;
  const dispatch = EventTarget.prototype.dispatchEvent;

  window.setTimeout = function setTimeout(callback, delay, ...more) {
    if (typeof callback !== "function" || delay > shortMs) return set(callback, delay, ...more);
    const id = set((...given) => {
      running.delete(id);
      callback.apply(window, given);
    }, delay, ...more);
    running.add(id);
    return id;
  };

  window.clearTimeout = function clearTimeout(id) {
    running.delete(id);
    clear(id);
  };

  document.addEventListener(question, () => {
    dispatch.call(document, new CustomEvent(answer, { detail: running.size }));
  });
}
