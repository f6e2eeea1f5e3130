/* Ten points of two classes: their Bayes margins, and (n/2) J of the two densities. */
{
  const HALF = 5, MARGINS = [-10, 20], ROOT = Math.sqrt(2 * Math.PI);
  const log = (x, { m, v }) => -0.5 * (x - m) ** 2 / v - Math.log(Math.sqrt(v) * ROOT);

  function moments(values) {
    const m = values.reduce((sum, x) => sum + x, 0) / HALF;
    /* equal points have no variance, whatever rounding makes of their mean */
    const same = values.every((x) => x === values[0]);
    return { m, v: same ? 0 : values.reduce((sum, x) => sum + (x - m) ** 2, 0) / HALF };
  }

  /* Means of x and x^2, and the natural parameters that belong to them. */
  const means = ({ m, v }) => [m, m * m + v];
  const natural = ({ m, v }) => [-m / v, 1 / (2 * v)];

  explain.figure("margin-points", () => {
    const keys = Array.from({ length: 2 * HALF }, (_, i) => `x${i + 1}`);
    const sign = (i) => (i < HALF ? 1 : -1);
    const fields = {
      shift: { label: "mean of class +, moved by", min: -2, max: 2, step: 0.1 },
      shrink: { label: "shrinkage of the variances", min: 0, max: 1, step: 0.05 },
    };
    const handles = {};
    keys.forEach((key, i) => {
      const label = `point ${(i % HALF) + 1} of class ${i < HALF ? "+" : "−"}`;
      fields[key] = { label, min: -4.5, max: 4.5, step: 0.1, hidden: true };
      handles[key] = { label, x: key, kind: i < HALF ? "one" : "two" };
    });
    const plus = (values) => Object.fromEntries(values.map((x, i) => [keys[i], x]));
    return {
      about: "Drag the points of two classes. The curves above are normal densities, fitted to the moments of the classes; each bar below is the margin of a point, " +
        "negative if Bayes' rule puts the point into the wrong class. The two sliders give the densities other moments than those of the points.",
      question: "What changes single margins, but not their sum? What makes the sum differ from (n/2) J?",
      picture: "Points of two classes with their fitted densities, and the margin of each point as a bar",
      fields,
      presets: {
        "Same moments": plus([0.2, 0, 0.4, 0.6, 3.8]),
        "An outlier": plus([-3.5, 0, 1, 2, 3]),
        "Mean moved": { shift: 1 },
        "Half shrunk": { shrink: 0.5 },
        "Equal variances": { shrink: 1 },
      },
      handles,
      compute(state) {
        const x = keys.map((key) => state[key]);
        const ofPoints = [moments(x.slice(0, HALF)), moments(x.slice(HALF))];
        const pooled = (ofPoints[0].v + ofPoints[1].v) / 2;
        const classes = ofPoints.map(({ m, v }, k) => ({
          m: k ? m : m + state.shift, v: (1 - state.shrink) * v + state.shrink * pooled,
        }));
        if (classes.some(({ v }) => v === 0)) return { x, classes, none: true };
        const ratio = (at) => log(at, classes[0]) - log(at, classes[1]);
        const margins = x.map((at, i) => sign(i) * ratio(at));
        const slope = natural(classes[1]).map((value, j) => value - natural(classes[0])[j]);
        const [one, two] = classes.map(means);
        const half = HALF * slope.reduce((total, s, j) => total + s * (one[j] - two[j]), 0);
        const sum = margins.reduce((total, m) => total + m, 0);
        const difference = sum - half;
        return {
          x, classes, ratio, margins, sum, half,
          /* rounding is no difference */
          difference: Math.abs(difference) < 1e-9 * (1 + Math.abs(half)) ? 0 : difference,
          smallest: Math.min(...margins), wrong: margins.filter((m) => m < 0).length,
        };
      },
      height: () => 428,
      draw(pen, { x, classes, ratio, margins, none }) {
        const range = [-5, 5], grid = 300;
        const peak = none ? 1 : Math.max(...classes.map(({ v }) => 1 / (Math.sqrt(v) * ROOT)));
        const top = pen.panel({ top: 18, height: 116, x: range, y: [0, 1.12 * peak] });
        if (none) pen.text(top.left + 8, top.top + 20, "no normal density of variance zero", "ink");
        else ["one", "two"].forEach((kind, k) =>
          top.line(explain.sample(range, grid, (at) => Math.exp(log(at, classes[k]))), kind));
        top.axis({ beside: "fitted density", across: false, rows: 3 });
        pen.add("path", { d: `M${top.left} ${top.bottom}H${top.right}`, class: "axis" });
        const rows = [top.bottom + 24, top.bottom + 56];
        ["+", "−"].forEach((name, k) => {
          pen.add("path", { d: `M${top.left} ${rows[k]}H${top.right}`, class: "line faint" });
          pen.text(top.left - 8, rows[k] + 5, name, k ? "two" : "one", "end");
        });
        const low = pen.panel({ top: 234, height: 156, x: range, y: MARGINS });
        if (!none) {
          low.line(explain.sample(range, grid, ratio), "one");
          low.line(explain.sample(range, grid, (at) => -ratio(at)), "two");
          margins.forEach((margin, i) => {
            const end = low.y(Math.min(MARGINS[1], Math.max(MARGINS[0], margin)));
            pen.add("rect", {
              x: low.x(x[i]) - 3, width: 6, y: Math.min(end, low.y(0)), height: Math.abs(end - low.y(0)),
              class: `fill ${i < HALF ? "one" : "two"}`,
            });
          });
        }
        low.line([[range[0], 0], [range[1], 0]], "quiet");
        low.axis({ below: "x", beside: "margin, nats; curves: what a point elsewhere would have", rows: 4, columns: 8 });
        return Object.fromEntries(keys.map((key, i) => [
          key, { x: top.x(x[i]), y: rows[i < HALF ? 0 : 1], from: (at) => ({ [key]: top.ux(at) }) },
        ]));
      },
      scale: { max: 60, label: "Nats, on one scale from 0 to 60. An arrow: beyond the scale." },
      rows: (found) => found.none
        ? [{ name: "half", label: "(n/2) J", value: Infinity }]
        : [
          { name: "sum", label: "sum of the margins", value: found.sum, parts: [[Math.max(0, found.sum), "ink"]] },
          { name: "half", label: "(n/2) J", value: found.half, bar: "quiet" },
          { name: "difference", label: "difference", value: found.difference },
          { name: "smallest", label: "smallest margin", value: found.smallest, kind: "apart" },
          { name: "wrong", label: "points misclassified", value: found.wrong },
        ],
      says: ({ none, difference }) =>
        none ? "All points of one class coincide: there is no normal density of variance zero, and J exceeds every bound, {half}."
          : difference === 0 ? "The margins add up to {sum} nats, exactly (n/2) J."
            : "The margins add up to {sum} nats, but (n/2) J is {half}: the difference of {difference} comes from the moments.",
    };
  });
}
