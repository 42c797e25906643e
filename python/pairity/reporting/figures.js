"use strict";
/* The figures are drawn already. This adds what a picture cannot do: tooltips, the keyboard, hiding tokenizers, the data. */
const pairity = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const tip = document.getElementById("tip");

  function make(space, tag, attributes, children) {
    const element = space ? document.createElementNS(space, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {}))
      if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }
  const svg = (tag, attributes, ...children) => make("http://www.w3.org/2000/svg", tag, attributes, children);
  const html = (tag, attributes, ...children) => make(null, tag, attributes, children);

  /* ---- tooltip */
  let place = null;
  /* `where` gives the point on the screen; it is asked again when the page scrolls under the tooltip. */
  function showTip(title, body, where) {
    tip.replaceChildren(html("strong", { dir: "auto" }, title), body);
    tip.hidden = false;
    place = where;
    putTip();
  }
  function putTip() {
    if (tip.hidden) return;
    const [x, y] = place();
    const box = tip.getBoundingClientRect(), gap = 14;
    const left = x + gap + box.width > innerWidth ? x - gap - box.width : x + gap;
    const top = y + gap + box.height > innerHeight ? y - gap - box.height : y + gap;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, top)}px`;
  }
  const hideTip = () => { tip.hidden = true; };
  addEventListener("scroll", putTip, { passive: true });

  /* ---- rows of a figure, as its data table and its tooltips show them */
  function open(element) {
    const found = data.figures.find((one) => one.name === element.dataset.chart && one.of === element.dataset.of);
    const columns = Object.entries(found.columns).map(([name, column]) => [name, column.of ? column.at.map((i) => column.of[i]) : column]);
    const rows = columns[0][1].map((_, i) => Object.fromEntries(columns.map(([name, values]) => [name, values[i]])));
    return { ...found, element, rows, names: columns.map(([name]) => name), title: element.querySelector("h3, h4").textContent };
  }
  const language = (code) => (code === "" ? "all together" : data.languages[code]?.name ?? code);
  const fill = (pattern, row) => pattern.replace(/\{(\w+)\}/g, (_, name) =>
    name === "language" ? language(row[name]) : row[name].toLocaleString("en", { maximumFractionDigits: 2 }));
  function label(figure, index) {
    const text = figure.label ? fill(figure.label, figure.rows[index]) : figure.labels[index];
    const [title, ...body] = text.split("\n");
    return { title, body: body.join("\n") };
  }

  /* What can be pointed at, in the units of the drawing and in its order: every closed shape, every vertex of a line. */
  function marksOf(figure, drawing) {
    const home = drawing.getScreenCTM().inverse(), found = [];
    for (const element of drawing.querySelectorAll("[data-row]:not(.off)")) {
      const matrix = home.multiply(element.getScreenCTM()), first = Number(element.dataset.row);
      const box = element.getBBox();
      const points = element.dataset.line === undefined ? [[box.x + box.width / 2, box.y + box.height / 2]]
        : element.getAttribute("d").slice(1).split("L").map((pair) => pair.split(",").map(Number));
      points.forEach(([x, y], i) => {
        const at = new DOMPoint(x, y).matrixTransform(matrix);
        if (figure.label || figure.labels[first + i]) found.push({ x: at.x, y: at.y, row: first + i, element });
      });
    }
    return found;
  }

  let leaveCurrent = null;
  document.addEventListener("pointerdown", (event) => { if (!event.target.closest(".plot")) leaveCurrent?.(); });

  /* Hover and touch show the nearest mark; with the focus on the figure, arrow keys walk along its marks. */
  function interact(figure, drawing) {
    const ring = svg("circle", { class: "ring", r: 8, visibility: "hidden" });
    drawing.append(ring);
    let marks = [], at = -1, lit = null;
    const zoom = () => drawing.getBoundingClientRect().width / drawing.viewBox.baseVal.width;
    const light = (line) => {
      if (line === lit) return;
      lit?.classList.remove("lit");
      lit = line;
      lit?.classList.add("lit");
      lit?.parentNode.append(lit);  /* to the front */
    };
    const point = (index) => {
      if (leaveCurrent !== leave) leaveCurrent?.();
      leaveCurrent = leave;
      at = index;
      const mark = marks[at], { title, body } = label(figure, mark.row);
      ring.setAttribute("cx", mark.x); ring.setAttribute("cy", mark.y); ring.setAttribute("visibility", "visible");
      light(mark.element.dataset.line === undefined ? null : mark.element);
      showTip(title, body, () => {
        const box = drawing.getBoundingClientRect();
        return [box.left + mark.x * zoom(), box.top + mark.y * zoom()];
      });
    };
    const leave = () => {
      if (leaveCurrent !== leave) return;  /* the tooltip is another figure's by now */
      leaveCurrent = null;
      ring.setAttribute("visibility", "hidden");
      light(null);
      hideTip();
    };
    const look = () => { if (!marks.length) marks = marksOf(figure, drawing); return marks.length; };
    const nearest = (event) => {
      if (!look()) return;
      const box = drawing.getBoundingClientRect(), x = (event.clientX - box.left) / zoom(), y = (event.clientY - box.top) / zoom();
      let best = 0, distance = Infinity;
      marks.forEach((mark, i) => { const d = (mark.x - x) ** 2 + (mark.y - y) ** 2; if (d < distance) [best, distance] = [i, d]; });
      if (distance > 60 ** 2) leave(); else point(best);
    };
    for (const name of ["pointermove", "pointerdown"]) drawing.addEventListener(name, nearest);
    /* A finger that is lifted leaves too, but the tooltip is to stay until the next touch. */
    drawing.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") leave(); });
    drawing.addEventListener("blur", leave);
    drawing.addEventListener("focus", () => { if (drawing.matches(":focus-visible") && look()) point(Math.max(0, at)); });
    drawing.addEventListener("keydown", (event) => {
      if (event.key === "Escape") return leave();
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key], count = look();
      const next = { Home: 0, End: count - 1 }[event.key] ?? (step ? (at + step + count) % count : null);
      if (next === null || !count) return;
      event.preventDefault();
      point(next);
    });
    figure.forget.push(() => { marks = []; at = -1; leave(); });
  }

  /* ---- tokenizers are shown and hidden everywhere at once */
  const hidden = new Set(), watchers = [];
  function toggle(index) {
    hidden.has(index) ? hidden.delete(index) : hidden.add(index);
    for (const button of document.querySelectorAll(`.legend [data-t="${index}"]`)) button.setAttribute("aria-pressed", String(!hidden.has(index)));
    for (const mark of document.querySelectorAll(`.plot [data-t="${index}"]`)) mark.classList.toggle("off", hidden.has(index));
    for (const figure of figures) {
      const legend = [...figure.element.querySelectorAll(".legend button")];
      const none = legend.length > 0 && legend.every((button) => hidden.has(Number(button.dataset.t)));
      figure.element.querySelector(".plot").classList.toggle("empty", none);
      figure.element.querySelector(".plot .missing").hidden = !none;
      figure.forget.forEach((one) => one());
    }
    watchers.forEach((one) => one());
  }

  /* ---- the data behind a figure */
  function download(name, type, content) {
    const link = html("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
  const field = (value) => { const text = value === null ? "" : String(value); return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text; };
  function dataTable({ element, name, names, rows, title }) {
    const details = element.querySelector(".data");
    details.addEventListener("toggle", () => {
      const box = details.querySelector(".table");
      if (!details.open || box.firstChild) return;
      const save = html("button", { type: "button" }, "Save as CSV");
      save.addEventListener("click", () => download(`${name}.csv`, "text/csv",
        [names.join(","), ...rows.map((row) => names.map((one) => field(row[one])).join(","))].join("\n") + "\n"));
      const limit = 600, cell = (value) => html("td", typeof value === "number" ? { class: "n" } : { dir: "auto" }, value === null ? "" : String(value));
      box.append(save, html("table", {},
        html("caption", {}, html("span", {}, rows.length > limit ? `The first ${limit} of ${rows.length} rows; the CSV has them all.` : title)),
        html("thead", {}, html("tr", {}, ...names.map((one) => html("th", { scope: "col" }, one)))),
        html("tbody", {}, ...rows.slice(0, limit).map((row) => html("tr", {}, ...names.map((one) => cell(row[one])))))));
    });
  }

  const figures = [...document.querySelectorAll("figure.chart")].map((element) => ({ ...open(element), forget: [] }));
  for (const figure of figures) {
    for (const drawing of figure.element.querySelectorAll(".plot > svg")) interact(figure, drawing);
    for (const button of figure.element.querySelectorAll(".legend button")) button.addEventListener("click", () => toggle(Number(button.dataset.t)));
    dataTable(figure);
  }

  const figureOf = (element) => figures.find((one) => one.element === element);
  return { data, svg, html, figureOf, showTip, hideTip, isHidden: (index) => hidden.has(index), onToggle: (one) => watchers.push(one) };
})();
