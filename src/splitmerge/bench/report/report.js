"use strict";
// Interactive features of the page: light and dark theme, sorting, tooltips. All text is inserted as text, never as HTML.
const root = document.documentElement;
const DRAWN = ["svg", "g", "path", "line", "rect", "circle", "text"];

function add(parent, tag, attributes = {}, text = "") {
  const space = DRAWN.includes(tag) ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml";
  const element = document.createElementNS(space, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return parent.appendChild(element);
}

// ---------------------------------------------------------------- light and dark

function remember(...theme) { // storage may be unavailable for a page opened from disk
  try {
    return theme.length ? localStorage.setItem("theme", theme[0]) : localStorage.getItem("theme");
  } catch { return null; }
}
// set before the first paint, to avoid a flash
if (["light", "dark"].includes(remember())) root.dataset.theme = remember();

function themes() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const other = () => ((root.dataset.theme || (system.matches ? "dark" : "light")) === "dark" ? "light" : "dark");
  const button = add(document.querySelector("header"), "button", { id: "theme", class: "tool", type: "button" });
  const label = () => { button.textContent = other() === "dark" ? "Dark" : "Light"; };
  button.addEventListener("click", () => { remember(root.dataset.theme = other()); label(); });
  system.addEventListener("change", label);
  label();
}

// ---------------------------------------------------------------- tables

const words = new Intl.Collator("en", { numeric: true });
const keyOf = (cell) => (cell?.dataset.number !== undefined ? Number(cell.dataset.number) : cell?.dataset.word ?? null);

function compare(a, b) {
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return typeof a === "number" ? a - b : words.compare(a, b);
}

function sort(head, direction) {
  const body = head.closest("table").tBodies[0];
  const keyed = [...body.rows].map((row) => [keyOf(row.cells[head.cellIndex]), row]);
  keyed.sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : direction * compare(a, b)));
  body.append(...keyed.map(([, row]) => row));
}

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  for (const head of heads) {
    if (![...table.tBodies[0].rows].some((row) => keyOf(row.cells[head.cellIndex]) !== null)) continue;
    const content = [...head.childNodes];
    const button = add(head, "button", { class: "sort", type: "button" });
    button.append(...content);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const each of heads) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      sort(head, down ? -1 : 1);
    });
  }
}

// the rows of a table that is wider than its frame become cards, so that nothing is cut off or has to be scrolled
function fitting(frame) {
  let width = 0;
  const look = () => {
    if (width === (width = frame.clientWidth)) return; // cards change the height only
    frame.classList.remove("cards");
    frame.classList.toggle("cards", frame.firstElementChild.offsetWidth > width);
  };
  new ResizeObserver(() => requestAnimationFrame(look)).observe(frame);
  look();
}

// ---------------------------------------------------------------- explanations

function explanations() {
  const tip = add(document.body, "div", { class: "tip", id: "tip", role: "tooltip", hidden: "" });
  let host = null;
  const settle = () => {
    if (!host) return;
    const at = host.getBoundingClientRect();
    const over = at.bottom + tip.offsetHeight + 12 > innerHeight;
    tip.style.left = `${Math.max(8, Math.min(at.left, root.clientWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${over ? at.top - tip.offsetHeight - 6 : at.bottom + 6}px`;
  };
  const show = (next) => {
    host?.removeAttribute("aria-describedby");
    host = next;
    host?.setAttribute("aria-describedby", "tip");
    tip.hidden = !host;
    tip.textContent = host?.dataset.why;
    settle();
  };
  for (const why of document.querySelectorAll(".why")) {
    (why.closest("button") || why).dataset.why = why.title;
    why.removeAttribute("title");
  }
  // the whole cell is the target, which is easier to hit than its text
  const found = (event) => event.target.closest?.("td, th")?.querySelector("[data-why]") || null;
  for (const name of ["pointerover", "focusin"]) document.addEventListener(name, (event) => show(found(event)));
  document.addEventListener("focusout", () => show(null));
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") show(null); });
  document.addEventListener("scroll", settle, true);
}

// roving tabindex: one Tab stop for all cells with tooltips in a table; the arrow keys move between them
function roving({ tBodies: [body] }) {
  const all = () => [...body.querySelectorAll(".why")];
  const column = (why) => why.closest("td, th").cellIndex;
  const stop = (at) => all().forEach((why) => { why.tabIndex = why === at ? 0 : -1; });
  stop(all()[0]);
  body.addEventListener("focusin", (event) => stop(event.target));
  body.addEventListener("keydown", (event) => {
    const along = /Up|Down/.test(event.key) ? all().filter((why) => column(why) === column(event.target)) : all();
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const next = along[along.indexOf(event.target) + step];
    if (next) { event.preventDefault(); next.focus(); }
  });
}

document.addEventListener("DOMContentLoaded", () => {
  themes();
  document.querySelectorAll("table").forEach(sortable);
  document.querySelectorAll("table").forEach(roving);
  document.querySelectorAll(".sheet").forEach(fitting);
  explanations();
  document.querySelectorAll("figure.plot").forEach((figure) => new Plot(figure));
});
