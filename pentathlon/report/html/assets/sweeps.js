"use strict";
/* Pictures over a numeric factor: one panel for each case, one line for each system. */
(window.pentathlonPictures ||= []).push((tools) => {
  const { MANY, data, grid, panel, legend, levels, scale, ticks, axisX, axisY, colour, breadth, radius,
    sizeTick, bytes, number, compact, names, systems, style, SYMBOLS } = tools;

  const sweep = (part, width) => {
    const found = data.sweeps.find((one) => one.w === part);
    if (!found) return [];
    const all = (one) => one.l.flatMap((line, s) => line.map(([x, y]) => ({ x, y, s })));
    const present = [...new Set(found.p.flatMap((one) => all(one).map((p) => p.s)))].sort();
    const box = (one, each) => {
      // A line breaks where its system failed, which has no value.
      const every = all(one), raw = every.filter((p) => p.y !== null);
      const [divisor, unit] = scale(one.u, d3.median(raw, (p) => p.y) || 0);
      const whole = every.map((p) => ({ ...p, y: p.y === null ? NaN : p.y / divisor })).sort((a, b) => a.s - b.s || a.x - b.x);
      const points = whole.filter((p) => !Number.isNaN(p.y));
      const [least, most] = d3.extent(points, (p) => p.y);
      if (!raw.length || (least === 0 && most === 0)) {
        const nothing = document.createElement("p");
        nothing.className = "case";
        nothing.textContent = raw.length ? `0 ${unit} at every point` : "not measured";
        return panel(one.t, nothing);
      }
      // Shares and what can be zero are on a linear axis, where zero has a place.
      const shares = unit === "%" || least <= 0;
      const domain = [Math.min(0, least * 1.12), unit === "%" && most > 90 && most <= 100 ? 105 : Math.max(0, most) * 1.12];
      const axis = shares ? { domain, ticks: d3.ticks(...domain, 6) } : levels(points.map((p) => p.y));
      const xs = [...new Set(points.map((p) => p.x))].sort((a, b) => a - b);
      const from = xs[0], to = xs.at(-1) > from ? xs.at(-1) : from * 2;
      const place = (x) => Math.log2(x / from) / Math.log2(to / from) * (each - 64);
      const apart = ticks(xs).reduce((kept, x) => kept.length && place(x) - place(kept.at(-1)) < 44 ? kept : [...kept, x], []);
      const cut = (x) => Math.max(from, Math.min(to, x));
      const found = one.m.filter(([, low, high]) => high >= from && low <= to);
      // A piece that alone is the best has no width: give it that of half a step.
      const bands = found.map(([s, low, high]) => ({ s, x1: cut(low === high ? low / 1.19 : low), x2: cut(low === high ? high * 1.19 : high) }));
      const best = found.flatMap(([s, , , x]) => points.filter((p) => p.s === s && p.x === x));
      const rules = one.r.filter(([x]) => x >= from && x <= to);
      return panel(one.t, Plot.plot({
        width: each, height: Math.min(300, 140 + each * 0.3), marginLeft: 52, marginRight: 12, marginTop: 26, marginBottom: 38, style,
        ariaLabel: `${one.t}, over ${part}`,
        x: { type: "log", base: 2, domain: [from, to], label: `${data.sweeps.find((one) => one.w === part).x} →` },
        y: { type: shares ? "linear" : "log", label: `↑ ${unit}`, domain: axis.domain },
        symbol: { domain: systems.map((_, s) => s), range: SYMBOLS },
        marks: [
          Plot.rectX(bands, { x1: "x1", x2: "x2", fill: (b) => colour(b.s), fillOpacity: 0.26 / Math.max(1, present.length) }),
          Plot.gridY({ ticks: axis.ticks, stroke: "var(--rule)", strokeOpacity: 1 }),
          axisX(apart, sizeTick),
          axisY(axis.ticks, compact),
          Plot.ruleX(rules, { x: ([x]) => x, stroke: "var(--ink)", strokeOpacity: 0.7, strokeDasharray: "4 3" }),
          Plot.text(rules, { x: ([x]) => x, frameAnchor: "top", dy: -12, text: ([, label]) => label, fill: "var(--soft)" }),
          ...systems.map((_, s) => Plot.line(whole.filter((p) => p.s === s), { x: "x", y: "y", stroke: colour(s), strokeWidth: breadth(s), strokeOpacity: s < systems.length - 1 ? 0.55 : 1 })),
          xs.length > MANY ? null : Plot.dot(points, { x: "x", y: "y", fill: (p) => colour(p.s), symbol: "s", r: (p) => radius(p.s) * 0.85 }),
          Plot.dot(best, { x: "x", y: "y", stroke: (p) => colour(p.s), fill: "none", strokeWidth: 2, r: (p) => radius(p.s) + 4 }),
          Plot.tip(points, Plot.pointer({ x: "x", y: "y", title: (p) => `${names[p.s]}, ${bytes(p.x)}\n${number(p.y)} ${unit}`, fill: "var(--raised)", stroke: "var(--rule-strong)" })),
        ],
      }));
    };
    return [legend(present), grid(width, found.p, box)];
  };
  return { sweep };
});
