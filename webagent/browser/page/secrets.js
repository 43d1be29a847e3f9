// Typing what no other document may catch.

// Origins of the document an element is in and of those around it, innermost first.
function originsOf(mark) {
  const element = byMark(mark);
  if (!element || !element[own.isConnected]) return { error: `element ${mark} is gone from the page` };
  const view = element[own.ownerDocument].defaultView;
  return { origins: [view.origin, ...Array.from(view.location.ancestorOrigins)] };
}

// In one piece rather than by keys, which would go to whatever has the focus by then; and only if the
// element is still where it was when the origins were judged.
function typeSecret(mark, text, origins) {
  const ready = readyToFill(mark, "");
  if (ready.error) return ready;
  if (!ready.typing) return { error: `element ${mark} is not a field to type a secret into` };
  const now = originsOf(mark);
  if (now.error || JSON.stringify(now.origins) !== JSON.stringify(origins)) {
    return { error: `element ${mark} is on another site by now` };
  }
  const element = byMark(mark);
  if ("value" in asField(element)) element.value = text;
  else element[own.textContent] = text;
  element[own.dispatchEvent](new InputEvent("input", { bubbles: true, composed: true, inputType: "insertText" }));
  element[own.dispatchEvent](new Event("change", { bubbles: true }));
  return {};
}
