// An episode without reloading: steps by key and click, marks, labels, and what was expected.
// A module, so that its names are its own; byId is the frame's.

const episode = document.querySelector(".episode");
const film = byId("film");
let shown = Number(byId("scene").dataset.number);
let asked = 0; // the latest wish; older answers are dropped

const frames = () => film.querySelectorAll("[data-step]").length || 1;

// Steps ------------------------------------------------------------------------------------------

async function show(number, quote = "") {
  const wanted = Math.min(frames(), Math.max(1, number));
  const wish = ++asked;
  point(wanted);
  const query = quote ? `?quote=${encodeURIComponent(quote)}` : "";
  const response = await fetch(`${episode.dataset.address}/step/${wanted}${query}`);
  const text = await response.text();
  if (wish !== asked) return;
  const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("scene");
  if (!response.ok || !fresh) {
    location.search = `?step=${wanted}`; // the page itself says what is wrong
    return;
  }
  if ("underWay" in episode.dataset && !("underWay" in fresh.dataset)) {
    location.reload(); // it is over: there is more to say of it now
    return;
  }
  byId("scene").replaceWith(document.adoptNode(fresh));
  if (quote) document.querySelector("#scene mark")?.scrollIntoView({ block: "center" });
}

function point(number) {
  shown = number;
  for (const frame of film.querySelectorAll(".frame")) {
    const isHere = Number(frame.dataset.step) === number;
    frame.toggleAttribute("aria-current", isHere);
    if (isHere) frame.setAttribute("aria-current", "step");
    if (isHere) reveal(frame);
  }
  byId("previous").href = `?step=${Math.max(1, number - 1)}`;
  byId("next").href = `?step=${Math.min(frames(), number + 1)}`;
  byId("previous").setAttribute("aria-disabled", String(number <= 1));
  byId("next").setAttribute("aria-disabled", String(number >= frames()));
  const at = byId("at-step");
  if (at) at.value = number;
  history.replaceState(null, "", `?step=${number}${location.hash}`);
}

function reveal(frame) {
  const left = frame.offsetLeft - film.offsetLeft;
  if (left < film.scrollLeft || left + frame.offsetWidth > film.scrollLeft + film.clientWidth) {
    film.scrollLeft = left - film.clientWidth / 2 + frame.offsetWidth / 2;
  }
}

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const link = event.target.closest("a[data-step], #previous, #next");
  if (!link) return;
  event.preventDefault();
  if (link.id === "previous") show(shown - 1);
  else if (link.id === "next") show(shown + 1);
  else show(link.dataset.step === "last" ? frames() : Number(link.dataset.step), link.dataset.quote || "");
});

// Marks ------------------------------------------------------------------------------------------

function drawMarks(state) {
  document.documentElement.dataset.marks = state;
  byId("marks").setAttribute("aria-pressed", String(state === "on"));
}

byId("marks").addEventListener("click", () => {
  const state = document.documentElement.dataset.marks === "on" ? "off" : "on";
  localStorage.setItem("marks", state);
  drawMarks(state);
});

// Labels -----------------------------------------------------------------------------------------

const here = byId("here");
if (here) here.addEventListener("click", () => (byId("first-error").value = shown));

document.addEventListener("keydown", (event) => {
  const form = event.target.closest(".label-form");
  if (form && event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});

// Following --------------------------------------------------------------------------------------

let count = frames();

document.addEventListener("followed", () => {
  const wasNewest = shown >= count;
  count = frames();
  if ("underWay" in episode.dataset) show(wasNewest ? count : shown);
  else point(shown);
});

drawMarks(localStorage.getItem("marks") || "off");
point(shown);
