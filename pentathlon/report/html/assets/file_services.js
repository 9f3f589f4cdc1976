"use strict";
/* File tasks: bars of the time for each link, then throughput and speed-up over all links. */
(window.pentathlonPictures ||= []).push((tools) => {
  const { data, grid, panel, legend, levels, axisY, colour, number, compact, names, systems, style, SYMBOLS } = tools;

  const tooltip = (p, unit) => `${names[p.s]}, ${p.link}\n${number(p.y)} ${unit}${p.lo === null ? "" : ` (${number(p.lo)} to ${number(p.hi)})`}`;
  const tip = (points, x, unit) => Plot.tip(points, Plot.pointer({ x, y: "y", title: (p) => tooltip(p, unit) + (p.least ? `\nleast: ${number(p.least)} ${unit}` : ""), fill: "var(--raised)", stroke: "var(--rule-strong)" }));

  /* One link: a bar for each system, its interval, and a dash where the link's least time is. */
  const bars = (link, points, width) => {
    const top = d3.max(points, (p) => Math.max(p.y, Math.min(p.hi ?? 0, 1.6 * p.y))) * 1.08;
    const ticks = d3.ticks(0, top, 5);
    return panel(link, Plot.plot({
      width, height: 210, marginLeft: 50, marginRight: 8, marginTop: 22, marginBottom: 30, style,
      ariaLabel: `Time over ${link}`,
      x: { type: "band", domain: points.map((p) => p.s), padding: 0.35, label: null },
      y: { domain: [0, top], label: "↑ s" },
      marks: [
        Plot.gridY({ ticks, stroke: "var(--rule)", strokeOpacity: 1 }),
        axisY(ticks, compact),
        Plot.axisX({ tickFormat: (s) => names[s], tickSize: 0, lineWidth: 7 }),
        Plot.barY(points, { x: "s", y: "y", fill: (p) => colour(p.s), fillOpacity: 0.75 }),
        Plot.ruleX(points.filter((p) => p.lo !== null), { x: "s", y1: (p) => Math.max(0, p.lo), y2: (p) => Math.min(top, p.hi), stroke: "var(--ink)", strokeWidth: 1.4 }),
        Plot.tickY(points.filter((p) => p.least), { x: "s", y: "least", stroke: "var(--ink)", strokeWidth: 2, strokeDasharray: "4 3" }),
        Plot.ruleY([0], { stroke: "var(--rule-strong)" }),
        tip(points, "s", "s"),
      ],
    }));
  };

  /* All links beside each other: a point for each system, logarithmic. */
  const over = (title, unit, links, points, width, level) => {
    const y = levels([...points.map((p) => p.y), ...(level ? [level] : [])]);
    const clip = (v) => Math.max(y.domain[0], Math.min(y.domain[1], v));
    const shown = [...new Set(points.map((p) => p.s))];
    for (const p of points) p.at = links.indexOf(p.link) + (shown.indexOf(p.s) - (shown.length - 1) / 2) * 0.16;
    return panel(title, Plot.plot({
      width, height: 222, marginLeft: 50, marginRight: 8, marginTop: 22, marginBottom: 56, style,
      ariaLabel: `${title} over all links`,
      x: { domain: [-0.5, links.length - 0.5], label: null },
      y: { type: "log", domain: y.domain, label: `↑ ${unit}` },
      symbol: { domain: systems.map((_, s) => s), range: SYMBOLS },
      marks: [
        Plot.gridY({ ticks: y.ticks, stroke: "var(--rule)", strokeOpacity: 1 }),
        axisY(y.ticks, compact),
        Plot.axisX(d3.range(links.length), { tickFormat: (n) => links[n].replaceAll("-", "\n"), tickSize: 0, lineWidth: 6 }),
        level ? Plot.ruleY([level], { stroke: "var(--rule-strong)" }) : null,
        Plot.ruleX(points.filter((p) => p.lo !== null), { x: "at", y1: (p) => clip(p.lo), y2: (p) => clip(p.hi), stroke: (p) => colour(p.s), strokeWidth: 1.4, strokeOpacity: 0.65 }),
        Plot.dot(points, { x: "at", y: "y", symbol: "s", r: 4, stroke: (p) => colour(p.s), fill: (p) => colour(p.s) }),
        tip(points, "at", unit),
      ],
    }));
  };

  const fileServices = (part, width) => {
    const found = data.file_services.find((one) => one.w === part);
    if (!found) return [];
    const read = (rows) => rows.map(([l, s, y, lo, hi, least]) => ({ link: found.l[l], s, y, lo, hi, least }));
    const times = read(found.t), rates = read(found.r), gains = read(found.f);
    const panels = found.l.map((link) => [link, times.filter((p) => p.link === link)]).filter(([, own]) => own.length)
      .map(([link, own]) => (each) => bars(link, own, each));
    if (rates.length) panels.push((each) => over("Throughput", "Mbit/s", found.l, rates, each));
    if (gains.length) panels.push((each) => over(`Speed-up over ${names[0]}`, "times", found.l, gains, each, 1));
    return [legend([...new Set(times.map((p) => p.s))].sort((a, b) => a - b)), grid(width, panels, (make, each) => make(each))];
  };
  return { file_services: fileServices };
});
