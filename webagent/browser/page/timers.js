// Runs in the page's own world before its scripts, with the wall clock: counts the short timers that
// have not fired yet and answers when asked by an event with a secret name, longer ones, too,
// where its detail says so.
(question, answer, shortMs, longMs) => {
  const running = new Map();
  const { setTimeout: set, clearTimeout: clear } = window;
  const dispatch = EventTarget.prototype.dispatchEvent;

  window.setTimeout = function setTimeout(callback, delay, ...more) {
    if (typeof callback !== "function" || delay > longMs) return set(callback, delay, ...more);
    const id = set((...given) => {
      running.delete(id);
      callback.apply(window, given);
    }, delay, ...more);
    running.set(id, delay > shortMs);
    return id;
  };

  window.clearTimeout = function clearTimeout(id) {
    running.delete(id);
    clear(id);
  };

  document.addEventListener(question, (event) => {
    const counted = [...running.values()].filter((isLong) => event.detail || !isLong);
    dispatch.call(document, new CustomEvent(answer, { detail: counted.length }));
  });
}
