"use strict";
/* Figures over offered load: a colour for each system, dashes and hollow points for competitors. */
(window.pentathlonPictures ||= []).push((tools) => {
  const { data, grid, panel, levels, axisY, colour, number, compact, names, systems, style, SYMBOLS } = tools;
  const DASHES = ["none", "6 4", "2 3", "9 3 2 3", "1 4"];

  const overlay = (part, width) => {
    const found = data.overlays.find((one) => one.w === part);
    if (!found) return [];
    const label = (c) => found.c[c] === "none" ? "alone" : `beside ${found.c[c]}`;
    const shownUnit = (one) => one.u === "1/s" ? [1e3, "thousands per second"]
      : one.u !== "us" ? [1, one.u]
      : d3.median(one.l.flatMap(([, , line]) => line.map(([, y]) => y).filter((y) => y !== null))) >= 1e4 ? [1e3, "ms"] : [1, "µs"];
    const shape = (s) => d3.symbol(d3[`symbol${SYMBOLS[s][0].toUpperCase()}${SYMBOLS[s].slice(1)}`], 36)();
    const key = document.createElement("ul");
    key.className = "legend";
    const pairs = new Map(found.p.flatMap((one) => one.l.map(([s, c]) => [`${s} ${c}`, [s, c]])));
    for (const [s, c] of [...pairs.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
      const item = document.createElement("li");
      const line = d3.create("svg").attr("width", 34).attr("height", 10).attr("aria-hidden", "true");
      line.append("line").attr("x2", 34).attr("y1", 5).attr("y2", 5).style("stroke", colour(s)).attr("stroke-width", 2).attr("stroke-dasharray", DASHES[c % DASHES.length]);
      line.append("path").attr("transform", "translate(17,5)").attr("d", shape(s)).style("stroke", colour(s)).attr("stroke-width", 1.5).style("fill", c ? "var(--paper)" : colour(s));
      item.append(line.node(), ` ${names[s]}, ${label(c)}`);
      key.append(item);
    }
    const box = (one, each) => {
      const [divisor, unit] = shownUnit(one);
      const by = (v) => v === null ? null : v / divisor;
      // A line breaks where its system failed, which has no value.
      const whole = one.l.flatMap(([s, c, line]) => line.map(([x, y, lo, hi]) => ({ s, c, x, y: by(y), lo: by(lo), hi: by(hi) })))
        .filter((p) => p.y === null || !one.g || p.y > 0);
      const points = whole.filter((p) => p.y !== null);
      if (!points.length) return panel(one.t, document.createElement("div"));
      const xs = [...new Set(points.map((p) => p.x))].sort((a, b) => a - b);
      const most = xs.at(-1);
      // A wide interval of few boots must not press the curves flat: it is cut at the frame.
      const values = points.map((p) => p.y), top = d3.max(values), least = d3.min(values);
      let y;
      if (one.g) y = { type: "log", ...levels(values) };
      else if (one.z) {
        const room = 0.6 * Math.max(top, -least, 5);
        const domain = [Math.max(one.u === "%" ? -105 : -Infinity, Math.min(0, least) - room), Math.max(0, top) + room];
        y = { type: "linear", domain, ticks: d3.ticks(...domain, 7) };
      } else {
        const high = one.u === "%" && top > 90 ? 105 : top * 1.12 || 1;
        y = { type: "linear", domain: [0, high], ticks: d3.ticks(0, high, 6) };
      }
      const clip = (v) => Math.max(y.domain[0], Math.min(y.domain[1], v));
      const lines = d3.groups(whole, (p) => `${p.s} ${p.c}`);
      // Bars of one load are beside each other.
      lines.forEach(([, own], n) => own.forEach((p) => { p.at = p.x + (n - (lines.length - 1) / 2) * most * 0.011; }));
      const offered = one.o ? [0, Math.min(most, y.domain[1])].map((v) => ({ v })) : [];
      const made = panel(one.t, Plot.plot({
        width: each, height: Math.min(300, 150 + each * 0.3), marginLeft: 56, marginRight: 14, marginTop: 26, marginBottom: 38, style,
        ariaLabel: `${one.t}, over offered load`,
        x: { type: "linear", domain: [0, most * 1.04], label: `${one.x} →` },
        y: { type: y.type, domain: y.domain, label: `↑ ${unit}` },
        symbol: { domain: systems.map((_, s) => s), range: SYMBOLS },
        marks: [
          Plot.gridY({ ticks: y.ticks, stroke: "var(--rule)", strokeOpacity: 1 }),
          Plot.axisX(d3.ticks(0, most, Math.max(3, Math.floor(each / 70))), { anchor: "bottom", text: compact }),
          axisY(y.ticks, compact),
          one.z ? Plot.ruleY([0], { stroke: "var(--rule-strong)" }) : null,
          Plot.line(offered, { x: "v", y: "v", stroke: "var(--soft)", strokeDasharray: "1 4" }),
          Plot.ruleX(points.filter((p) => p.lo !== null), { x: "at", y1: (p) => clip(p.lo), y2: (p) => clip(p.hi), stroke: (p) => colour(p.s), strokeWidth: 1.4, strokeOpacity: 0.65 }),
          ...lines.map(([, own]) => Plot.line(own, { x: "at", y: "y", stroke: colour(own[0].s), strokeWidth: 1.8, strokeDasharray: DASHES[own[0].c % DASHES.length] })),
          Plot.dot(points, { x: "at", y: "y", symbol: "s", r: 3.4, stroke: (p) => colour(p.s), strokeWidth: 1.5, fill: (p) => p.c ? "var(--paper)" : colour(p.s) }),
          Plot.tip(points, Plot.pointer({ x: "x", y: "y", title: (p) => `${names[p.s]}, ${label(p.c)}, ${number(p.x)}\n${number(p.y)} ${unit}${p.lo === null ? "" : ` (${number(p.lo)} to ${number(p.hi)})`}`, fill: "var(--raised)", stroke: "var(--rule-strong)" })),
        ],
      }));
      if (one.f) {
        const note = document.createElement("span");
        note.className = "case";
        note.textContent = ` ${one.f}`;
        made.querySelector("h4").append(note);
      }
      return made;
    };
    return [key, grid(width, found.p, box)];
  };
  return { overlay };
});
