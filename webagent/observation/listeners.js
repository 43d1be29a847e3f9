// Runs in the page's own world before its scripts: reports which elements listen for the mouse or for
// keys, and closed shadow trees. The isolated world cannot see either, so each element is handed over as the
// relatedTarget of an event with a secret name. Events hide what is in a shadow tree; that travels in
// a highlight of the same name, which is there for as long as the event. Nothing is written into the DOM.
(signal) => {
  // Not `mouseover`: libraries hear by it of what is in an element, and mean its parts.
  const MOUSE = new Set([
    "auxclick", "click", "contextmenu", "dblclick", "drop", "mousedown", "mouseenter", "mouseup",
    "pointerdown", "pointerenter", "pointerup", "touchend", "touchstart", "wheel",
  ]);
  // Told apart by the event's detail: 2 for what only begins a drag, 4 for keys, 8 for the wheel, 16 for what an
  // element says of itself, 32 for a clipboard that may not be read, 1 for the others.
  const PRESSES = new Set(["mousedown", "pointerdown", "touchstart"]);
  const KEYS = new Set(["keydown", "keypress", "keyup"]);
  const dispatch = EventTarget.prototype.dispatchEvent;
  const highlights = CSS.highlights;
  const [Range, Mark, Told] = [StaticRange, Highlight, UIEvent];
  const { set, delete: remove } = HighlightRegistry.prototype;
  const { getRootNode } = Node.prototype; // `form.getRootNode` may be a field of the form

  const reportHidden = (node, detail = 0) => {
    const [at, to] = [{ startContainer: node, startOffset: 0 }, { endContainer: node, endOffset: 0 }];
    set.call(highlights, signal, new Mark(new Range({ ...at, ...to })));
    dispatch.call(document, new Told(signal, { detail }));
    remove.call(highlights, signal);
  };

  const report = (target, type) => {
    if (!(MOUSE.has(type) || KEYS.has(type)) || !(target instanceof Element)) return;
    if (target instanceof HTMLHtmlElement || target instanceof HTMLBodyElement) return;
    const detail = KEYS.has(type) ? 4 : PRESSES.has(type) ? 2 : type === "wheel" ? 8 : 1;
    if (getRootNode.call(target) instanceof ShadowRoot) reportHidden(target, detail);
    else dispatch.call(document, new FocusEvent(signal, { relatedTarget: target, detail }));
  };

  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function attachShadow(init) {
    const root = attach.call(this, init);
    if (root.mode === "closed") reportHidden(root);
    return root;
  };

  // What a custom element says of itself out of sight: the element in one event, what it says in the next.
  const internals = new WeakMap();
  const attachInternals = HTMLElement.prototype.attachInternals;
  HTMLElement.prototype.attachInternals = function () {
    const made = attachInternals.call(this);
    internals.set(made, this);
    return made;
  };
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(ElementInternals.prototype))) {
    if (!/^(role|aria\w+(?<!Elements?))$/.test(name) || !property.set) continue;
    Object.defineProperty(ElementInternals.prototype, name, {
      ...property,
      set(value) {
        property.set.call(this, value);
        if (internals.has(this)) reportHidden(internals.get(this), 16);
        dispatch.call(document, new CustomEvent(signal, { detail: `${name}=${value ?? ""}` }));
      },
    });
  }

  // Nobody is there to be asked for it, and few pages say that they may not.
  const { prototype: clipboard } = globalThis.Clipboard || { prototype: {} };
  for (const name of ["read", "readText"]) {
    const read = clipboard[name];
    if (!read) continue;
    clipboard[name] = function (...options) {
      const answer = read.apply(this, options);
      answer.catch(({ name: why }) => why === "NotAllowedError" && dispatch.call(document, new Told(signal, { detail: 32 })));
      return answer;
    };
  }

  const listen = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function addEventListener(type, listener, options) {
    if (listener) report(this, type);
    return listen.call(this, type, listener, options);
  };

  for (const prototype of [HTMLElement.prototype, SVGElement.prototype]) {
    for (const type of [...MOUSE, ...KEYS]) {
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
