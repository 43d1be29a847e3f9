// Runs in the page's own world before its scripts, with a virtual clock: reports connections that
// stay open, whose data come by the wall clock.
(signal) => {
  const dispatch = EventTarget.prototype.dispatchEvent;
  for (const name of ["WebSocket", "EventSource"]) {
    window[name] = new Proxy(window[name], {
      construct(target, given, made) {
        dispatch.call(document, new CustomEvent(signal));
        return Reflect.construct(target, given, made);
      },
    });
  }
}
