"use strict";
/* The figures. Each takes its rows and a width, and returns a drawing, the marks to point at, and what to light up. */
pairity.charts = (() => {
  const p = pairity;
  const mark = (row, x, y, title) => ({ x, y, row, title, body: row.label });
  const padded = ([low, high], share) => { const room = (high - low || Math.abs(high) || 1) * share; return [low - room, high + room]; };
  const described = (rows) => `${rows.length} marks. Use the arrow keys to step through them; the same numbers stand in the data below.`;

  function tradeoff({ rows, width, title }) {
    const height = 340, left = 58, right = 18, top = 26, bottom = 46;
    const drawing = p.canvas(width, height, title, described(rows));
    const xs = padded(p.extent(rows.flatMap((r) => [r.compression_low ?? r.compression_rate, r.compression_high ?? r.compression_rate])), 0.16);
    const ys = [0, Math.max(...rows.map((r) => r.gini_high ?? r.gini)) * 1.12 || 1];
    const x = p.linear(xs, [left, width - right]), y = p.linear(ys, [height - bottom, top]);
    drawing.append(
      p.axisX(x, p.ticks(...xs, width / 110), height - bottom, p.plain, { grid: height - bottom - top, title: "lines per token → better", middle: (left + width - right) / 2 }),
      p.axisY(y, p.ticks(...ys, 5), left, p.plain, { grid: width - left - right, title: "Gini ↓ better" }));
    const marks = rows.map((r) => {
      const px = x(r.compression_rate), py = y(r.gini), name = r.tokenizer;
      if (r.compression_low !== null) drawing.append(p.whisker(name, x(r.compression_low), py, x(r.compression_high), py));
      if (r.gini_low !== null) drawing.append(p.whisker(name, px, y(r.gini_low), px, y(r.gini_high)));
      drawing.append(p.marker(name, px, py, 6));
      return mark(r, px, py, name);
    });
    nameMarks(drawing, marks, [left, width]);
    return { drawing, marks };
  }

  /* Names beside their points: of the places around each the first that covers neither a point nor another name. */
  function nameMarks(drawing, marks, [from, to]) {
    const taken = marks.map((m) => ({ x0: m.x - 8, x1: m.x + 8, y0: m.y - 7, y1: m.y + 7 }));
    for (const m of marks) {
      const label = p.cut(m.title, 22), wide = [...label].length * 7;
      const places = [-10, 20, -24, 34, -38, 48].flatMap((dy) => [["start", 4, dy], ["end", -4, dy]]).map(([anchor, dx, dy]) => {
        const x0 = anchor === "start" ? m.x + dx : m.x + dx - wide;
        return { anchor, x: m.x + dx, y: m.y + dy, x0, x1: x0 + wide, y0: m.y + dy - 11, y1: m.y + dy + 3 };
      });
      const free = (box) => box.x0 >= from && box.x1 <= to && !taken.some((t) => box.x0 < t.x1 && t.x0 < box.x1 && box.y0 < t.y1 && t.y0 < box.y1);
      const place = places.find(free) ?? places[0];
      taken.push(place);
      drawing.append(p.text(label, place.x, place.y, { class: "strong", "text-anchor": place.anchor, color: p.colour(m.title) }));
    }
  }

  function lorenz({ rows, width, title }) {
    const height = Math.min(width, 380), left = 48, right = 26, top = 26, bottom = 46;
    const drawing = p.canvas(width, height, title, described(rows));
    const x = p.linear([0, 1], [left, width - right]), y = p.linear([0, 1], [height - bottom, top]);
    const shares = [0, 0.25, 0.5, 0.75, 1];
    drawing.append(
      p.axisX(x, shares, height - bottom, p.percent, { grid: height - bottom - top, title: "languages, cheapest first", middle: (left + width - right) / 2 }),
      p.axisY(y, shares, left, p.percent, { grid: width - left - right, title: "share of all tokens" }),
      p.svg("line", { class: "other", x1: x(0), y1: y(0), x2: x(1), y2: y(1), "stroke-dasharray": "4 4" }));
    for (const [name, own] of Map.groupBy(rows, (r) => r.tokenizer))
      drawing.append(p.svg("path", { class: "curve", color: p.colour(name), "stroke-dasharray": p.dash(name),
        d: "M" + own.map((r) => `${x(r.share_of_languages)},${y(r.share_of_tokens)}`).join("L") }));
    return { drawing, marks: rows.filter((r) => r.label).map((r) => mark(r, x(r.share_of_languages), y(r.share_of_tokens), r.tokenizer)) };
  }

  function change({ rows, width, title, order }) {
    const step = 23, left = Math.min(148, width * 0.34), right = 16, top = 30, bottom = 26;
    const codes = order.filter((code) => rows.some((r) => r.language === code)), names = [...new Set(rows.map((r) => r.tokenizer))];
    const height = top + step * codes.length + bottom;
    const drawing = p.canvas(width, height, title, described(rows));
    const [low, high] = padded(p.extent([0, ...rows.flatMap((r) => [r.low ?? r.change, r.high ?? r.change])]), 0.05);
    const x = p.linear([low, high], [left, width - right]), y = (code) => top + step * (codes.indexOf(code) + 0.5);
    drawing.append(p.axisX(x, p.ticks(low, high, width / 90), height - bottom, p.signed, { grid: height - bottom - top }));
    for (const code of codes) drawing.append(p.text(p.cut(p.language(code), Math.floor((left - 12) / 7)), left - 10, y(code) + 4, { class: "strong", "text-anchor": "end" }));
    drawing.append(p.svg("line", { class: "zero", x1: x(0), x2: x(0), y1: top - 4, y2: height - bottom }),
      p.text("← fewer tokens", x(0) - 8, 14, { "text-anchor": "end" }), p.text("more tokens →", x(0) + 8, 14, { "text-anchor": "start" }));
    const marks = rows.map((r) => {
      const px = x(r.change), py = y(r.language) + p.apart(r.tokenizer, names, 14);
      if (r.low !== null) drawing.append(p.whisker(r.tokenizer, x(r.low), py, x(r.high), py, true));
      drawing.append(p.marker(r.tokenizer, px, py, 4.2));
      return mark(r, px, py, `${p.language(r.language)}, ${r.tokenizer}`);
    });
    marks.sort((a, b) => a.y - b.y || a.x - b.x);
    return { drawing, marks };
  }

  function compression({ rows, width, title, order }) {
    const names = [...new Set(rows.map((r) => r.tokenizer))];
    const codes = order.filter((code) => rows.some((r) => r.language === code));
    const most = Math.max(2, Math.min(codes.length, Math.floor((width - 40) / Math.max(104, names.length * 14 + 20))));
    const columns = Math.ceil(codes.length / Math.ceil(codes.length / most));  /* rows about equally long */
    const cell = (width - 40) / columns, panel = 84, head = 22, gap = 14;
    const height = Math.ceil(codes.length / columns) * (panel + head + gap);
    const drawing = p.canvas(width, height, title, described(rows));
    const top = Math.max(...rows.map((r) => r.high ?? r.compression_rate_line)) * 1.05;
    const steps = p.ticks(0, top, 2), inner = cell - 16, marks = [];
    codes.forEach((code, i) => {
      const x0 = 40 + (i % columns) * cell, y0 = Math.floor(i / columns) * (panel + head + gap) + head;
      const y = p.linear([0, top], [y0 + panel, y0]), x = (name) => x0 + (inner * (names.indexOf(name) + 0.5)) / names.length;
      const grid = p.svg("g", { class: "axis", "aria-hidden": "true" });
      for (const v of steps) {
        grid.append(p.svg("line", { x1: x0, x2: x0 + inner, y1: y(v), y2: y(v) }));
        if (i % columns === 0) grid.append(p.text(p.plain(v), x0 - 6, y(v) + 4, { "text-anchor": "end" }));
      }
      drawing.append(grid, p.text(p.cut(p.language(code), Math.floor(inner / 6.6)), x0, y0 - 7, { class: "strong" }));
      for (const r of rows.filter((row) => row.language === code)) {
        const px = x(r.tokenizer), py = y(r.compression_rate_line);
        drawing.append(p.svg("line", { class: "stem", color: p.colour(r.tokenizer), x1: px, x2: px, y1: y(0), y2: py }));
        if (r.low !== null) drawing.append(p.whisker(r.tokenizer, px, y(r.low), px, y(r.high)));
        drawing.append(p.marker(r.tokenizer, px, py, 4.2));
        marks.push(mark(r, px, py, `${p.language(code)}, ${r.tokenizer}`));
      }
    });
    return { drawing, marks };
  }

  function utilisation({ rows, width, title, order }) {
    const height = 320, left = 52, right = 10, top = 26, bottom = 30;
    const names = [...new Set(rows.map((r) => r.tokenizer))];
    const drawing = p.canvas(width, height, title, described(rows));
    const high = Math.max(...rows.map((r) => r.vocabulary_utilisation)) * 1.06;
    const y = p.linear([0, high], [height - bottom, top]), band = (width - left - right) / order.length;
    const slot = Math.min(44, (band * 0.8) / names.length);
    const x = (r) => left + band * (order.indexOf(r.resource_level) + 0.5) + slot * (names.indexOf(r.tokenizer) - (names.length - 1) / 2);
    drawing.append(p.axisY(y, p.ticks(0, high, 5), left, p.percent, { grid: width - left - right, title: "of the vocabulary" }));
    order.forEach((level, i) => drawing.append(p.text(`${level} resource`, left + band * (i + 0.5), height - 8, { "text-anchor": "middle", class: "strong" })));
    const marks = [];
    for (const own of Map.groupBy(rows, (r) => `${r.resource_level} ${r.tokenizer}`).values()) {
      const placed = [];
      for (const r of own.toSorted((a, b) => a.vocabulary_utilisation - b.vocabulary_utilisation)) {
        const py = y(r.vocabulary_utilisation);
        const side = placed.filter((other) => Math.abs(other - py) < 8).length;  /* dots that would touch move aside */
        placed.push(py);
        const px = x(r) + (side % 2 ? -1 : 1) * Math.ceil(side / 2) * Math.min(8, slot / 4);
        drawing.append(p.marker(r.tokenizer, px, py, 3.8));
        marks.push(mark(r, px, py, `${p.language(r.language)}, ${r.tokenizer}`));
      }
      const mean = y(own.reduce((sum, r) => sum + r.vocabulary_utilisation, 0) / own.length);
      drawing.append(p.svg("line", { class: "mean", color: p.colour(own[0].tokenizer), x1: x(own[0]) - slot * 0.42, x2: x(own[0]) + slot * 0.42, y1: mean, y2: mean }));
    }
    return { drawing, marks };
  }

  function raceCosts({ rows, width, title, order }) {
    const height = 360, left = 52, right = Math.min(120, width * 0.28), top = 26, bottom = 46;
    const drawing = p.canvas(width, height, title, `${order.length} languages. Use the arrow keys to step from language to language.`);
    const sizes = p.extent(rows.map((r) => r.vocab_size)), costs = padded(p.extent(rows.map((r) => r.cost)).map(Math.log), 0.02).map(Math.exp);
    const x = p.log(sizes, [left, width - right]), y = p.log(costs, [height - bottom, top]);
    drawing.append(
      p.axisX(x, p.logTicks(...sizes), height - bottom, p.short, { grid: height - bottom - top, title: "vocabulary size", middle: (left + width - right) / 2 }),
      p.axisY(y, p.logTicks(...costs), left, p.plain, { grid: width - left - right, title: "tokens per line" }));
    const lines = new Map(), marks = [];
    const groups = Map.groupBy(rows, (r) => r.language);
    const last = [...groups].map(([code, own]) => [code, own.at(-1).cost]).sort((a, b) => b[1] - a[1]);
    for (const code of order) {
      const own = groups.get(code);
      if (!own) continue;
      const kind = code === last[0][0] ? " dear" : code === last.at(-1)[0] ? " cheap" : "";
      const path = p.svg("path", { class: `other${kind}`, d: "M" + own.map((r) => `${x(r.vocab_size)},${y(r.cost)}`).join("L") });
      lines.set(code, path);
      drawing.append(path);
      for (const r of own) marks.push({ ...mark(r, x(r.vocab_size), y(r.cost), p.language(code)), body: `${r.cost.toFixed(2)} tokens per line at ${r.vocab_size.toLocaleString("en")} tokens` });
    }
    const label = p.text("", 0, 0, { class: "strong" });
    for (const [code, cost] of [last[0], last.at(-1)].filter((one, i, all) => i === 0 || one[0] !== all[0][0])) {
      const close = Math.abs(y(last[0][1]) - y(last.at(-1)[1])) < 14, up = code === last[0][0];
      drawing.append(p.text(p.cut(p.language(code), 16), width - right + 6, y(cost) + 4 + (close ? (up ? -7 : 7) : 0)));
    }
    drawing.append(label);
    const light = (m) => {
      for (const [code, path] of lines) path.classList.toggle("lit", m !== null && code === m.row.language);
      if (m) drawing.insertBefore(lines.get(m.row.language), label);
    };
    return { drawing, marks, light };
  }

  function raceFairness({ rows, width, title }) {
    const one = 170, height = 2 * one + 26, left = 52, right = 14, top = 24, bottom = 26;
    const drawing = p.canvas(width, height, title, described(rows));
    const sizes = p.extent(rows.map((r) => r.vocab_size)), x = p.log(sizes, [left, width - right]);
    const high = Math.max(...rows.map((r) => r.gini)) * 1.08 || 1, dear = padded(p.extent(rows.map((r) => r.worst_cost)).map(Math.log), 0.03).map(Math.exp);
    const panels = [
      { y: p.linear([0, high], [one - bottom + 8, top]), ticks: p.ticks(0, high, 4), of: (r) => r.gini, title: "Gini ↓ better", dy: 0, colour: "var(--c0)" },
      { y: p.log(dear, [2 * one - bottom + 14, one + top + 6]), ticks: p.logTicks(...dear), of: (r) => r.worst_cost, title: "dearest language, tokens per line ↓ better", dy: one + 6, colour: "var(--c1)" },
    ];
    const marks = [];
    for (const { y, ticks, of, title: name, dy, colour } of panels) {
      const axis = p.axisY(y, ticks, left, p.plain, { grid: width - left - right });
      axis.append(p.text(name, 0, dy + 12, {}));
      drawing.append(axis, p.svg("path", { class: "curve", color: colour, d: "M" + rows.map((r) => `${x(r.vocab_size)},${y(of(r))}`).join("L") }));
      for (const r of rows) marks.push({ x: x(r.vocab_size), y: y(of(r)), row: r, title: name.split(" ↓")[0], body: r.label });
    }
    drawing.append(p.axisX(x, p.logTicks(...sizes), height - 42, p.short, { title: "vocabulary size", middle: (left + width - right) / 2 }));
    return { drawing, marks };
  }

  function raceServed({ rows, width, title, order }) {
    const step = 17, left = Math.min(148, width * 0.34), right = 62, top = 22, bottom = 44;
    const codes = [...order, ...(rows.some((r) => !r.language) ? [""] : [])];
    const height = top + step * codes.length + bottom;
    const drawing = p.canvas(width, height, title, described(rows));
    const end = Math.max(...rows.map((r) => r.last_merge)), x = p.linear([0, end], [left, width - right]);
    const dark = Math.max(...rows.map((r) => r.merges / r.of));
    drawing.append(p.axisX(x, p.ticks(0, end, Math.max(2, width / 120)), height - bottom, p.short, { title: "merges", middle: (left + width - right) / 2 }),
      p.text("in all", width - right + 8, 12, {}));
    codes.forEach((code, i) => {
      const y = top + step * i, total = rows.filter((r) => r.language === code).reduce((sum, r) => sum + r.merges, 0);
      drawing.append(p.svg("g", { class: "axis" }, p.svg("line", { x1: left, x2: width - right, y1: y + step, y2: y + step })),
        p.text(p.cut(code ? p.language(code) : "all together", Math.floor((left - 12) / 7)), left - 8, y + 13, { class: "strong", "text-anchor": "end" }),
        p.text(total.toLocaleString("en"), width - right + 8, y + 13, {}));
    });
    const marks = rows.map((r) => {
      const y = top + step * codes.indexOf(r.language), x0 = x(r.first_merge - 1), x1 = x(r.last_merge);
      drawing.append(p.svg("rect", { class: "block", x: x0, y: y + 1, width: Math.max(0.5, x1 - x0 - 0.5), height: step - 2, opacity: (0.08 + 0.92 * Math.sqrt(r.merges / r.of / dark)).toFixed(3) }));
      const body = `${r.merges.toLocaleString("en")} of the ${r.of.toLocaleString("en")} merges ${r.first_merge.toLocaleString("en")} to ${r.last_merge.toLocaleString("en")}`;
      return { ...mark(r, (x0 + x1) / 2, y + step / 2, r.language ? p.language(r.language) : "all together"), body };
    });
    return { drawing, marks };
  }

  return { tradeoff, lorenz, change, compression, utilisation, race_costs: raceCosts, race_fairness: raceFairness, race_served: raceServed };
})();
