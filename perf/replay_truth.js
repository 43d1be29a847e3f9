// Numbers every element of a page before anything of it is changed, notes which of them are acted on,
// and changes the page around those that are asked for. What is put in is not numbered.
(() => {
  const PLAN = __PLAN__;
  const ids = new WeakMap();
  const own = new WeakSet();
  let next = 0;
  let document_ = 0;
  const kept = { acted: [], documents: 0 };
  const load = () => {
    try { Object.assign(kept, JSON.parse(sessionStorage.getItem("truth") || "{}")); } catch {}
  };
  const save = () => {
    try { sessionStorage.setItem("truth", JSON.stringify(kept)); } catch {}
  };

  const CONTROL = "a, button, input, select, textarea, label, summary";
  const pointer = (element) => getComputedStyle(element).cursor === "pointer";

  // What an event was for: the control around its target, else the topmost that shows a pointer.
  function actedOn(target) {
    if (!(target instanceof Element)) return null;
    const control = target.closest(CONTROL);
    if (control) return control;
    let found = target;
    while (found.parentElement && pointer(found) && pointer(found.parentElement)) found = found.parentElement;
    return found;
  }

  function idOf(element) {
    while (element && !ids.has(element)) {
      if (own.has(element) && element.dataset.put) return "put in";
      element = element.parentElement;
    }
    return element ? ids.get(element) : "nothing";
  }

  // An element with what it stands in, as a changed look may have the mouse hit a part of it.
  function chainOf(element) {
    const chain = [];
    for (let each = element; each && each !== document.body && chain.length < 3; each = each.parentElement) {
      const id = ids.has(each) || each.dataset.put ? idOf(each) : null;
      if (id) chain.push(id);
    }
    return chain.length ? chain.join(" < ") : "nothing";
  }

  for (const type of ["mousedown", "input", "change"]) {
    addEventListener(type, (event) => {
      const element = actedOn(event.target);
      if (!element) return;
      const id = chainOf(element);
      if (kept.acted[kept.acted.length - 1] !== id) kept.acted.push(id);
      save();
    }, true);
  }

  function made(tag, ...children) {
    const element = document.createElement(tag);
    own.add(element);
    element.append(...children);
    return element;
  }

  const isInline = (element) => getComputedStyle(element).display.startsWith("inline");

  const CHANGES = {
    none() {},
    rename() {
      for (const element of document.querySelectorAll(`${CONTROL}, [id]`)) {
        const old = element.id;
        if (!old || element.dataset.renamed) continue;
        element.dataset.renamed = "1";
        element.id = `n-${old}-x9`;
        for (const label of document.querySelectorAll(`label[for="${CSS.escape(old)}"]`)) label.htmlFor = element.id;
        for (const name of ["aria-labelledby", "aria-describedby", "aria-controls"]) {
          for (const other of document.querySelectorAll(`[${name}~="${CSS.escape(old)}"]`)) {
            other.setAttribute(name, other.getAttribute(name).split(" ").map((id) => (id === old ? element.id : id)).join(" "));
          }
        }
      }
    },
    classes(element) { element.className = "k" + String(element.className || "").length + " x9"; },
    reorder(element) {
      const parent = element.parentElement;
      if (!parent || parent.dataset.turned || parent === document.body) return;
      parent.dataset.turned = "1";
      parent.append(...[...parent.children].reverse());
    },
    wrap(element) {
      if (/^(td|th|tr|li|option|tbody)$/.test(element.localName) || element instanceof SVGElement) return;
      const tag = isInline(element) ? "span" : "div";
      const around = made(tag);
      element.replaceWith(around);
      const inner = made(tag);
      around.append(inner);
      inner.append(element);
    },
    reword(element) {
      if (element.localName === "input" && /^(submit|button)$/.test(element.type)) element.value += " now";
      else if (/^(a|button)$/.test(element.localName)) element.append(" now");
      else for (const label of element.labels || []) label.append(" (required)");
    },
    insert(element) {
      if (element instanceof SVGElement || /^(option|tr|td)$/.test(element.localName)) return;
      const tag = /^(a|button|input|textarea)$/.test(element.localName) ? element.localName : "button";
      const fresh = made(tag);
      fresh.dataset.put = "1";
      if (tag === "input") [fresh.type, fresh.placeholder] = [element.type === "submit" ? "button" : element.type, "Voucher"];
      if (tag === "input" && element.type === "submit") fresh.value = "Help";
      if (tag === "a") fresh.href = "#help";
      if (tag === "button") fresh.type = "button";
      if (tag === "a" || tag === "button") fresh.textContent = "Help";
      element.before(fresh);
    },
    move(element) {
      const place = element.closest("form") || element.parentElement?.parentElement;
      if (!place || /^(table|tbody|tr|ul|ol|select)$/.test(place.localName) || element instanceof SVGElement) return;
      const around = made("div");
      place.append(around);
      around.append(element);
    },
    remove(element) { element.remove(); },
  };

  // What the page's scripts put in later is known by what it says, as they may put in more than before.
  let begun = false;
  const later = new Map();
  function laterId(element) {
    const said = `${document_}:${element.localName} ${element.textContent.trim().slice(0, 40)}`;
    later.set(said, (later.get(said) || 0) + 1);
    return `${said} ${later.get(said)}`;
  }

  function number(root) {
    const found = [];
    for (const element of [root, ...root.querySelectorAll("*")]) {
      if (own.has(element) || ids.has(element)) continue;
      const id = begun ? laterId(element) : `${document_}:${next++}`;
      ids.set(element, id);
      if (PLAN.targets.includes(id)) found.push(element);
    }
    for (const element of found) {
      if (!element.isConnected) continue;
      CHANGES[PLAN.change](element);
      window.__changed = (window.__changed || 0) + 1;
    }
    if (PLAN.change === "rename" && PLAN.targets.length) CHANGES.rename();
  }

  window.__truth = {
    begin() {
      load();
      document_ = kept.documents++;
      save();
      number(document.body);
      begun = true;
      new MutationObserver((changes) => {
        for (const change of changes) {
          for (const node of change.addedNodes) {
            if (node instanceof Element && node.isConnected && !own.has(node)) number(node);
          }
        }
      }).observe(document.body, { childList: true, subtree: true });
    },
    get acted() { load(); return kept.acted; },
  };
  if (PLAN.atOnce) addEventListener("DOMContentLoaded", () => { if (window === top) window.__truth.begin(); });
})();
