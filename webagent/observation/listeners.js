// Runs in the page's own world before its scripts: reports which elements listen for the mouse.
// The isolated world cannot see listeners, so each element is handed over as the relatedTarget of
// an event with a secret name. Nothing is written into the DOM.
(signal) => {
  const MOUSE = new Set([
    "click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart",
  ]);
  const dispatch = EventTarget.prototype.dispatchEvent;

  const report = (target, type) => {
    if (!MOUSE.has(type) || !(target instanceof Element)) return;
    if (target === document.documentElement || target === document.body) return;
    dispatch.call(document, new FocusEvent(signal, { relatedTarget: target }));
  };

  const listen = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function addEventListener(type, listener, options) {
    if (listener) report(this, type);
    return listen.call(this, type, listener, options);
  };

  for (const prototype of [HTMLElement.prototype, SVGElement.prototype]) {
    for (const type of MOUSE) {
      const property = Object.getOwnPropertyDescriptor(prototype, "on" + type);
      if (!property || !property.set) continue;
      Object.defineProperty(prototype, "on" + type, {
        ...property,
        set(handler) {
          if (handler) report(this, type);
          property.set.call(this, handler);
        },
      });
    }
  }
}
