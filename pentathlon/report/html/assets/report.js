"use strict";
/* Pictures of the report, drawn when they come into view. Everything they show is in the tables. */
(() => {
  const data = JSON.parse(unpack("data"));
  const systems = data.systems;
  const names = systems.map((system) => system.name);
  const colour = (s) => `var(--s${Math.min(s, 5)})`;
  const SYMBOLS = ["circle", "square", "diamond", "triangle", "star", "cross"];
  while (SYMBOLS.length < systems.length) SYMBOLS.push("cross"); // as the colour, and the dots of report.css
  const DIFFERENT = new Set(["faster-by-delta", "faster", "slower", "slower-by-delta"]);
  const MANY = 24; // sizes on one axis, beyond which a curve is drawn without points
  const SINGLE = 6; // as CURVE_ROWS of view.py: smaller workloads share the table of their area
  const low = 1 / (1 + data.delta / 100), high = 1 + data.delta / 100;
  const style = { fontSize: "12px", background: "none", overflow: "visible" };

  // --- numbers -----------------------------------------------------------------------------------
  const bytes = (n) => n >= 2 ** 30 ? `${+(n / 2 ** 30).toFixed(1)} GiB` : n >= 2 ** 20
    ? `${+(n / 2 ** 20).toFixed(1)} MiB` : n >= 1024 ? `${+(n / 1024).toFixed(1)} KiB` : `${n} B`;
  const sizeTick = (n) => bytes(n).replace("iB", "").replace(" ", "\u2009");
  const number = (v) => v === 0 ? "0" : Math.abs(v) >= 1000
    ? d3.format(",.0f")(v) : d3.format(",")(+d3.format(".3g")(v));
  const compact = (v) => v === 0 ? "0" : Math.abs(v) < 1000
    ? `${+v.toPrecision(3)}` : d3.format("~s")(+v.toPrecision(3)).replace("G", "\u2009G").replace("M", "\u2009M").replace("k", "\u2009k");
  const speed = (r) => {
    if (r >= 2) return `×${+r.toPrecision(2)}`;
    if (r <= 0.5) return `1/${+(1 / r).toPrecision(2)}`;
    const p = (r - 1) * 100;
    return Math.abs(p) < 1e-9 ? "0" : `${p > 0 ? "+" : "−"}${+Math.abs(p).toPrecision(2)} %`;
  };

  // --- pieces ------------------------------------------------------------------------------------
  const element = (name, attributes = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const legend = (shown) => {
    const list = element("ul", { class: "legend" });
    for (const s of shown) list.append(element("li", {}, element("span", { class: `dot s${Math.min(s, 5)}` }), names[s]));
    return list;
  };
  const panel = (title, plot) => {
    const box = element("div", { class: "panel" });
    if (title) box.append(element("h4", {}, title));
    box.append(plot);
    return box;
  };
  /* Panels beside each other: as many columns as fit, at least 24rem wide each. */
  const columns = (width, count) => Math.max(1, Math.min(count, count === 4 ? 2 : 3, Math.floor((width + 32) / 400)));
  const grid = (width, groups, make, least = 0) => {
    const n = Math.max(1, Math.min(columns(width, groups.length), Math.floor((width + 32) / (least + 32))));
    const each = Math.floor((width - 32 * (n - 1)) / n);
    return element("div", { class: "panels", style: `--columns: ${n}` }, ...groups.map((group) => make(group, each)));
  };
  /* Systems that lie upon each other stay visible: the reference is widest, the last is narrowest. */
  const breadth = (s) => 1.4 + 2.2 * Math.max(0, systems.length - 1 - s);
  const radius = (s) => 2.6 + 1.1 * Math.max(0, systems.length - 1 - s);
  /* Round ticks of a logarithmic axis: 1, 2 and 5 of each decade, or fewer where there are many. */
  const decades = (from, to) => {
    for (const steps of [[1, 2, 5], [1, 3], [1]]) {
      const found = d3.range(Math.floor(Math.log10(from)), Math.ceil(Math.log10(to)) + 1)
        .flatMap((p) => steps.map((step) => +`${step}e${p}`)).filter((v) => v >= from * 0.999 && v <= to * 1.001);
      if (found.length <= 8) return found;
    }
    return d3.ticks(Math.log10(from), Math.log10(to), 6).filter(Number.isInteger).map((p) => 10 ** p);
  };
  const padded = (values, by = 0.06) => {
    const [from, to] = d3.extent(values), pad = Math.max((to / from) ** by, 1.02);
    return [from / pad, to * pad];
  };
  /* Domain and ticks of a logarithmic axis: never narrower than a factor of 1.3. */
  const levels = (values) => {
    let domain = padded(values);
    const ratio = domain[1] / domain[0];
    if (ratio < 1.3) { const more = Math.sqrt(1.3 / ratio); domain = [domain[0] / more, domain[1] * more]; }
    const ticks = domain[1] / domain[0] > 6 ? decades(...domain) : d3.ticks(...domain, 6);
    return { domain, ticks };
  };
  /* As display.scale of the evaluation: a divisor and a unit that keep numbers short. */
  const scale = (unit, value) => unit === "ns" ? value >= 1e9 ? [1e9, "s"] : value >= 1e6 ? [1e6, "ms"] : value >= 1e3 ? [1e3, "µs"] : [1, "ns"]
    : unit === "MB/s" && value >= 1e4 ? [1e3, "GB/s"] : [1, unit === "us" ? "µs" : unit];
  const bands = (values) => values.flatMap((one) => one.b.map(([x1, x2]) => ({ x1, x2, s: one.s })));
  /* Sizes to write at an axis: the powers of two where there are many, since even steps crowd. */
  const ticks = (sizes) => {
    const all = sizes.length <= MANY ? sizes
      : d3.range(Math.ceil(Math.log2(sizes[0])), Math.floor(Math.log2(sizes.at(-1))) + 1).map((p) => 2 ** p);
    const every = all.filter((_, i) => i % Math.ceil(all.length / 8) === 0);
    return every.length ? every : all;
  };

  /* Ticks of a ratio axis that are easy to read: round, with 0 among them, at most `count`. */
  const ratioTicks = ([from, to], count) => {
    if (Math.max(to, 1 / from) > 2.2) {
      for (const steps of [[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], [1, 3, 10, 30, 100, 300, 1000], [1, 10, 100, 1000, 10000], [1, 100, 10000]]) {
        const found = [...steps.slice(1).map((v) => 1 / v), ...steps].filter((v) => v >= from * 0.999 && v <= to * 1.001);
        if (found.length <= count) return found;
      }
      return [1];
    }
    return d3.ticks((from - 1) * 100, (to - 1) * 100, Math.max(2, count)).map((p) => 1 + p / 100);
  };
  const ratioDomain = (points) => {
    let from = low, to = high;
    for (const p of points) {
      for (const v of [p.r, p.lo, p.hi]) if (v) { from = Math.min(from, v); to = Math.max(to, v); }
    }
    const pad = Math.max((to / from) ** 0.05, 1.002);
    return [from / pad, to * pad];
  };
  const effects = (rows, s) => rows.flatMap((row) => {
    const e = row.e[s];
    if (!e || e[0] === null || row.o) return [];
    const [r, lo, hi, alo, ahi, v] = e;
    return [{ row, label: row.c && row.k.includes("[") ? `${row.t}: ${row.c}` : row.t, x: row.x, g: row.g, s, r, lo, hi, alo, ahi, verdict: data.verdicts[v] }];
  });
  /* A label that fits: the title gives way, since the case distinguishes rows. */
  const short = (points, most) => {
    const of = new Map(points.map((p) => [p.label, p.tail]));
    return (label) => {
      const tail = of.get(label), title = tail && label.endsWith(`: ${tail}`) ? label.slice(0, -tail.length - 2) : "";
      if (label.length <= most) return label;
      // Of a long case the beginning gives way too: cases mostly differ at their ends.
      if (title && tail.length > most - 8) return `${title.slice(0, 8).trimEnd()}…${tail.slice(9 - most)}`;
      if (!title) return `${label.slice(0, most - 1)}…`;
      return `${title.slice(0, Math.max(most - tail.length - 2, 6)).trimEnd()}… ${tail}`;
    };
  };
  /* What all cases have in common distinguishes no rows, and is left out of their labels. */
  const apart = (points) => {
    const cases = points.map((p) => p.row.c ? p.row.c.split(", ") : []);
    const alike = points.length > 1 ? cases[0].filter((part) => cases.every((own) => own.includes(part))) : [];
    points.forEach((p, i) => {
      p.tail = cases[i].filter((part) => !alike.includes(part)).join(", ");
      if (p.label !== p.row.t) p.label = [p.row.t, p.tail].filter(Boolean).join(": ");
    });
  };
  const paint = (p) => p.verdict.startsWith("faster") ? "var(--up)" : p.verdict.startsWith("slower") ? "var(--down)"
    : p.verdict === "unstable" || p.verdict === "invalid" ? "var(--loud)"
    : p.verdict === "equivalent" || p.verdict === "negligible" ? "var(--even)" : "var(--soft)";
  const tooltip = (p) => `${p.row.c ? `${p.row.t}: ${p.row.c}` : p.row.t}\n${names[p.s]}: ${speed(p.r)}${p.lo ? ` (${speed(p.lo)} to ${speed(p.hi)})` : ""}\n${p.verdict.replaceAll("-", " ")}`;

  /* Axes with a text at each of the given ticks; the library's own would leave some without one. */
  const axisX = (values, text) => Plot.axisX(values, { text, anchor: "bottom" });
  const axisY = (values, text) => Plot.axisY(values, { text, anchor: "left" });

  let goto = () => {};
  const screen = { printing: false };
  // --- pictures ----------------------------------------------------------------------------------
  const draw = {
    forest(part, width) {
      const count = d3.rollup(data.rows, (v) => v.length, (row) => row.w);
      const rows = data.rows.filter((row) => row.w === part || (row.a === part && count.get(row.w) < SINGLE));
      const alike = new Set(rows.map((row) => row.t)).size === 1 && rows.length > 1;
      const sides = systems.map((_, s) => s ? effects(rows, s) : []).filter((points) => points.length);
      if (!sides.length) return [];
      sides.forEach(apart);
      // Of a title six letters stay at least; labels have 42 % of a picture.
      const longest = d3.max(sides.flat(), (p) => p.tail.length);
      return [grid(Math.min(width, sides.length * 640), sides, (points, width) => {
        const s = points[0].s;
        if (alike) for (const p of points) p.label = p.tail || p.row.c;
        const domain = ratioDomain(points);
        const clip = (v) => Math.max(domain[0], Math.min(domain[1], v));
        const labels = points.map((p) => p.label);
        const left = Math.min(width * 0.42, 16 + 6.6 * d3.max(labels, (l) => l.length));
        const steps = ratioTicks(domain, Math.floor((width - left) / 85));
        const plot = Plot.plot({
          width, height: 46 + 22 * points.length, marginLeft: left, marginRight: 24, marginTop: 8, marginBottom: 36, style,
          ariaLabel: `Speed of ${names[s]} relative to ${names[0]}`,
          x: { type: "log", domain, label: `speed relative to ${names[0]} →` },
          y: { domain: labels, label: null },
          marks: [
            Plot.rectX([0], { x1: clip(low), x2: clip(high), fill: "var(--band)" }),
            Plot.gridX({ ticks: steps, stroke: "var(--rule)", strokeOpacity: 1 }),
            Plot.ruleX([1], { stroke: "var(--rule-strong)" }),
            axisX(steps, speed),
            Plot.axisY({ tickSize: 0, tickFormat: short(points, Math.floor(left / 6.6) - 2) }),
            Plot.ruleY(points.filter((p) => p.alo), { y: "label", x1: (p) => clip(p.alo), x2: (p) => clip(p.ahi), stroke: paint, strokeWidth: 1, strokeOpacity: 0.6 }),
            Plot.ruleY(points.filter((p) => p.lo), { y: "label", x1: "lo", x2: "hi", stroke: paint, strokeWidth: 4, strokeLinecap: "butt" }),
            Plot.dot(points, { y: "label", x: "r", r: 4, fill: (p) => DIFFERENT.has(p.verdict) ? paint(p) : "var(--paper)", stroke: paint, strokeWidth: 1.5 }),
            Plot.tip(points, Plot.pointerY({ y: "label", x: "r", title: tooltip, fill: "var(--raised)", stroke: "var(--rule-strong)" })),
          ],
        });
        return panel(`${names[s]} against ${names[0]}`, plot);
      }, (16 + 6.6 * (longest + 8)) / 0.42)];
    },

    curve(part, width) {
      const rows = data.rows.filter((row) => row.w === part && row.x !== null);
      const sizes = [...new Set(rows.map((row) => row.x))].sort((a, b) => a - b);
      const several = new Set(rows.map((row) => row.t)).size > 1;
      const named = (row) => several ? [row.t, row.g].filter(Boolean).join(", ") : row.g;
      const groups = d3.groups(rows, named);
      const present = new Set();
      const box = ([g, own], each) => {
        const [divisor, unit] = scale(own[0].u, d3.max(own, (row) => d3.median(row.m.filter((y) => y !== null))));
        const points = own.flatMap((row) => row.m.flatMap((y, s) => y === null ? [] : [{ x: row.x, y: y / divisor, s, row }]))
          .sort((a, b) => a.s - b.s || a.x - b.x);
        const axis = levels(points.map((p) => p.y));
        points.forEach((p) => present.add(p.s));
        // A line breaks where its system failed.
        const breaks = data.gaps.filter(([w, c]) => w === part && c === own[0].g).map(([, , s, x]) => ({ x, y: NaN, s }));
        const whole = [...points, ...breaks].sort((a, b) => a.x - b.x);
        const found = bands(data.curves.filter((c) => c.w === part && c.i === own[0].i && c.c === own[0].g));
        const claimed = [...d3.group(data.caches.flat().filter(([, size]) => size >= sizes[0] && size <= sizes.at(-1)), ([name, size]) => `${name} ${size}`).values()].map(([c]) => c);
        const plot = Plot.plot({
          width: each, height: Math.min(340, 150 + each * 0.35), marginLeft: 52, marginRight: 12, marginTop: 26, marginBottom: 38, style,
          ariaLabel: `${own[0].t}, ${g}, over block size`,
          x: { type: "log", base: 2, domain: [sizes[0], sizes.at(-1)], label: "block size, bytes →" },
          y: { type: "log", label: `↑ ${unit}`, domain: axis.domain },
          symbol: { domain: systems.map((_, s) => s), range: SYMBOLS },
          marks: [
            Plot.rectX(found, { x1: "x1", x2: "x2", fill: (b) => colour(b.s), fillOpacity: 0.22 / systems.length }),
            Plot.gridY({ ticks: axis.ticks, stroke: "var(--rule)", strokeOpacity: 1 }),
            axisX(ticks(sizes), sizeTick),
            axisY(axis.ticks, compact),
            Plot.ruleX(claimed, { x: ([, size]) => size, stroke: "var(--ink)", strokeOpacity: 0.7, strokeDasharray: "4 3" }),
            Plot.text(claimed, { x: ([, size]) => size, frameAnchor: "top", dy: -12, text: ([name, size]) => `${name} ${sizeTick(size)}`, fill: "var(--soft)" }),
            ...systems.map((_, s) => Plot.line(whole.filter((p) => p.s === s), { x: "x", y: "y", stroke: colour(s), strokeWidth: breadth(s), strokeOpacity: s < systems.length - 1 ? 0.55 : 1 })),
            sizes.length > MANY ? null : Plot.dot(points, { x: "x", y: "y", fill: (p) => colour(p.s), symbol: "s", r: (p) => radius(p.s) }),
            Plot.tip(points, Plot.pointer({ x: "x", y: "y", title: (p) => `${names[p.s]}, ${bytes(p.x)}\n${number(p.y)} ${unit}`, fill: "var(--raised)", stroke: "var(--rule-strong)" })),
          ],
        });
        return panel(g, plot);
      };
      const boxes = grid(width, groups, box);
      return [legend([...present].sort()), boxes];
    },

    ratio(part, width) {
      const rows = data.rows.filter((row) => row.w === part && row.x !== null);
      const all = systems.flatMap((_, s) => s ? effects(rows, s) : []);
      if (!all.length) return [];
      const sizes = [...new Set(rows.map((row) => row.x))].sort((a, b) => a - b);
      const domain = ratioDomain(all.map((p) => ({ ...p })));
      const several = new Set(rows.map((row) => row.t)).size > 1;
      const groups = d3.groups(all, (p) => several ? [p.row.t, p.g].filter(Boolean).join(", ") : p.g);
      const shown = [...new Set(all.map((p) => p.s))];
      const shift = (p) => p.x * 2 ** ((shown.indexOf(p.s) - (shown.length - 1) / 2) * 0.16);
      const boxes = grid(width, groups, ([g, points], each) => panel(g, Plot.plot({
        width: each, height: Math.min(260, 120 + each * 0.25), marginLeft: 52, marginRight: 12, marginTop: 18, marginBottom: 38, style,
        ariaLabel: `Speed relative to ${names[0]} over block size, ${g}`,
        x: { type: "log", base: 2, domain: [sizes[0] / 1.2, sizes.at(-1) * 1.2], label: "block size, bytes →" },
        y: { type: "log", domain, label: `↑ speed relative to ${names[0]}` },
        symbol: { domain: systems.map((_, s) => s), range: SYMBOLS },
        marks: [
          Plot.rectY([0], { y1: low, y2: high, fill: "var(--band)" }),
          Plot.gridY({ ticks: ratioTicks(domain, 7), stroke: "var(--rule)", strokeOpacity: 1 }),
          axisX(ticks(sizes), sizeTick),
          axisY(ratioTicks(domain, 7), speed),
          Plot.ruleY([1], { stroke: "var(--rule-strong)" }),
          Plot.ruleX(points.filter((p) => p.lo), { x: shift, y1: "lo", y2: "hi", stroke: (p) => colour(p.s), strokeWidth: 1.5 }),
          Plot.dot(points, { x: shift, y: "r", symbol: "s", r: 3.2, stroke: (p) => colour(p.s), fill: (p) => DIFFERENT.has(p.verdict) ? colour(p.s) : "var(--paper)" }),
          Plot.tip(points, Plot.pointer({ x: shift, y: "r", title: tooltip, fill: "var(--raised)", stroke: "var(--rule-strong)" })),
        ],
      })));
      return [legend(shown), boxes];
    },

    /* Time per repetition over repetitions, one panel for each system, one line for each style. */
    scaling(part, width) {
      const lines = data.scalings.filter((one) => one.w === part);
      if (!lines.length) return [];
      const xs = lines.flatMap((one) => one.p.map(([x]) => x)).filter((x) => x > 0);
      const [divisor, unit] = scale(lines[0].u, d3.median(lines.flatMap((one) => one.p.filter(([x]) => x > 0).map(([x, y]) => y / x))));
      const each_ = (one) => one.p.filter(([x]) => x > 0).map(([x, y]) => ({ x, y: y / x / divisor, c: one.c, s: one.s }));
      const axis = levels(lines.flatMap(each_).map((p) => p.y));
      const styles = [...new Set(lines.map((one) => one.c))];
      const symbol = { domain: styles, range: SYMBOLS };
      // What all styles have in common distinguishes no lines.
      const parts = styles.map((c) => c.split(", ")), alike = parts[0].filter((one) => parts.every((own) => own.includes(one)));
      const name = (c) => c.split(", ").filter((one) => !alike.includes(one)).join(", ") || c;
      return [grid(width, d3.groups(lines, (one) => one.s), ([s, own], each) => {
        const points = own.flatMap(each_);
        const ends = own.map((one) => each_(one).at(-1)).sort((a, b) => b.y - a.y);
        // Labels at the right end, moved apart where lines end close together.
        const height = Math.min(320, 150 + each * 0.3), room = height - 60;
        const y = d3.scaleLog(axis.domain, [room, 0]);
        let last = -Infinity;
        for (const end of ends) { last = Math.max(y(end.y), last + 14); end.at = y.invert(last); }
        let below = room;
        for (const end of [...ends].reverse()) { below = Math.min(y(end.at), below); end.at = y.invert(below); below -= 14; }
        return panel(names[s], Plot.plot({
          width: each, height, marginLeft: 52, marginRight: 76, marginTop: 22, marginBottom: 38, style,
          ariaLabel: `Time per repetition on ${names[s]}`,
          x: { type: "log", domain: padded(xs, 0.02), label: "repetitions →" },
          y: { type: "log", label: `↑ ${unit} per repetition`, domain: axis.domain },
          symbol,
          marks: [
            Plot.gridY({ ticks: axis.ticks, stroke: "var(--rule)", strokeOpacity: 1 }),
            axisX(decades(...d3.extent(xs)), compact),
            axisY(axis.ticks, compact),
            Plot.line(points, { x: "x", y: "y", z: "c", stroke: colour(s), strokeWidth: 1.3 }),
            Plot.dot(points, { x: "x", y: "y", symbol: "c", fill: "var(--paper)", stroke: colour(s), strokeWidth: 1.4, r: 3.6 }),
            Plot.text(ends, { x: "x", y: "at", text: (end) => name(end.c), textAnchor: "start", dx: 10, fill: "var(--ink)" }),
            Plot.tip(points, Plot.pointer({ x: "x", y: "y", title: (p) => `${p.c}, ${number(p.x)} repetitions\n${number(p.y)} ${unit} each`, fill: "var(--raised)", stroke: "var(--rule-strong)" })),
          ],
        }));
      })];
    },

    samples(part, width) {
      const index = Number(document.getElementById("metric").value);
      const row = data.rows[index];
      let place = 0, block = null;
      const starts = [], points = [];
      for (const [s, b, , warm, counted, ...values] of data.samples[index]) {
        if (b !== block) { starts.push({ b, x: place - 0.5 }); block = b; }
        values.forEach((y, i) => { if (y !== null) points.push({ x: place++, y, s, b, warm: i < warm, counted: counted && i >= warm, i }); });
        place += 1;
      }
      const relative = document.getElementById("measure").value === "deviation";
      const [divisor, unit] = relative ? [1, "% from the system's mean"] : scale(row.u, d3.median(points, (p) => p.y) || 0);
      for (const p of points) p.y = !relative ? p.y / divisor : row.m[p.s] === null ? NaN : (p.y / row.m[p.s] - 1) * 100;
      const centre = relative ? 0 : row.m[0] === null ? null : row.m[0] / divisor;
      const [under, over] = relative ? [-1, 1] : [centre * 0.99, centre * 1.01];
      const values = points.map((p) => p.y), [least, most] = d3.extent(values);
      const wide = least > 0 && most / least > 8;
      const axis = wide ? { type: "log", ...levels(values) } : { type: "linear", nice: true, ticks: 6, domain: [least - (most - least) * 0.06, most + (most - least) * 0.06] };
      const lines = wide ? axis.ticks : 6;
      document.getElementById("samples-caption").textContent =
        `${row.k}: ${points.length} samples, ${row.o ? "context, no score" : row.h ? "more is better" : "less is better"}.`;
      return [legend([...new Set(points.map((p) => p.s))].sort()), Plot.plot({
        width, height: Math.min(420, 200 + width * 0.18), marginLeft: 60, marginRight: 12, marginTop: 24, marginBottom: 30, style,
        ariaLabel: `Raw samples of ${row.k} in boot order`,
        x: { axis: null, domain: [-1, place + 0.5] },
        y: { type: axis.type, domain: axis.domain, nice: axis.nice, label: `↑ ${unit}` },
        symbol: { domain: systems.map((_, s) => s), range: SYMBOLS },
        marks: [
          centre === null ? null : Plot.rectY([0], { y1: under, y2: over, fill: "var(--band)" }),
          Plot.gridY({ ticks: lines, stroke: "var(--rule)", strokeOpacity: 1 }),
          wide ? axisY(axis.ticks, number) : Plot.axisY({ ticks: lines, tickFormat: number }),
          centre === null ? null : Plot.ruleY([centre], { stroke: "var(--rule-strong)" }),
          Plot.ruleX(starts.slice(1), { x: "x", stroke: "var(--rule-strong)", strokeDasharray: "2 3" }),
          Plot.text(starts, { x: "x", frameAnchor: "bottom", dy: 16, dx: 2, textAnchor: "start", text: (b) => `block ${b.b + 1}`, fill: "var(--soft)" }),
          Plot.dot(points, { x: "x", y: "y", symbol: "s", r: 3, stroke: (p) => colour(p.s), fill: (p) => p.counted ? colour(p.s) : "none", fillOpacity: 0.85, strokeOpacity: (p) => p.counted ? 1 : 0.7 }),
          Plot.tip(points, Plot.pointer({ x: "x", y: "y", title: (p) => `${names[p.s]}, block ${p.b + 1}${p.warm ? ", warm-up" : p.counted ? "" : ", not counted"}\n${number(p.y)} ${unit}`, fill: "var(--raised)", stroke: "var(--rule-strong)" })),
        ],
      })];
    },
  };

  const tools = { MANY, data, ratioTicks, ratioDomain, effects, paint, tooltip, speed, low, high, panel, element, DIFFERENT, goto: (key) => goto(key), screen, grid, legend, levels, scale, ticks, axisX, axisY, colour, breadth, radius, sizeTick, bytes, number, compact, names, systems, style, SYMBOLS };
  for (const more of window.pentathlonPictures || []) Object.assign(draw, more(tools));

  // --- when to draw ------------------------------------------------------------------------------
  const pictures = [...document.querySelectorAll(".picture")];
  const drawn = new Map();
  const show = (picture, fixed) => {
    const canvas = picture.querySelector(".canvas");
    const width = fixed || Math.floor(canvas.clientWidth);
    if (!width) return;
    const made = draw[picture.dataset.kind](picture.dataset.part, width);
    picture.hidden = !made.length;
    canvas.replaceChildren(...made);
    drawn.set(picture, width);
  };
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting && !drawn.has(entry.target)) show(entry.target);
  }, { rootMargin: "400px" });

  /* The tooltip of a cell: kept with the data, since few are ever read. */
  const tellMore = (target) => {
    const cell = target.closest("td");
    if (target.tagName === "SUP") target.title = "a boot deviates by more than 1 % from the mean";
    if (!cell || cell.title) return;
    const [means, better, judgements] = data.tips[cell.parentNode.id.slice(4)];
    const text = [...means, better, ...judgements.flatMap((one) => ["", one])][cell.cellIndex - 1];
    if (text) cell.title = text;
  };

  const select = document.getElementById("metric");
  if (select) {
    for (const [area, rows] of d3.groups(data.rows.map((row, i) => ({ row, i })), ({ row }) => row.a)) {
      const group = element("optgroup", { label: area });
      for (const { row, i } of rows) group.append(element("option", { value: i }, row.c ? `${row.t}, ${row.c}` : row.t));
      select.append(group);
    }
    const explorer = document.querySelector('.picture[data-kind="samples"]');
    const choose = (index) => {
      select.value = index;
      for (const old of document.querySelectorAll("tr.chosen")) old.classList.remove("chosen");
      document.getElementById(`row-${index}`)?.classList.add("chosen");
      show(explorer);
    };
    select.addEventListener("change", () => choose(select.value));
    document.getElementById("measure").addEventListener("change", () => show(explorer));
    for (const body of document.querySelectorAll(".results tbody")) {
      body.addEventListener("mouseover", (event) => tellMore(event.target));
      body.addEventListener("click", (event) => {
        if (String(getSelection())) return;
        const row = event.target.closest("tr");
        if (!row) return;
        choose(row.id.slice(4));
        document.getElementById("samples").scrollIntoView();
      });
    }
    const strongest = d3.greatestIndex(data.rows, (row) => d3.max(row.e, (e) => e && e[0] && DIFFERENT.has(data.verdicts[e[5]]) ? Math.abs(Math.log(e[0])) : -1));
    select.value = Math.max(0, strongest);
  }
  for (const picture of pictures) observer.observe(picture);
  // The rest is drawn while nothing else happens, so that searching and saving find all of it.
  const idle = window.requestIdleCallback || ((work) => setTimeout(work, 50));
  const next = () => {
    const picture = pictures.find((one) => !drawn.has(one) && one.querySelector(".canvas").clientWidth);
    if (picture) { show(picture); idle(next); }
  };
  idle(next);

  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      for (const [picture, width] of drawn) if (picture.querySelector(".canvas").clientWidth !== width) show(picture);
    }, 150);
  });
  const folded = [];
  addEventListener("beforeprint", () => {
    const all = document.getElementById("print-all").checked;
    const kinds = all ? "details.rows:not([open]), details.levels:not([open])" : "details.decided:not([open])";
    for (const one of document.querySelectorAll(kinds)) { one.open = true; folded.push(one); }
    screen.printing = true;
    for (const picture of pictures) {
      // The answer is on upright pages, the appendices across.
      if (!picture.closest(".appendix")) show(picture, picture.closest(".several") ? 335 : 690);
      else if (all) show(picture, 980);
    }
  });
  addEventListener("afterprint", () => {
    for (const one of folded.splice(0)) one.open = false;
    screen.printing = false;
    for (const picture of pictures) show(picture);
  });

  // --- the page ----------------------------------------------------------------------------------
  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("pentathlon-theme", root.dataset.theme); } catch {}
  });
  const find = (key) => {
    const row = document.getElementById(`row-${data.rows.findIndex((one) => one.k === key)}`);
    const fold = row?.closest("details");
    if (fold) fold.open = true;
    row?.classList.add("chosen");
    return row;
  };
  goto = (key) => find(key)?.scrollIntoView({ block: "center" });
  for (const link of document.querySelectorAll("a[data-row]")) {
    link.addEventListener("click", () => { const row = find(link.dataset.row); if (row) link.href = `#${row.id}`; });
  }
  // A menu closes when one of its entries is chosen, or something else.
  addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll(".menu[open]")) {
      if (!menu.contains(event.target) || event.target.closest("a")) menu.open = false;
    }
  });
  const links = new Map([...document.querySelectorAll(".bar nav a")].map((link) => [link.hash.slice(1), link]));
  const here = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-20% 0px -70% 0px" });
  for (const id of links.keys()) { const section = document.getElementById(id); if (section) here.observe(section); }
})();
