"use strict";
/* The jitter of flows over their time: a colour for each system, a line for each trial. */
(window.pentathlonPictures ||= []).push((tools) => {
  const { data, grid, panel, legend, axisX, axisY, colour, number, compact, names, style } = tools;

  const jitter = (part, width) => {
    const found = data.jitters;
    if (!found || found.w !== part) return [];
    const shown = [...new Set(found.p.flatMap((one) => one.l.map(([s]) => s)))].sort();
    const box = (one, each) => {
      const all = one.l.flatMap(([s, b, line]) => line.map(([x, ms]) => ({ s, b, x, ms })));
      const [factor, unit] = d3.max(all, (p) => p.ms) < 1 ? [1e3, "µs"] : [1, "ms"];
      for (const p of all) p.y = p.ms * factor;
      const most = d3.max(all, (p) => p.x), top = d3.max(all, (p) => p.y) * 1.08 || 1;
      const levels = d3.ticks(0, top, 5);
      return panel(one.t, Plot.plot({
        width: each, height: Math.min(240, 120 + each * 0.22), marginLeft: 52, marginRight: 12, marginTop: 22, marginBottom: 36, style,
        ariaLabel: `Jitter over time, ${one.t}`,
        x: { domain: [0, most], label: "seconds since the first arrival →" },
        y: { domain: [0, top], label: `↑ ${unit}` },
        marks: [
          Plot.gridY({ ticks: levels, stroke: "var(--rule)", strokeOpacity: 1 }),
          axisX(d3.ticks(0, most, Math.max(3, Math.floor(each / 80))), compact),
          axisY(levels, compact),
          ...d3.groups(all, (p) => `${p.s} ${p.b}`).map(([, own]) => Plot.line(own, { x: "x", y: "y", curve: "step-after", stroke: colour(own[0].s), strokeWidth: 1.3, strokeOpacity: 0.85 })),
          Plot.tip(all, Plot.pointer({ x: "x", y: "y", title: (p) => `${names[p.s]}, block ${p.b + 1}, ${number(p.x)} s\n${number(p.y)} ${unit}`, fill: "var(--raised)", stroke: "var(--rule-strong)" })),
        ],
      }));
    };
    const rest = document.createElement("p");
    rest.className = "case";
    rest.textContent = found.n > found.p.length ? `${found.p.length} of ${found.n} cases are drawn; the result's packets event has all.` : "";
    return [legend(shown), grid(width, found.p, box), ...rest.textContent ? [rest] : []];
  };
  return { jitter };
});
