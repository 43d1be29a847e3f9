// Runs in the page's own world before its scripts: reports in words what is drawn on a canvas, of
// which the document itself holds nothing. The words travel as the detail of a secret event.
(signal) => {
  const MOST_REPORTS = 40;
  const context = CanvasRenderingContext2D.prototype;
  const dispatch = EventTarget.prototype.dispatchEvent;
  const drawn = new WeakMap();

  const stateOf = (canvas) => {
    if (!drawn.has(canvas)) drawn.set(canvas, { lines: 0, arcs: 0, reports: 0 });
    return drawn.get(canvas);
  };

  const report = (canvas, words) => {
    const state = stateOf(canvas);
    if (words && ++state.reports > MOST_REPORTS) return;
    if (!words) state.reports = 0;
    if (canvas instanceof Element) dispatch.call(canvas, new CustomEvent(signal, { detail: words }));
  };

  const before = (name, note) => {
    const original = context[name];
    context[name] = function (...values) {
      note(this.canvas, values);
      return original.apply(this, values);
    };
  };

  const finishPath = (canvas) => {
    const state = stateOf(canvas);
    const parts = [[state.lines, "line"], [state.arcs, "arc"]].filter(([count]) => count);
    if (parts.length) report(canvas, parts.map(([n, what]) => `${n} ${what}${n > 1 ? "s" : ""}`).join(" and "));
    state.lines = state.arcs = 0;
  };

  before("beginPath", (canvas) => Object.assign(stateOf(canvas), { lines: 0, arcs: 0 }));
  before("lineTo", (canvas) => stateOf(canvas).lines++);
  before("arc", (canvas) => stateOf(canvas).arcs++);
  before("ellipse", (canvas) => stateOf(canvas).arcs++);
  before("stroke", finishPath);
  before("fill", finishPath);
  before("fillText", (canvas, [text]) => report(canvas, String(text)));
  before("strokeText", (canvas, [text]) => report(canvas, String(text)));
  before("fillRect", (canvas) => report(canvas, "rectangle"));
  before("strokeRect", (canvas) => report(canvas, "rectangle"));
  before("clearRect", (canvas, [x, y, width, height]) => {
    if (x <= 0 && y <= 0 && width >= canvas.width && height >= canvas.height) report(canvas, "");
  });
}
