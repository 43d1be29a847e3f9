// Before anything is painted, so that no page flashes in the other colours.
const chosen = localStorage.getItem("theme");
if (chosen) document.documentElement.dataset.theme = chosen;
