"use strict";
// The picture: pan, zoom, and its parts by the titles that Graphviz gives them (g3, e3_17, cut_0_3, g1->g3).

function startPicture(frame) {
  const svg = frame.querySelector("svg");
  if (!svg) {
    document.body.classList.add("no-picture");
    return { act() {}, choose() {}, highlight() {} };
  }
  const { x, y, width, height } = svg.viewBox.baseVal;
  const whole = { x, y, width, height };
  const parts = readParts();
  let view = whole;
  let moved = false;

  // ---- parts

  function readParts() {
    const found = new Map();
    svg.querySelector(".graph > g")?.classList.add("bare");
    for (const part of svg.querySelectorAll(".node, .edge, .cluster")) {
      const title = part.querySelector(":scope > title")?.textContent ?? "";
      const fills = [...part.querySelectorAll("polygon, path, ellipse")].map((shape) => shape.getAttribute("fill"));
      const isBare = fills.every((fill) => !fill || fill === "none" || fill === "#ffffff");
      if (isBare || part.classList.contains("edge")) part.classList.add("bare");
      found.set(title, [...(found.get(title) ?? []), part]);
    }
    return found;
  }

  /** Let the parts of a title run something. An arrow without text is for the mouse only: a node says the same. */
  function act(title, label, run) {
    for (const part of parts.get(title) ?? []) {
      part.addEventListener("click", () => moved || run());
      if (part.classList.contains("edge") && !part.querySelector("text")) continue;
      part.setAttribute("tabindex", "0");
      part.setAttribute("role", "button");
      part.setAttribute("aria-label", label);
      part.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        run();
      });
    }
  }

  function setClass(name, titles) {
    const on = new Set(titles);
    for (const [title, elements] of parts) for (const part of elements) part.classList.toggle(name, on.has(title));
  }

  /** Mark parts, and bring the first one into sight. */
  function choose(titles) {
    setClass("chosen", titles);
    const part = parts.get(titles[0])?.[0].getBoundingClientRect();
    const box = frame.getBoundingClientRect();
    if (!part || (part.right > box.left && part.left < box.right && part.bottom > box.top && part.top < box.bottom)) return;
    pan((part.left + part.right - box.left - box.right) / 2, (part.top + part.bottom - box.top - box.bottom) / 2);
  }

  function highlight(titles) {
    frame.classList.toggle("searching", titles !== null);
    setClass("hit", titles ?? []);
  }

  // ---- pan and zoom: by the view box, so that the picture stays sharp

  function look(next) {
    view = next;
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  }

  /** Units of the picture in one pixel of the screen. */
  function unit() {
    const box = frame.getBoundingClientRect();
    return Math.max(view.width / Math.max(box.width, 1), view.height / Math.max(box.height, 1));
  }

  /** Zoom about a point of the screen, or about the middle. */
  function zoom(factor, point) {
    const box = frame.getBoundingClientRect();
    const limited = Math.min(Math.max(view.width * factor, whole.width / 100), whole.width * 4) / view.width;
    const dx = point ? (point.clientX - box.left - box.width / 2) * unit() : 0;
    const dy = point ? (point.clientY - box.top - box.height / 2) * unit() : 0;
    const size = { width: view.width * limited, height: view.height * limited };
    const middle = { x: view.x + view.width / 2 + dx * (1 - limited), y: view.y + view.height / 2 + dy * (1 - limited) };
    look({ x: middle.x - size.width / 2, y: middle.y - size.height / 2, ...size });
  }

  function pan(dx, dy) {
    look({ ...view, x: view.x + dx * unit(), y: view.y + dy * unit() });
  }

  function dragWith(event, from) {
    const [dx, dy] = [event.clientX - from.clientX, event.clientY - from.clientY];
    if (!moved && Math.hypot(dx, dy) < 4) return from;
    if (!moved) frame.setPointerCapture(event.pointerId);
    moved = true;
    frame.classList.add("dragging");
    pan(-dx, -dy);
    return event;
  }

  let from = null;
  frame.addEventListener("pointerdown", (event) => {
    moved = false;
    if (event.button === 0 && !event.target.closest("button")) from = event;
  });
  frame.addEventListener("pointermove", (event) => {
    if (from) from = dragWith(event, from);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    frame.addEventListener(end, () => {
      from = null;
      frame.classList.remove("dragging");
    });
  }
  frame.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, event);
  }, { passive: false });

  const run = { in: () => zoom(1 / 1.3), out: () => zoom(1.3), all: () => look(whole) };
  for (const button of frame.querySelectorAll("[data-zoom]")) button.addEventListener("click", run[button.dataset.zoom]);
  const keys = {
    "+": run.in, "=": run.in, "-": run.out, 0: run.all,
    ArrowLeft: () => pan(-60, 0), ArrowRight: () => pan(60, 0), ArrowUp: () => pan(0, -60), ArrowDown: () => pan(0, 60),
  };
  frame.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });

  look(whole);
  return { act, choose, highlight };
}
