"use strict";
/* The effects of a factorial design, ranked: a line for each term, a mark for each metric. */
(window.pentathlonPictures ||= []).push((tools) => {
  const { data, panel, speed, ratioTicks, ratioDomain, axisX, style, low, high } = tools;

  const factors = (part, width) => {
    const shown = new Set(["faster-by-delta", "faster", "slower", "slower-by-delta"]);
    const terms = data.factorial.map((one) => one.t);
    const points = data.factorial.flatMap((one) => one.e.map(([row, r, lo, hi, verdict, words]) => ({
      t: one.t, row: data.rows[row], r, lo, hi, v: data.verdicts[verdict], words,
    })));
    if (!points.length) return [];
    // Several metrics of one term lie in one line: they are spread a little over its height.
    const order = new Map(terms.map((term) => [term, points.filter((p) => p.t === term)]));
    for (const own of order.values()) own.forEach((p, i) => { p.dy = own.length > 1 ? (i / (own.length - 1) - 0.5) * 26 : 0; });
    const sure = points.filter((p) => shown.has(p.v));
    const domain = ratioDomain([...points.map((p) => ({ r: p.r })), ...sure]);
    const left = Math.min(width * 0.35, 24 + 7 * Math.max(...terms.map((t) => t.length)));
    const steps = ratioTicks(domain, Math.max(3, Math.floor((width - left) / 85)));
    const name = (p) => `${p.t}\n${p.row.t}${p.row.c ? `: ${p.row.c}` : ""}\n${speed(p.r)}, ${p.words}`;
    const each = (list, make) => list.map((p) => make(p));
    return [panel("", Plot.plot({
      width, height: 60 + 44 * terms.length, marginLeft: left, marginRight: 16, marginTop: 10, marginBottom: 40, style,
      ariaLabel: "Effects of factors and pairs of factors, ranked",
      x: { type: "log", domain, label: "speed →" },
      y: { type: "point", domain: terms, label: null, padding: 0.5 },
      marks: [
        Plot.rectX([0], { x1: Math.max(low, domain[0]), x2: Math.min(high, domain[1]), fill: "var(--band)" }),
        Plot.gridX({ ticks: steps, stroke: "var(--rule)", strokeOpacity: 1 }),
        Plot.ruleX([1], { stroke: "var(--rule-strong)" }),
        axisX(steps, speed),
        Plot.axisY({ tickSize: 0 }),
        ...each(sure.filter((p) => p.lo && p.hi), (p) => Plot.ruleY([p], { y: "t", x1: (q) => Math.max(q.lo, domain[0]), x2: (q) => Math.min(q.hi, domain[1]), dy: p.dy, stroke: p.r > 1 ? "var(--up)" : "var(--down)", strokeOpacity: 0.6 })),
        ...each(points, (p) => Plot.dot([p], { y: "t", x: "r", dy: p.dy, r: 3.6, stroke: shown.has(p.v) ? (p.r > 1 ? "var(--up)" : "var(--down)") : "var(--soft)", fill: shown.has(p.v) ? (p.r > 1 ? "var(--up)" : "var(--down)") : "none" })),
        Plot.tip(points, Plot.pointer({ x: "r", y: "t", title: name, fill: "var(--raised)", stroke: "var(--rule-strong)" })),
      ],
    }))];
  };
  return { factors };
});
