// The frame's script: light and dark, keys, and pages that follow a run. Pages work without it.
"use strict";

const PREFIX_MS = 1200; // how long the first key of two is remembered
const POLL_MS = 3000;

const byId = (id) => document.getElementById(id);

// Light and dark ---------------------------------------------------------------------------------

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

byId("theme").addEventListener("click", () => {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  localStorage.setItem("theme", theme);
});

// Keys -------------------------------------------------------------------------------------------
// An element with data-key="x" or "g x" is clicked, or as a field focused, by that key; rows with
// data-row are walked with j and k and opened with Enter.

let prefix = "";
let prefixTimer = 0;

const rows = () => [...document.querySelectorAll("[data-row]")];

function select(row) {
  for (const other of document.querySelectorAll("[data-row].at")) other.classList.remove("at");
  row.classList.add("at");
  const link = row.querySelector("a[href]");
  if (link) link.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const all = rows();
  if (!all.length) return;
  const at = all.findIndex((row) => row.classList.contains("at"));
  select(all[Math.min(all.length - 1, Math.max(0, at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by))]);
}

function act(element) {
  if (element.matches("input, select, textarea")) {
    element.focus();
    if (element.select) element.select();
  } else {
    element.click();
  }
}

function listKeys() {
  const known = [["j / k", "next or previous row"], ["Enter", "open the row"], ["Esc", "leave a field or this list"]];
  for (const element of document.querySelectorAll("[data-key]")) {
    known.push([element.dataset.key, element.dataset.help || element.textContent.trim()]);
  }
  const list = document.querySelector("#keys .keys");
  list.replaceChildren(
    ...known.flatMap(([key, help]) => {
      const term = document.createElement("dt");
      for (const part of key.split(" ")) {
        const shown = document.createElement(part === "/" && key.length > 1 ? "span" : "kbd");
        shown.textContent = part;
        term.append(shown, " ");
      }
      const told = document.createElement("dd");
      told.textContent = help;
      return [term, told];
    }),
  );
}

byId("help").addEventListener("click", () => {
  listKeys();
  byId("keys").showModal();
});

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const field = event.target.closest("input, textarea, select, [contenteditable]");
  const isLetter = event.key.length === 1 && event.key !== " ";
  if (field && !(field.type === "radio" && isLetter)) {
    if (event.key === "Escape") field.blur();
    return;
  }
  if (byId("keys").open) return;
  const pressed = prefix ? `${prefix} ${event.key}` : event.key;
  prefix = "";
  clearTimeout(prefixTimer);
  const elements = [...document.querySelectorAll("[data-key]")];
  const chosen = elements.find((one) => one.dataset.key === pressed && !one.disabled);
  if (chosen) {
    event.preventDefault();
    act(chosen);
  } else if (elements.some((one) => one.dataset.key.startsWith(`${pressed} `))) {
    prefix = pressed;
    prefixTimer = setTimeout(() => (prefix = ""), PREFIX_MS);
  } else if (pressed === "j" || pressed === "k") {
    event.preventDefault();
    step(pressed === "j" ? 1 : -1);
  } else if (pressed === "Enter" && !event.target.closest("a, button, summary")) {
    const link = document.querySelector("[data-row].at a[href]");
    if (link) link.click();
  }
}

document.addEventListener("keydown", onKey);

// Following a run --------------------------------------------------------------------------------
// Whatever has data-live and an id is replaced by what the page holds now, when something was stored.

let refreshing = false;
let stale = false;

async function refresh() {
  if (refreshing) {
    stale = true;
    return;
  }
  refreshing = true;
  try {
    const response = await fetch(location.href, { headers: { accept: "text/html" } });
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
    if (response.ok) document.querySelectorAll("[data-live]").forEach((old) => renew(old, fresh));
    document.dispatchEvent(new CustomEvent("followed"));
  } catch {
    tell("not reached", "lost");
  } finally {
    refreshing = false;
    if (stale) {
      stale = false;
      refresh();
    }
  }
}

function renew(old, fresh) {
  const now = fresh.getElementById(old.id);
  if (!now || now.innerHTML === old.innerHTML) return;
  const at = [...old.querySelectorAll("[data-row]")].findIndex((row) => row.classList.contains("at"));
  const focused = old.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const scrolled = old.scrollLeft;
  old.innerHTML = now.innerHTML;
  old.scrollLeft = scrolled;
  const row = old.querySelectorAll("[data-row]")[at];
  if (row) row.classList.add("at");
  if (focused) {
    const again = [...old.querySelectorAll("a[href]")].find((link) => link.getAttribute("href") === focused);
    if (again) again.focus({ preventScroll: true });
  }
}

function tell(text, kind) {
  const place = byId("live");
  place.textContent = text;
  place.dataset.kind = kind;
  place.hidden = false;
}

let shown = document.body.dataset.version || "";

function hear(told, addition = "") {
  tell(told.text + addition, told.kind);
  if (told.version !== shown) refresh();
  shown = told.version;
}

function follow(address) {
  if (!("EventSource" in window)) {
    poll(address);
    return;
  }
  const source = new EventSource(`${address}/events`);
  source.addEventListener("state", (event) => hear(JSON.parse(event.data)));
  source.onerror = () => tell("not reached; trying again", "lost");
}

function poll(address) {
  byId("live").classList.add("asks");
  const ask = async () => {
    try {
      hear(await (await fetch(`${address}/state`)).json(), `; asked every ${POLL_MS / 1000} s`);
    } catch {
      tell("not reached; trying again", "lost");
    }
  };
  ask();
  setInterval(ask, POLL_MS);
}

if (document.querySelector("[data-live]")) follow(document.body.dataset.follow);
