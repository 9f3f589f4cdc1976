"use strict";
/* All metrics of all areas of one system in one picture: each a point with its interval. */
(window.pentathlonPictures ||= []).push(({ data, effects, paint, tooltip, speed, low, high, panel, element, names, style, DIFFERENT, goto, screen }) => {
  /* The axis is linear within ±δ and logarithmic far from it (an inverse hyperbolic sine), so that
     differences of 1 % and of 70 times have room in one picture. */
  const bend = 2 * Math.log(high);
  const place = (ratio) => Math.asinh(Math.log(ratio) / bend);
  const STEPS = [1, 10, 2, 1.1, 1.01, 100, 1.5, 5, 1.05, 1.02, 1.2, 20, 50, 1000, 10000];

  /* Ticks, the most telling ones first, each as far from the others as a label is wide. */
  const ticks = ([from, to], width) => {
    const found = [], room = 54 * (place(to) - place(from)) / width;
    for (const v of STEPS.flatMap((step) => step === 1 ? [1] : [step, step < 2 ? 2 - step : 1 / step])) {
      if (v < from || v > to) continue;
      if (found.every((other) => Math.abs(place(other) - place(v)) > room)) found.push(v);
    }
    return found.sort((a, b) => a - b);
  };

  const overview = (part, width) => {
    const s = names.indexOf(part);
    const groups = d3.groups(effects(data.rows, s), (p) => p.row.a);
    const all = groups.flatMap(([, own]) => own);
    if (!all.length) return [];
    // On paper a page holds all of it, on a phone a screen or two.
    const most = screen.printing ? 250 : width < 480 ? 620 : 1000;
    const step = Math.min(all.length > 60 ? 5 : all.length > 25 ? 9 : 14, Math.max(0.6, (most - 36 * groups.length) / all.length));
    const means = new Map(data.areas.filter(([one]) => one === s).map(([, area, r, lo, hi]) => [area, { r, lo, hi }]));
    // Rows from top to bottom: the name of an area with its mean, then its metrics by their speed.
    const heads = [], points = [];
    let y = 0;
    for (const [area, own] of groups) {
      heads.push({ area, y: y + 9, ...means.get(area) });
      y += 22;
      for (const p of [...own].sort((a, b) => b.r - a.r)) { points.push({ ...p, y }); y += step; }
      y += 14;
    }
    let from = low, to = high;
    for (const v of [...all.map((p) => p.r), ...heads.flatMap((h) => [h.lo, h.hi])]) if (v) { from = Math.min(from, v); to = Math.max(to, v); }
    const pad = (place(to) - place(from)) * 0.03 + 0.05;
    const ends = [place(from) - pad, place(to) + pad];
    const back = (x) => Math.exp(Math.sinh(x) * bend);
    const domain = ends.map(back);
    const clip = (v) => Math.max(ends[0], Math.min(ends[1], place(v)));
    const shown = ticks(domain, width - 24);
    const thick = step < 5 ? 1.1 : step < 9 ? 1.6 : 2.4, radius = step < 5 ? 2 : step < 9 ? 2.6 : 3.6;
    const plot = Plot.plot({
      width, height: y + 44, marginLeft: 12, marginRight: 12, marginTop: 6, marginBottom: 38, style,
      ariaLabel: `Speed of ${names[s]} relative to ${names[0]}, every metric`,
      x: { domain: ends, label: `speed against ${names[0]}, faster →`, axis: null },
      y: { domain: [0, y], reverse: false, range: [6, y + 6], axis: null },
      marks: [
        Plot.rectX([0], { x1: place(low), x2: place(high), fill: "var(--band)" }),
        Plot.gridX(shown.map(place), { stroke: "var(--rule)", strokeOpacity: 1 }),
        Plot.ruleX([0], { stroke: "var(--rule-strong)" }),
        Plot.axisX(shown.map(place), { tickFormat: (x) => speed(+back(x).toPrecision(6)), label: `speed against ${names[0]}, faster →` }),
        Plot.link(points.filter((p) => p.lo), { x1: (p) => clip(p.lo), x2: (p) => clip(p.hi), y1: "y", y2: "y", stroke: paint, strokeWidth: thick, strokeOpacity: 0.55 }),
        Plot.dot(points, { x: (p) => place(p.r), y: "y", r: radius, fill: (p) => DIFFERENT.has(p.verdict) || step < 5 ? paint(p) : "var(--paper)", stroke: paint, strokeWidth: 1.2 }),
        Plot.link(heads.filter((h) => h.lo), { x1: (h) => clip(h.lo), x2: (h) => clip(h.hi), y1: "y", y2: "y", stroke: "var(--ink)", strokeWidth: 2.4 }),
        Plot.dot(heads.filter((h) => h.r), { x: (h) => clip(h.r), y: "y", r: 5, symbol: "diamond", fill: "var(--ink)" }),
        Plot.text(heads, { frameAnchor: "left", y: "y", dx: 2, text: (h) => h.area[0].toUpperCase() + h.area.slice(1), fontWeight: 600, fill: "var(--ink)", stroke: "var(--paper)", strokeWidth: 4, textAnchor: "start" }),
        Plot.tip(points, Plot.pointer({ x: (p) => place(p.r), y: "y", title: tooltip, fill: "var(--raised)", stroke: "var(--rule-strong)" })),
      ],
    });
    plot.style.cursor = "pointer";
    plot.addEventListener("click", () => { if (plot.value) goto(plot.value.row.k); });
    const colours = [["up", "faster"], ["down", "slower"], ["even", "equal"], ["soft", "open"], ["loud", "unstable or invalid"]];
    const used = new Set(points.map((p) => /--(\w+)/.exec(paint(p))[1]));
    const list = element("ul", { class: "legend" });
    for (const [name, word] of colours) if (used.has(name)) list.append(element("li", {}, element("span", { class: "dot", style: `background: var(--${name})` }), word));
    const box = panel(`${names[s]} against ${names[0]}`, plot);
    plot.before(list);
    return [box];
  };
  return { overview };
});
