/* Two normal classes with one correlation: J of each and the joint J. */
{
  /* Shift of the means in units of the covariance [[1, r], [r, 1]]. */
  const distance = (r, a, b) => (a * a + b * b - 2 * r * a * b) / (1 - r * r);

  /* The ellipse that holds the points at so many standard deviations from a centre. */
  const ellipse = (r, [a, b], size) =>
    explain.sample([0, 2 * Math.PI], 120, (t) => t).map(([t]) => {
      const u = size * Math.sqrt((1 + r) / 2) * Math.cos(t), v = size * Math.sqrt((1 - r) / 2) * Math.sin(t);
      return [a + u - v, b + u + v];
    });

  explain.figure("ad-correlation", () => {
    const shift = { min: -3, max: 3, step: 0.1 };
    return {
      about: "Two classes have normal densities of unit variance and one correlation; move it, or drag the mean of class 2. " +
        "The solid line is the boundary of Bayes' rule, the dashed line the boundary of naive Bayes, which treats the features as independent given the class.",
      question: "For which correlations does the joint J exceed the sum of the two marginal J?",
      picture: "Ellipses of two classes in the plane of two features, and the boundaries of Bayes' rule and of naive Bayes",
      fields: {
        rho: { label: "correlation", min: -0.99, max: 0.99, step: 0.01 },
        d1: { label: "difference of means, feature 1", ...shift },
        d2: { label: "difference of means, feature 2", ...shift },
      },
      presets: {
        "Independent": { rho: 0 },
        "A copy": { rho: 0.97, d1: 1.5, d2: 1.5 },
        "Strong together": { rho: 0.97, d1: 0.6, d2: 0 },
        "Opposed": { rho: -0.8, d1: 1.5, d2: 1.5 },
      },
      handles: { mean: { label: "differences of the means, features 1 and 2", x: "d1", y: "d2", kind: "two" } },
      compute({ rho, d1, d2 }) {
        const both = distance(rho, d1, d2), sum = d1 * d1 + d2 * d2;
        /* the naive score is d . x, of variance d' S d about d . d / 2 */
        const spread = Math.sqrt(sum + 2 * rho * d1 * d2);
        return {
          rho, d1, d2, one: d1 * d1, two: d2 * d2, sum, both,
          least: explain.normalAbove(Math.sqrt(both) / 2),
          naive: sum === 0 ? 0.5 : explain.normalAbove(sum / (2 * spread)),
        };
      },
      height: (width) => Math.min(width, 420) + 8,
      draw(pen, { rho, d1, d2, sum }) {
        const side = Math.min(pen.width - 46, 370), range = [-3.9, 3.9];
        const plane = pen.panel({ left: 38, top: 6, width: side, height: side, x: range, y: range });
        const middle = [-d1 / 2, -d2 / 2], other = [d1 / 2, d2 / 2];
        for (const [centre, kind] of [[middle, "one"], [other, "two"]]) {
          plane.area(ellipse(rho, centre, 1), kind);
          plane.area(ellipse(rho, centre, 2), kind);
          plane.line(ellipse(rho, centre, 2), kind);
        }
        /* a boundary goes through the origin, at right angles to its weights */
        const across = ([a, b], kind) => {
          const far = 10 / Math.max(Math.hypot(a, b), 1e-9);
          plane.line([[-b * far, a * far], [b * far, -a * far]], kind);
        };
        if (sum > 0) {
          across([d1, d2], "quiet dashed");
          across([d1 - rho * d2, d2 - rho * d1], "ink");
        }
        plane.axis({ below: "feature 1", columns: 8, rows: 8 });
        pen.text(plane.left + 6, plane.top + 14, "feature 2", "name");
        plane.dot(...middle, "one", 5);
        const label = (centre, words, kind, sign) =>
          plane.text(centre[0], centre[1], words, kind, sign > 0 ? "start" : "end", sign * 10, sign > 0 ? 16 : -8);
        const side2 = d1 < 0 ? -1 : 1;
        label(middle, "class 1", "one", -side2);
        label(other, "class 2", "two", side2);
        return {
          mean: { x: plane.x(other[0]), y: plane.y(other[1]), from: (x, y) => ({ d1: 2 * plane.ux(x), d2: 2 * plane.uy(y) }) },
        };
      },
      scale: { max: 8, label: "Divergences in nats on one scale from 0 to 8; an arrow: beyond it. The errors are probabilities, without bars." },
      rows: ({ one, two, sum, both, least, naive }) => [
        { name: "one", label: "J of feature 1", value: one, bar: "three" },
        { name: "two", label: "J of feature 2", value: two, bar: "error" },
        { name: "sum", label: "their sum", value: sum, parts: [[one, "three"], [two, "error"]] },
        { name: "both", label: "joint J", value: both, bar: "ink" },
        { name: "least", label: "error of Bayes' rule", value: least, kind: "apart" },
        { name: "naive", label: "error of naive Bayes", value: naive },
      ],
      says: ({ sum, both, naive, least }) => {
        const than = Math.abs(both - sum) < 1e-9 * (1 + sum) ? "equals the sum of the two, {sum} nats"
          : both > sum ? "is {both} nats, more than the sum {sum}" : "is {both} nats, less than the sum {sum}";
        const cost = naive - least < 1e-9 ? "Both rules have the same boundary and err with probability {least}."
          : "Naive Bayes errs with probability {naive}, Bayes' rule with {least}.";
        return `The joint J ${than}. ${cost}`;
      },
    };
  });
}
