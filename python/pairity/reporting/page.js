"use strict";
/* The page: theme, the table per language, training runs, and the sentences. */
(() => {
  const p = pairity, { data, html } = p, by = (id) => document.getElementById(id);

  /* ---- theme: automatic, light, dark; kept where the browser allows it */
  const themes = ["automatic", "light", "dark"];
  const stored = { get: () => { try { return localStorage.getItem("pairity-theme"); } catch { return null; } },
    set: (name) => { try { localStorage.setItem("pairity-theme", name); } catch { /* a page opened from a file may not store */ } } };
  function setTheme(name) {
    document.documentElement.dataset.theme = name;
    by("theme").textContent = `Theme: ${name}`;
  }
  setTheme(themes.includes(stored.get()) ? stored.get() : "automatic");
  by("theme").addEventListener("click", () => {
    const next = themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % themes.length];
    setTheme(next);
    stored.set(next);
  });

  /* ---- what the charts of the table are made of */
  const linear = ([d0, d1], [r0, r1]) => (v) => (d1 === d0 ? (r0 + r1) / 2 : r0 + ((v - d0) / (d1 - d0)) * (r1 - r0));
  /* Round steps of 1, 2 or 5 times a power of ten. */
  function ticks(low, high, count) {
    if (!(high > low)) return [low];
    const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
    const found = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) found.push(Number((i * step).toPrecision(12)));
    return found;
  }
  /* A logarithm keeps one outlier from pressing all others together; a change is drawn as the ratio that it is. */
  const spread = (candidates, to) => (low, high) => {
    const least = (to(high) - to(low)) / 4, found = [];
    for (const v of candidates) if (v >= low && v <= high && found.every((other) => Math.abs(to(v) - to(other)) >= least)) found.push(v);
    return found;
  };
  const ratio = (v) => Math.log(Math.max(1 + v, 0.001));
  const scales = {
    linear: { to: (v) => v, ticks: (low, high) => ticks(low, high, 3) },
    log: { to: Math.log, ticks: spread([1, 2, 5].flatMap((lead) => Array.from({ length: 16 }, (_, i) => Number(`${lead}e${i - 8}`))), Math.log) },
    ratio: { to: ratio, ticks: spread([0, 0.5, -0.5, 1, -0.2, 0.2, 3, -0.1, 0.1, 9, -0.75, 49], ratio) },
  };
  const plain = (v) => v.toLocaleString("en", { maximumSignificantDigits: 4 }).replace("-", "−");
  const percent = (v) => `${plain(v * 100)}%`;
  const colour = (t) => `var(--${data.colours[t]})`;
  const marker = (t, x, y, r) => p.svg("path", { class: "point", d: data.shapes[t], transform: `translate(${x},${y}) scale(${r})`, fill: colour(t) });
  const whisker = (t, x1, x2, y) => p.svg("line", { class: "whisker", x1, x2, y1: y, y2: y, stroke: colour(t) });
  /* Tokenizers of one row stand a little apart, so that equal values do not hide each other. */
  const apart = (t) => (t - (data.tokenizers.length - 1) / 2) * Math.min(4, 15 / data.tokenizers.length);

  /* ---- the table per language */
  const table = by("language-table"), rows = table ? [...table.tBodies[0].rows] : [];
  const LEVELS = ["high", "medium", "low", "unknown"];
  let sorted = { key: "", up: true };
  const cellsOf = (row) => data.measures[by("measure").value].cells[row.dataset.code];
  const about = (row) => data.languages[row.dataset.code];
  const visible = () => rows.filter((row) => !row.hidden);

  function fill() {
    const measure = data.measures[by("measure").value];
    const better = { higher: "higher is better", lower: "lower is better", neither: "" }[measure.better];
    by("measure-title").textContent = [measure.title, better].filter(Boolean).join("; ");
    for (const row of rows)
      cellsOf(row).forEach((found, i) => {
        const cell = row.cells[3 + i];
        delete cell.dataset.value;
        if (!found) return cell.replaceChildren(html("span", { class: "none" }, "–"));
        const [value, , , text, interval, best, leak] = found;
        cell.dataset.value = value;
        const number = html("span", { class: "num" }, text);
        cell.replaceChildren(best ? html("strong", { class: "best" }, number, html("span", { class: "star", "aria-hidden": "true" }, " ★"), html("span", { class: "sr" }, " best")) : number);
        if (leak) cell.append(html("span", { class: "badge leak" }, "leak"));
        if (interval) cell.append(html("small", { class: "interval" }, interval));
      });
    sort();
    strips();
  }
  function describe(row) {
    return cellsOf(row).map((found, i) => `${data.tokenizers[i]}: ${found ? found[3] + (found[4] ? ` (${found[4]})` : "") : "–"}`).join("\n");
  }
  function strips() {
    if (!table) return;
    const shown = visible(), drawn = data.tokenizers.map((_, t) => !p.isHidden(t));
    const all = shown.flatMap((row) => cellsOf(row).filter((found, i) => found && drawn[i]).flatMap((found) => [found[1] ?? found[0], found[2] ?? found[0]]));
    if (!all.length) return;
    const low = Math.min(...all), high = Math.max(...all), width = Math.max(90, by("strip-head").clientWidth - 16);
    const scale = scales[data.measures[by("measure").value].scale], place = linear([scale.to(low), scale.to(high)], [8, width - 8]);
    const x = (value) => place(scale.to(value));
    by("strip-head").replaceChildren(html("span", { class: "sr" }, "Chart"), axis(x, low, high, width));
    shown.forEach((row, i) => {
      const title = `${about(row).name}: ${describe(row).replaceAll("\n", "; ")}`;
      const drawing = p.svg("svg", { viewBox: `0 0 ${width} 24`, preserveAspectRatio: "none", role: "img", "aria-label": title, tabindex: i ? "-1" : "0" },
        p.svg("g", { class: "axis" }, p.svg("line", { x1: 0, x2: width, y1: 12, y2: 12 })));
      cellsOf(row).forEach((found, t) => {
        if (!found || !drawn[t]) return;
        const y = 12 + apart(t);
        if (found[1] !== null) drawing.append(whisker(t, x(found[1]), x(found[2]), y));
        drawing.append(marker(t, x(found[0]), y, 4));
      });
      const show = () => p.showTip(about(row).name, describe(row), () => {
        const box = drawing.getBoundingClientRect();
        return [box.left + box.width / 2, box.bottom - 6];
      });
      drawing.addEventListener("pointerenter", show);
      drawing.addEventListener("pointerleave", p.hideTip);
      drawing.addEventListener("focus", show);
      drawing.addEventListener("blur", p.hideTip);
      drawing.addEventListener("keydown", (event) => {
        const next = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: shown.length - 1 }[event.key];
        if (event.key === "Escape") p.hideTip();
        if (next === undefined || !shown[next]) return;
        event.preventDefault();
        drawing.setAttribute("tabindex", "-1");
        const target = shown[next].querySelector(".strip svg");
        target.setAttribute("tabindex", "0");
        target.focus();
      });
      row.querySelector(".strip").replaceChildren(drawing);
    });
  }
  function axis(x, low, high, width) {
    const unit = data.measures[by("measure").value];
    const format = unit.unit === "share" ? percent : plain;
    return p.svg("svg", { viewBox: `0 0 ${width} 24`, "aria-hidden": "true", class: "plot-axis" },
      ...scales[unit.scale].ticks(low, high).map((v) => p.svg("text", { x: x(v), y: 18, "text-anchor": "middle", fill: "var(--soft)", "font-size": "11", "font-weight": "400" }, format(v))));
  }
  function filter() {
    const script = by("script").value, level = by("level").value, find = by("find").value.trim().toLowerCase();
    for (const row of rows) {
      const one = about(row);
      row.hidden = Boolean((script && one.script !== script) || (level && one.level !== level) ||
        (find && !`${one.name} ${row.dataset.code}`.toLowerCase().includes(find)));
    }
    const count = visible().length;
    by("shown").textContent = `${count} of ${rows.length} languages`;
    by("nothing").hidden = count > 0;
    strips();
  }
  function sort() {
    const { key, up } = sorted;
    if (!key) return;
    const value = (row) => key === "name" ? about(row).name : key === "script" ? about(row).script : key === "level" ? LEVELS.indexOf(about(row).level)
      : (cellsOf(row)[Number(key)]?.[0] ?? null);
    const compare = (a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === null || y === null) return (x === null) - (y === null);  /* no value: last, whichever way */
      return (up ? 1 : -1) * (typeof x === "string" ? x.localeCompare(y) : x - y);
    };
    rows.sort(compare);
    table.tBodies[0].append(...rows);
    for (const head of table.querySelectorAll("th[data-sort]"))
      head.setAttribute("aria-sort", head.dataset.sort !== key ? "none" : up ? "ascending" : "descending");
  }
  if (table) {
    for (const head of table.querySelectorAll("th[data-sort]"))
      head.querySelector("button").addEventListener("click", () => {
        const key = head.dataset.sort, number = /^\d+$/.test(key);
        sorted = { key, up: sorted.key === key ? !sorted.up : !number };  /* numbers start with the largest */
        sort();
        strips();
      });
    by("measure").addEventListener("change", fill);
    for (const id of ["script", "level", "find"]) by(id).addEventListener("input", filter);
    by("intervals").addEventListener("change", (event) => table.classList.toggle("with-intervals", event.target.checked));
    by("reset").addEventListener("click", () => { for (const id of ["script", "level", "find"]) by(id).value = ""; filter(); });
    document.querySelector("#languages form").addEventListener("submit", (event) => event.preventDefault());
    sorted = { key: String(Math.max(0, data.tokenizers.indexOf(data.baseline))), up: false };
    fill();
    filter();
    p.onToggle(strips);
  }

  /* ---- training runs: one at a time */
  const runs = [...document.querySelectorAll(".run")];
  function showRun() {
    for (const run of runs) run.hidden = runs.length > 1 && run.dataset.run !== by("run").value;
  }
  if (by("run")) by("run").addEventListener("change", showRun);

  /* ---- one language of a run: its line and its row stand out, and its numbers are said */
  for (const run of runs) {
    const figures = [...run.querySelectorAll("figure.chart")].map(p.figureOf), pick = run.querySelector(".pick");
    const count = (v) => v.toLocaleString("en", { maximumFractionDigits: 2 });
    pick.addEventListener("change", () => {
      const code = pick.value, said = [];
      for (const { name, element, rows } of figures) {
        if (name === "race_fairness") continue;
        const own = rows.filter((row) => row.language === code);
        for (const mark of element.querySelectorAll(".plot [data-row]")) {
          const chosen = Boolean(code) && rows[Number(mark.dataset.row)].language === code;
          mark.classList.toggle("picked", chosen);
          mark.classList.toggle("dim", Boolean(code) && !chosen);
          if (chosen && name === "race_costs") mark.parentNode.append(mark);  /* to the front */
        }
        if (own.length && name === "race_costs") said.push(`${count(own[0].cost)} → ${count(own.at(-1).cost)} tokens per line`);
        if (code && name === "race_served") said.push(`served by ${count(own.reduce((sum, row) => sum + row.merges, 0))} of ${count(Math.max(...rows.map((row) => row.last_merge)))} merges`);
      }
      run.querySelector(".picked-says").textContent = said.join("; ");
    });
  }

  /* ---- sentences */
  function tokens(list) {
    return list.map(([id, parts], i) => {
      const shown = typeof parts === "string" ? [parts] : parts;
      const bytes = shown.filter((part) => typeof part !== "string");
      const about = bytes.map(([hex, character]) => character ? `${hex}: part of ${character}` : hex).join("; ");
      return html("span", { class: `token k${i % 4}`, title: `token ${id}${about ? ` — ${about}` : ""}` },
        ...shown.map((part) => typeof part === "string" ? part.replaceAll("\n", "⏎") : html("span", { class: "byte" }, part[0])));
    });
  }
  const across = (count) => (count < 4 ? count : count % 3 === 0 ? 3 : 2);  /* no lonely block in the last row */
  function showSentences() {
    const number = Number(by("sentence").value), view = data.viewer;
    const chosen = [...by("viewer-languages").querySelectorAll("input:checked")].map((box) => box.value);
    by("viewer").replaceChildren(...view.languages.filter((one) => chosen.includes(one.code)).map((one) => {
      const cuts = view.cuts[one.code][number];
      const heading = html("h3", {}, one.name, " ", html("span", { class: "code" }, one.code));
      if (!cuts) return html("article", { class: "sentence" }, heading, html("p", { class: "missing" }, "There is no such sentence in this language."));
      const blocks = view.tokenizers.map((name) => {
        const list = cuts[name], failed = typeof list === "string";
        return html("div", { class: "cut" },
          html("div", { class: "cut-head" }, html("bdi", { class: "tok", title: name }, name), html("b", {}, failed ? "failed" : `${list.length} token${list.length === 1 ? "" : "s"}`)),
          html("div", { class: "tokens", dir: one.rtl ? "rtl" : "auto", lang: one.lang }, ...(failed ? [list] : tokens(list))));
      });
      return html("article", { class: "sentence" }, heading, html("div", { class: "cuts", style: `--across: ${across(blocks.length)}` }, ...blocks));
    }));
    if (!chosen.length) by("viewer").append(html("p", { class: "missing" }, "Choose a language above."));
  }
  if (data.viewer) {
    for (const one of data.viewer.languages) {
      const box = html("input", { type: "checkbox", value: one.code, checked: data.viewer.first.includes(one.code) ? "" : null });
      by("viewer-languages").append(html("label", { class: "choice" }, box, one.name));
    }
    by("viewer-find")?.addEventListener("input", (event) => {
      const find = event.target.value.trim().toLowerCase();
      for (const label of by("viewer-languages").querySelectorAll("label"))
        label.hidden = !`${label.textContent} ${label.firstChild.value}`.toLowerCase().includes(find);
    });
    by("viewer-languages").addEventListener("change", showSentences);
    by("sentence").addEventListener("change", showSentences);
    showSentences();
  }

  /* ---- size and place */
  showRun();
  let waiting = 0;
  addEventListener("resize", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(strips); });
  /* A table that is wider than its place says so, and fades where it goes on. */
  for (const box of document.querySelectorAll(".scroll")) {
    const hint = html("p", { class: "hint", hidden: "" }, "There is more to the right: scroll sideways, or use the arrow keys.");
    box.before(hint);
    const measure = () => {
      const beyond = box.scrollWidth - box.clientWidth;
      hint.hidden = beyond < 2;
      box.style.setProperty("--caption", `${box.querySelector("caption")?.offsetHeight ?? 0}px`);
      box.classList.toggle("more", beyond - box.scrollLeft >= 2);
      box.classList.toggle("moved", box.scrollLeft >= 2);
    };
    box.addEventListener("scroll", measure, { passive: true });
    const watch = new ResizeObserver(measure);
    for (const one of [box, box.firstElementChild]) watch.observe(one);
  }
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((one) => one.isIntersecting)) {
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-20% 0px -70% 0px" });
  for (const id of links.keys()) if (by(id)) watcher.observe(by(id));
})();
