/* From moments to a class: one measurement of the wines at a time, and a new bottle. */
explain.figure("front-chain", (given) => {
  const ROOT = Math.sqrt(2 * Math.PI);
  const KINDS = ["one", "two", "three"];
  const RANGE = [-3.2, 4.2];
  const { names, means, sds, priors, scores, centres, units } = given;
  const logDensity = (x, m, s) => -0.5 * ((x - m) / s) ** 2 - Math.log(s * ROOT);

  /* Parameters of the three growers for the measurement of a rank. */
  const growers = (rank) => KINDS.map((kind, k) => ({ kind, m: means[k][rank], s: sds[k][rank], prior: priors[k] }));

  /* JS_GM is the sum over pairs of priors times J, and J of two normal densities is
     ((s² - t²)² / (s t)² + (m - n)² (1 / s² + 1 / t²)) / 2. */
  function divergence(classes) {
    let total = 0;
    classes.forEach((p, k) => classes.slice(0, k).forEach((q) => {
      const shift = (p.m - q.m) ** 2;
      const J = 0.5 * ((p.s ** 2 - q.s ** 2) ** 2 / (p.s * q.s) ** 2 + shift / p.s ** 2 + shift / q.s ** 2);
      total += p.prior * q.prior * J;
    }));
    return total;
  }

  /* What the divergence adds up, point by point. */
  function integrand(classes, x) {
    let total = 0;
    const logs = classes.map(({ m, s }) => logDensity(x, m, s));
    classes.forEach((p, k) => classes.slice(0, k).forEach((q, l) => {
      total += p.prior * q.prior * (Math.exp(logs[k]) - Math.exp(logs[l])) * (logs[k] - logs[l]);
    }));
    return total;
  }

  function posterior(classes, x) {
    const logs = classes.map(({ m, s, prior }) => Math.log(prior) + logDensity(x, m, s));
    const high = Math.max(...logs);
    const sum = logs.reduce((total, value) => total + Math.exp(value - high), 0);
    return logs.map((value) => Math.exp(value - high) / sum);
  }

  return {
    about: "Choose one of thirteen measurements, and drag the new bottle. Its posterior follows from two moments of each grower.",
    question: "Why is the measurement at the top of the ranking worth more than the one at the bottom?",
    picture: "Moments and densities of three growers, their divergence, the ranking of the measurements, and the class of a new bottle",
    fields: {
      rank: { label: "measurement", min: 0, max: names.length - 1, step: 1, text: (rank) => names[rank] },
      x: {
        label: "the new bottle", min: -3, max: 4, step: 0.05,
        text: (x, found) => (centres[found?.rank ?? 0] + x * units[found?.rank ?? 0]).toPrecision(3).replace("-", "−"),
      },
    },
    presets: { "Best": { rank: 0 }, "Second": { rank: 1 }, "Last": { rank: names.length - 1 } },
    handles: { bottle: { label: "the new bottle", x: "x", kind: "ink" } },
    compute({ rank, x }) {
      const classes = growers(rank);
      return { rank, classes, value: divergence(classes), chances: posterior(classes, x), x };
    },
    height: () => 538,
    draw(pen, { rank, classes, x, chances }) {
      const grid = 240;
      const high = 1.12 * Math.max(...classes.map(({ s }) => 1 / (s * ROOT)));
      pen.text(12, 14, `1  Moments and 2  densities: ${names[rank]}`, "ink");
      const top = pen.panel({ left: 12, top: 22, height: 120, x: RANGE, y: [0, high] });
      for (const { kind, m, s } of classes)
        top.line(explain.sample(RANGE, grid, (at) => Math.exp(logDensity(at, m, s))), kind);
      /* each grower's mean, and one standard deviation to both sides */
      classes.forEach(({ kind, m, s }, k) => {
        const level = top.bottom + 12 + 9 * k;
        pen.add("path", { d: `M${top.x(m - s)} ${level}H${top.x(m + s)}`, class: `line stroke ${kind} solid` });
        pen.add("circle", { cx: top.x(m), cy: level, r: 4, class: `dot ${kind}` });
      });
      pen.text(top.right, top.bottom + 48, "bars: mean ± standard deviation of each grower", "name", "end");

      pen.text(12, 214, "3  Divergence: the shaded area", "ink");
      const curve = explain.sample(RANGE, grid, (at) => integrand(classes, at));
      const peak = 1.1 * Math.max(...curve.map(([, y]) => y));
      const middle = pen.panel({ left: 12, top: 222, height: 56, x: RANGE, y: [0, peak] });
      middle.area([[RANGE[0], 0], ...curve, [RANGE[1], 0]], "wash");
      middle.line(curve, "ink");

      pen.text(12, 304, "4  Ranking, in nats", "ink");
      const longest = scores[0];
      const left = 118, room = pen.width - left - 44;
      names.forEach((name, row) => {
        const y = 314 + 12 * row, width = (room * scores[row]) / longest;
        const chosen = row === rank;
        pen.text(left - 6, y + 8.5, name, chosen ? "ink" : "tick", "end");
        pen.add("rect", { x: left, y, width, height: 9, class: `fill ${chosen ? "ink" : "quiet"}` });
        if (chosen) pen.text(left + width + 5, y + 8.5, scores[row].toFixed(2), "ink");
      });

      pen.text(12, 493, "5  Class: the grower that Bayes' rule chooses, for every value", "ink");
      const strip = 501;
      const step = (RANGE[1] - RANGE[0]) / grid;
      const winners = Array.from({ length: grid }, (_, i) => {
        const all = posterior(classes, RANGE[0] + step * (i + 0.5));
        return all.indexOf(Math.max(...all));
      });
      for (let first = 0; first < grid;) {
        const winner = winners[first];
        let next = first + 1;
        while (next < grid && winners[next] === winner) next += 1;
        const [from, to] = [top.x(RANGE[0] + step * first), top.x(RANGE[0] + step * next)];
        pen.add("rect", { x: from, y: strip, width: to - from, height: 22, class: `region ${KINDS[winner]}` });
        if (to - from > 60) pen.text((from + to) / 2, strip + 15, `grower ${winner + 1}`, "on", "middle");
        first = next;
      }
      pen.add("path", { d: `M${top.x(x)} ${top.top}V${top.bottom}`, class: "line quiet dashed" });
      pen.add("path", { d: `M${top.x(x)} ${strip + 23}l-6 9h12z`, class: "fill ink" });
      return { bottle: { x: top.x(x), y: top.bottom, from: (at) => ({ x: top.ux(at) }) } };
    },
    scale: { max: 1, label: "Posterior probabilities from this measurement alone; the divergence in nats." },
    rows: ({ value, chances }) => [
      { name: "value", label: "divergence", value },
      ...chances.map((chance, k) => ({ name: `grower${k + 1}`, label: `grower ${k + 1}`, value: chance, bar: KINDS[k] })),
    ],
    says: ({ rank, chances }) => {
      const best = chances.indexOf(Math.max(...chances)) + 1;
      return `By its ${names[rank]} alone the bottle is one of grower ${best}, with probability {grower${best}}. ` +
        "The growers differ in this measurement by a divergence of {value} nats.";
    },
  };
});
