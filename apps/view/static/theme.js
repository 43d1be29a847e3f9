// Before anything is painted, so that no page flashes in the other colours.
const chosen = localStorage.getItem("theme");
if (chosen) document.documentElement.dataset.theme = chosen;

// A key pressed or a button clicked before the other scripts listen is given to them once they do.
const early = [];
const keep = (event) => early.push(event);
document.addEventListener("keydown", keep);
document.addEventListener("click", keep);
document.addEventListener("DOMContentLoaded", () => {
  document.removeEventListener("keydown", keep);
  document.removeEventListener("click", keep);
  for (const event of early) {
    const target = event.target.isConnected ? event.target : document.body;
    if (event.type === "keydown") target.dispatchEvent(new KeyboardEvent("keydown", event));
    else target.closest("button[type=button]")?.click(); // links and forms need no script
  }
});
