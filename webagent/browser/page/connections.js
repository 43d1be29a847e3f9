// Runs in the page's own world before its scripts: reports connections that stay open, whose data
// come by the wall clock, and closes one that floods the page. Each message is an event for whoever
// watches the browser, too, so that a flood would keep every other answer waiting. Reports as well that
// the page watches what is in view, which it hears of with a frame.
(signal, perSecond) => {
  const dispatch = EventTarget.prototype.dispatchEvent;
  const listen = EventTarget.prototype.addEventListener;
  const now = performance.now.bind(performance);
  let since = 0;
  let messages = 0;

  const isFlood = () => {
    if (now() - since > 1000) [since, messages] = [now(), 0];
    return ++messages > perSecond;
  };

  window.IntersectionObserver = new Proxy(window.IntersectionObserver, {
    construct(target, given, made) {
      dispatch.call(document, new CustomEvent(signal, { detail: "view" }));
      return Reflect.construct(target, given, made);
    },
  });

  for (const name of ["WebSocket", "EventSource"]) {
    const close = window[name].prototype.close;
    window[name] = new Proxy(window[name], {
      construct(target, given, made) {
        dispatch.call(document, new CustomEvent(signal));
        const connection = Reflect.construct(target, given, made);
        listen.call(connection, "message", () => { if (isFlood()) close.call(connection); });
        return connection;
      },
    });
  }
}
