"use strict";
/* Drawing: elements, scales, axes, marks, and one tooltip for mouse, touch and keyboard. */
const pairity = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const tip = document.getElementById("tip");
  const SHAPES = 8;
  const DASHES = ["", "7 3", "2 3", "9 3 2 3", "5 5", "1 4", "12 4", "6 2 2 2"];

  function make(space, tag, attributes, children) {
    const element = space ? document.createElementNS(space, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {}))
      if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }
  const svg = (tag, attributes, ...children) => make("http://www.w3.org/2000/svg", tag, attributes, children);
  const html = (tag, attributes, ...children) => make(null, tag, attributes, children);

  const linear = ([d0, d1], [r0, r1]) => (v) => (d1 === d0 ? (r0 + r1) / 2 : r0 + ((v - d0) / (d1 - d0)) * (r1 - r0));
  const log = (domain, range) => { const inner = linear(domain.map(Math.log), range); return (v) => inner(Math.log(v)); };

  /* Round steps of 1, 2 or 5 times a power of ten. */
  function ticks(low, high, count) {
    if (!(high > low)) return [low];
    const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
    const found = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) found.push(Number((i * step).toPrecision(12)));
    return found;
  }
  function logTicks(low, high) {
    const found = [];
    for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10)
      for (const m of high / low < 20 ? [1, 1.5, 2, 3, 5, 7] : [1, 2, 5]) if (m * power >= low && m * power <= high) found.push(m * power);
    return found;
  }
  const plain = (v) => v.toLocaleString("en", { maximumSignificantDigits: 4 }).replace("-", "−");
  const percent = (v) => `${plain(v * 100)}\u202f%`;
  const signed = (v) => (v > 0 ? "+" : "") + percent(v);
  const short = (v) => (v >= 1000 ? `${plain(v / 1000)}k` : plain(v));

  const extent = (values) => [Math.min(...values), Math.max(...values)];
  const others = data.tokenizers.filter((name) => name !== data.baseline);
  const index = (name) => data.tokenizers.indexOf(name);
  const colour = (name) => name === data.baseline && others.length ? "var(--base)" : `var(--c${Math.max(0, others.indexOf(name)) % 8})`;
  const dash = (name) => DASHES[index(name) % DASHES.length];
  const cut = (text, length) => { const all = [...text]; return all.length > length ? `${all.slice(0, length - 1).join("")}…` : text; };
  const language = (code) => data.languages[code]?.name ?? code;

  /* A marker of about radius r; its shape tells tokenizers apart without colour. */
  function marker(name, x, y, r = 5) {
    const s = r * 0.9, t = r * 1.15;
    const path = [
      `M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`,
      `M${x - s},${y - s}h${2 * s}v${2 * s}h${-2 * s}z`,
      `M${x},${y - t}l${t},${1.8 * t}h${-2 * t}z`,
      `M${x},${y - t * 1.1}l${t},${t * 1.1}l${-t},${t * 1.1}l${-t},${-t * 1.1}z`,
      `M${x},${y + t}l${t},${-1.8 * t}h${-2 * t}z`,
      `M${x - t},${y - t / 3}h${(2 * t) / 3}v${(-2 * t) / 3}h${(2 * t) / 3}v${(2 * t) / 3}h${(2 * t) / 3}v${(2 * t) / 3}h${(-2 * t) / 3}v${(2 * t) / 3}h${(-2 * t) / 3}v${(-2 * t) / 3}h${(-2 * t) / 3}z`,
      `M${x + t},${y}l${-1.8 * t},${t}v${-2 * t}z`,
      `M${x - t},${y - s / 2}h${2 * t}v${s}h${-2 * t}z`,
    ][Math.max(0, index(name)) % SHAPES];
    return svg("path", { class: "point", d: path, style: null, color: colour(name) });
  }
  /* Tokenizers of one row stand a little apart, so that equal values do not hide each other. */
  const apart = (name, names, room) => (names.indexOf(name) - (names.length - 1) / 2) * Math.min(4, room / names.length);
  const whisker = (name, x1, y1, x2, y2, faint) =>
    svg("line", { class: faint ? "whisker faint" : "whisker", x1, y1, x2, y2, color: colour(name) });
  const text = (content, x, y, attributes) => svg("text", { x, y, ...attributes }, content);

  function axisX(scale, values, y, format, { grid = 0, title = "", middle = 0 } = {}) {
    const group = svg("g", { class: "axis", "aria-hidden": "true" });
    for (const v of values) {
      if (grid) group.append(svg("line", { x1: scale(v), x2: scale(v), y1: y, y2: y - grid }));
      group.append(text(format(v), scale(v), y + 16, { "text-anchor": "middle" }));
    }
    if (title) group.append(text(title, middle, y + 36, { "text-anchor": "middle" }));
    return group;
  }
  function axisY(scale, values, x, format, { grid = 0, title = "" } = {}) {
    const group = svg("g", { class: "axis", "aria-hidden": "true" });
    for (const v of values) {
      if (grid) group.append(svg("line", { x1: x, x2: x + grid, y1: scale(v), y2: scale(v) }));
      group.append(text(format(v), x - 8, scale(v) + 4, { "text-anchor": "end" }));
    }
    if (title) group.append(text(title, 0, 10, { "text-anchor": "start" }));
    return group;
  }
  function canvas(width, height, title, description) {
    const id = `s${++canvas.count}`;
    return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": `${id}t ${id}d`, tabindex: "0" },
      svg("title", { id: `${id}t` }, title), svg("desc", { id: `${id}d` }, description));
  }
  canvas.count = 0;

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

  /* Hover shows the nearest mark; with the focus on the figure, arrow keys walk along its marks. */
  function interact(drawing, marks, light) {
    if (!marks.length) return;
    const ring = svg("circle", { class: "ring", r: 8, visibility: "hidden" });
    drawing.append(ring);
    let at = -1;
    const point = (mark) => {
      ring.setAttribute("cx", mark.x); ring.setAttribute("cy", mark.y); ring.setAttribute("visibility", "visible");
      light?.(mark);
      showTip(mark.title, mark.body, () => {
        const box = drawing.getBoundingClientRect(), zoom = box.width / drawing.viewBox.baseVal.width;
        return [box.left + mark.x * zoom, box.top + mark.y * zoom];
      });
    };
    const leave = () => { ring.setAttribute("visibility", "hidden"); light?.(null); hideTip(); };
    const nearest = (event) => {
      const box = drawing.getBoundingClientRect(), zoom = box.width / drawing.viewBox.baseVal.width;
      const x = (event.clientX - box.left) / zoom, y = (event.clientY - box.top) / zoom;
      let best = 0, distance = Infinity;
      marks.forEach((mark, i) => { const d = (mark.x - x) ** 2 + (mark.y - y) ** 2; if (d < distance) [best, distance] = [i, d]; });
      if (distance > 60 ** 2) return leave();
      at = best;
      point(marks[best]);
    };
    drawing.addEventListener("pointermove", nearest);
    drawing.addEventListener("pointerdown", nearest);
    drawing.addEventListener("pointerleave", leave);
    drawing.addEventListener("blur", leave);
    drawing.addEventListener("focus", () => { if (drawing.matches(":focus-visible")) point(marks[(at = Math.max(0, at))]); });
    drawing.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") return leave();
      if (event.key === "Home") at = 0; else if (event.key === "End") at = marks.length - 1;
      else if (step) at = (at + step + marks.length) % marks.length; else return;
      event.preventDefault();
      point(marks[at]);
    });
  }

  return { data, svg, html, linear, log, ticks, logTicks, plain, percent, signed, short, extent, index, colour, dash, cut, language,
    marker, apart, whisker, text, axisX, axisY, canvas, showTip, putTip, hideTip, interact };
})();
