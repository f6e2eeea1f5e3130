/* A die with a known mean: its entropy, the largest possible one, and the divergence. */
{
  const FACES = [1, 2, 3, 4, 5, 6], { newton, xlogx } = explain;

  /* The die proportional to weight times exp(-theta face) that has the mean. With equal
     weights it is the maximum-entropy die, theta its natural parameter, and the smallest
     value of the dual is its entropy. */
  function tilted(weights, mean) {
    const at = (theta) => {
      const mass = FACES.map((face, k) => weights[k] * Math.exp(-theta * (face - mean)));
      const total = mass.reduce((sum, value) => sum + value, 0);
      return { p: mass.map((value) => value / total), total };
    };
    const lowest = newton([0], ([theta]) => {
      const { p, total } = at(theta);
      const shift = p.reduce((sum, share, k) => sum + share * (FACES[k] - mean), 0);
      const spread = p.reduce((sum, share, k) => sum + share * (FACES[k] - mean - shift) ** 2, 0);
      return { value: Math.log(total), slope: [-shift], curvature: [[spread]] };
    });
    return { theta: lowest.x[0], dual: lowest.value, p: at(lowest.x[0]).p };
  }

  /* A sum of terms that are never negative; what rounding leaves of zero is zero. */
  function divergence(p, q) {
    const sum = p.reduce((total, share, k) => {
      const ratio = Math.log(share / q[k]);
      return total + q[k] * (ratio * Math.exp(ratio) - Math.expm1(ratio));
    }, 0);
    return sum < 1e-12 ? 0 : sum;
  }

  explain.figure("me-gap", () => {
    const keys = FACES.map((face) => `w${face}`);
    const weight = { min: 0.01, max: 2, step: 0.01 };
    const die = (weights) => Object.fromEntries(keys.map((key, k) => [key, weights[k]]));
    const weightsOf = (state) => keys.map((key) => state[key]);
    const fields = { mean: { label: "mean of both dice", min: 1.1, max: 5.9, step: 0.1 } };
    const handles = { mean: { label: "mean of both dice", x: "mean", kind: "" } };
    FACES.forEach((face, k) => {
      const label = `share of face ${face} on your die`;
      const text = (_, found) => (found ? `${(100 * found.yours[k]).toFixed(1)} %` : "");
      fields[keys[k]] = { label, ...weight, hidden: true, text };
      handles[keys[k]] = { label, y: keys[k], kind: "one small" };
    });
    return {
      about: "Drag the mean, or the bars of your die (blue). Its other bars adapt, so that it keeps the mean. Beside it, in orange, stands the " +
        "maximum-entropy die with this mean. Below, your die is a dot at its divergence from the orange die and its entropy.",
      question: "Can you find a die with more entropy than the orange one and the same mean?",
      picture: "Bars of two dice with the same mean, and the entropy of your die against its divergence from the maximum-entropy die",
      fields,
      presets: {
        "Two faces": die([0.6, 0.01, 0.01, 0.01, 0.01, 1.4]),
        "Equal weights": die(FACES.map(() => 0.2)),
        "Mean of a fair die": { mean: 3.5 },
        "Mean near 6": { mean: 5.8 },
      },
      handles,
      compute(state) {
        const best = tilted(FACES.map(() => 1), state.mean);
        const yours = tilted(weightsOf(state), state.mean).p;
        return {
          best: best.p, yours, most: best.dual, lambda: best.theta, factor: Math.exp(-best.theta),
          entropy: -yours.reduce((sum, share) => sum + xlogx(share), 0), kl: divergence(yours, best.p),
        };
      },
      height: () => 424,
      draw(pen, { best, yours, most, entropy, kl }, state) {
        const high = Math.max(...best, ...yours) > 0.72 ? 1 : 0.75;
        const bars = pen.panel({ top: 20, height: 150, x: [0.5, 6.5], y: [0, high] });
        FACES.forEach((face, k) => {
          [[yours[k], "one", -0.19], [best[k], "two", 0.19]].forEach(([share, kind, side]) => {
            const left = bars.x(face + side - 0.17), top = bars.y(share);
            pen.add("rect", { x: left, y: top, width: bars.x(face + side + 0.17) - left, height: bars.bottom - top, class: `fill ${kind}` });
          });
        });
        bars.axis({ beside: "probability of each face", rows: 3 });
        pen.text(bars.left + 8, bars.top + 14, "your die", "one");
        pen.text(bars.left + 8, bars.top + 30, "maximum entropy", "two");
        const track = bars.bottom + 38;
        pen.add("path", { d: `M${bars.x(1)} ${track}H${bars.x(6)}`, class: "line faint" });
        pen.text(bars.x(1) - 6, track + 4, "mean", "name", "end");

        const gap = pen.panel({ top: 256, height: 126, x: [0, 1.8], y: [0, 1.8] });
        gap.line([[0, most], [most, 0]], "quiet");
        gap.line([[0, entropy], [kl, entropy], [kl, 0]], "faint");
        gap.dot(0, most, "two", 5);
        gap.dot(kl, entropy, "one", 5);
        gap.axis({ beside: "entropy of your die, nats", below: "divergence from the maximum-entropy die, nats", rows: 3 });

        const places = { mean: { x: bars.x(state.mean), y: track, from: (x) => ({ mean: bars.ux(x) }) } };
        FACES.forEach((face, k) => {
          /* the weight that gives this face the share, between its limits, by bisection */
          const from = (_, y) => {
            const share = bars.uy(y), weights = weightsOf(state);
            let [low, above] = [weight.min, weight.max];
            for (let step = 0; step < 20; step++) {
              weights[k] = (low + above) / 2;
              if (tilted(weights, state.mean).p[k] < share) low = weights[k];
              else above = weights[k];
            }
            return { [keys[k]]: low };
          };
          places[keys[k]] = { x: bars.x(face - 0.19), y: bars.y(yours[k]), from };
        });
        return places;
      },
      scale: { max: 2, label: "Entropies and divergence in nats, on one scale from 0 to 2." },
      rows: ({ most, entropy, kl, lambda, factor }) => [
        { name: "most", label: "largest entropy", value: most, bar: "two" },
        { name: "entropy", label: "entropy of your die", value: entropy, bar: "one" },
        { name: "kl", label: "divergence of your die", value: kl, bar: "error" },
        { name: "sum", label: "their sum", value: entropy + kl, parts: [[entropy, "one"], [kl, "error"]] },
        { name: "lambda", label: "natural parameter λ", value: lambda, kind: "apart" },
        { name: "factor", label: "factor from face to face", value: factor },
      ],
      says: ({ kl }) =>
        kl === 0
          ? "Your die is the maximum-entropy die: its entropy is {entropy} nats, and its divergence is zero."
          : "The maximum-entropy die has {most} nats. Your die has {entropy} nats, less by exactly its divergence, {kl} nats.",
    };
  });
}
