/* Two normal classes: J, JS and JS_GM, the Bayes error and its bounds. */
{
  const rule = explain.gaussLegendre(16);
  const ROOT = Math.sqrt(2 * Math.PI);

  /* JS as a sum of terms that are never negative, as memdlib has it: with r the log of
     p_k over the mixture q, p_k r - p_k + q = q (r e^r - e^r + 1). */
  function jensenShannon(classes, weights) {
    const edges = classes.flatMap(({ m, s }) => Array.from({ length: 25 }, (_, i) => m + s * (0.75 * i - 9)));
    edges.sort((a, b) => a - b);
    const logs = weights.map(Math.log);
    let total = 0;
    for (const [x, weight] of explain.panels(edges, rule)) {
      const p = classes.map(({ m, s }) => -0.5 * ((x - m) / s) ** 2 - Math.log(s * ROOT));
      const high = Math.max(p[0] + logs[0], p[1] + logs[1]);
      const mixture = high + Math.log(Math.exp(p[0] + logs[0] - high) + Math.exp(p[1] + logs[1] - high));
      const q = weight * Math.exp(mixture);
      p.forEach((value, k) => {
        const r = value - mixture;
        total += weights[k] * q * (r * Math.exp(r) - Math.expm1(r));
      });
    }
    return total;
  }

  /* Where the weighted densities are equal: the real roots of a x^2 + b x + c. */
  function boundaries([one, two], [w1, w2]) {
    const [u, v] = [1 / one.s ** 2, 1 / two.s ** 2];
    const a = (v - u) / 2, b = one.m * u - two.m * v;
    const c = Math.log((w1 * two.s) / (w2 * one.s)) + (two.m ** 2 * v - one.m ** 2 * u) / 2;
    if (a === 0) return b === 0 ? [] : [-c / b];
    const discriminant = b * b - 4 * a * c;
    if (discriminant <= 0) return [];
    const q = -(b + (b < 0 ? -1 : 1) * Math.sqrt(discriminant)) / 2;
    return [q / a, q === 0 ? 0 : c / q].sort((x, y) => x - y);
  }

  explain.figure("dv-two-classes", () => {
    const log = (x, { m, s }) => -0.5 * ((x - m) / s) ** 2 - Math.log(s * ROOT);
    const mean = { min: -4, max: 4, step: 0.1 }, width = { min: 0.3, max: 3, step: 0.1 };
    return {
      about: "Drag the dots to move two normal classes or to change their widths: the strip shows which class Bayes' rule " +
        "chooses, and the shaded area under both curves is its error. The bars measure how different the classes are.",
      question: "Which bars can grow while the Bayes error stays large?",
      picture: "Two weighted normal densities, the regions of Bayes' rule and the log-ratio of the densities",
      fields: {
        m1: { label: "mean of class 1", ...mean },
        s1: { label: "width of class 1", ...width },
        m2: { label: "mean of class 2", ...mean },
        s2: { label: "width of class 2", ...width },
        prior: { label: "prior of class 1", min: 0.01, max: 0.99, step: 0.01 },
      },
      presets: {
        "Equal means": { m1: 0, s1: 0.5, m2: 0, s2: 2 },
        "One rare class": { m1: 0, s1: 1, m2: 2, s2: 1, prior: 0.97 },
        "Far apart": { m1: -2.5, s1: 0.8, m2: 2.5, s2: 0.8 },
        "Nearly equal": { m1: 0, s1: 1, m2: 0.4, s2: 1 },
        "Large J, large error": { m1: 0, s1: 0.3, m2: 0, s2: 3, prior: 0.1 },
      },
      handles: {
        mean1: { label: "mean of class 1", x: "m1", kind: "one" },
        width1: { label: "width of class 1", x: "s1", kind: "one small" },
        mean2: { label: "mean of class 2", x: "m2", kind: "two" },
        width2: { label: "width of class 2", x: "s2", kind: "two small" },
      },
      compute({ m1, s1, m2, s2, prior }) {
        const classes = [{ m: m1, s: s1 }, { m: m2, s: s2 }], weights = [prior, 1 - prior];
        const shift = (m1 - m2) ** 2;
        const J = 0.5 * ((s1 ** 2 - s2 ** 2) ** 2 / (s1 * s2) ** 2 + shift / s1 ** 2 + shift / s2 ** 2);
        const JS_GM = weights[0] * weights[1] * J;
        const JS = J === 0 ? 0 : jensenShannon(classes, weights);
        const H = explain.coinEntropy(prior);
        const cuts = boundaries(classes, weights), ends = [-Infinity, ...cuts, Infinity];
        const regions = ends.slice(1).map((high, i) => {
          const low = ends[i];
          const at = low === -Infinity ? (high === Infinity ? 0 : high - 1) : high === Infinity ? low + 1 : (low + high) / 2;
          const first = log(at, classes[0]) + Math.log(weights[0]) >= log(at, classes[1]) + Math.log(weights[1]);
          return { low, high, winner: first ? 0 : 1 };
        });
        const error = regions.reduce((sum, { low, high, winner }) => {
          const { m, s } = classes[1 - winner];
          return sum + weights[1 - winner] * explain.normalBetween((low - m) / s, (high - m) / s);
        }, 0);
        const left = Math.max(H - JS, 0);
        return {
          classes, weights, regions, J, JS, JS_GM, H, error, upper: left / (2 * Math.LN2),
          lower: explain.coinError(left), floor: explain.coinError(H - JS_GM),
        };
      },
      height: () => 372,
      draw(pen, { classes, weights, regions }) {
        const range = [-8, 8];
        const high = 1.16 * Math.max(...classes.map(({ s }, k) => weights[k] / (s * ROOT)));
        const top = pen.panel({ left: 12, top: 18, height: 176, x: range, y: [0, high] });
        const curve = (k) => (x) => weights[k] * Math.exp(log(x, classes[k]));
        const grid = 400;
        const low = explain.sample(range, grid, (x) => Math.min(curve(0)(x), curve(1)(x)));
        top.area([[range[0], 0], ...low, [range[1], 0]], "error");
        ["one", "two"].forEach((kind, k) => top.line(explain.sample(range, grid, curve(k)), kind));
        top.axis({ beside: "density times prior", across: false, up: false });
        for (const { low: a, high: b, winner } of regions) {
          const [x, y] = [Math.max(a, range[0]), Math.min(b, range[1])];
          if (y <= x) continue;
          const kind = winner ? "two" : "one";
          const wide = top.x(y) - top.x(x);
          pen.add("rect", { x: top.x(x), y: top.bottom, width: wide, height: 15, class: `region ${kind}` });
          const name = wide > 58 ? `class ${winner + 1}` : wide > 16 ? String(winner + 1) : "";
          pen.text((top.x(x) + top.x(y)) / 2, top.bottom + 12, name, "on", "middle");
        }
        const ratio = pen.panel({ left: 12, top: 236, height: 98, x: range, y: [-8, 8] });
        const threshold = Math.log(weights[1] / weights[0]);
        ratio.line([[range[0], 0], [range[1], 0]], "faint");
        ratio.line([[range[0], threshold], [range[1], threshold]], "quiet dashed");
        ratio.line(explain.sample(range, grid, (x) => log(x, classes[0]) - log(x, classes[1])), "ink");
        ratio.axis({ below: "x", beside: "log-ratio of the densities; dashed, where the choice changes", up: false, columns: 8 });
        return Object.fromEntries(classes.flatMap(({ m, s }, k) => [
          [`mean${k + 1}`, { x: top.x(m), y: top.y(curve(k)(m)), from: (x) => ({ [`m${k + 1}`]: top.ux(x) }) }],
          [`width${k + 1}`, {
            x: top.x(m + s), y: top.y(curve(k)(m + s)), from: (x) => ({ [`s${k + 1}`]: Math.abs(top.ux(x) - m) }),
          }],
        ]));
      },
      scale: { max: 2, label: "One scale from 0 to 2: divergences in nats, errors as probabilities. An arrow: beyond the scale." },
      rows: (found) => [
        { name: "J", label: "J", value: found.J, bar: "ink" },
        { name: "JS_GM", label: "JS_GM", value: found.JS_GM, bar: "ink" },
        { name: "JS", label: "JS", value: found.JS, bar: "ink" },
        { name: "H", label: "ceiling of JS: H(π)", value: found.H, bar: "quiet" },
        { name: "upper", label: "upper bound of the error, by JS", value: found.upper, bar: "quiet", kind: "apart" },
        { name: "error", label: "Bayes error", value: found.error, bar: "error" },
        { name: "lower", label: "lower bound, by JS", value: found.lower, bar: "quiet" },
        { name: "floor", label: "lower bound, by JS_GM", value: found.floor, bar: "quiet" },
      ],
      says: ({ J, JS_GM, H, floor }) => {
        const first = "Bayes' rule errs with probability {error}; J is {J} nats, JS_GM {JS_GM} and JS {JS}. ";
        if (J === 0) return `${first}The classes are the same, and only their prior counts.`;
        return first + (floor > 0
          ? "JS_GM is below H(π), so that it still bounds the error from below."
          : "JS_GM is above H(π): it no longer says that there must be errors.");
      },
    };
  });
}
