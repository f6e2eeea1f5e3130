/* How many genes: accuracy, and margins in training and held out. */
explain.figure("gn-sizes", (given) => {
  const { sizes } = given, last = sizes.length - 1;
  const log = Math.log10;
  return {
    about: "Drag the dot to choose how many genes S the classifier keeps. Above, its accuracy on held-out patients. " +
      "Below, each of sixty simulated patients is a dot at its mean margin, once in training and once held out.",
    question: "Which margins grow with S, and does the accuracy grow with them?",
    picture: "Accuracy by the number of genes, and margins of patients",
    fields: { S: { label: "genes S", min: 0, max: last, step: 1, text: (place) => String(sizes[place]) } },
    presets: {
      "One gene": { S: 0 },
      "About a hundred": { S: sizes.findIndex((S) => S > 100) },
      "Nearly all": { S: last },
    },
    handles: { S: { label: "genes S", x: "S", kind: "one" } },
    compute({ S }) {
      const at = (name) => given[name][S];
      return {
        place: S, dots: given.dots[S],
        numbers: Object.fromEntries(["accuracy", "sd", "colon", "training", "heldout"].map((name) => [name, at(name)])),
      };
    },
    height: () => 346,
    draw(pen, { place, dots, numbers }) {
      const points = (name, side = 0) => sizes.map((S, i) => [log(S), given[name][i] + side * given.sd[i]]);
      const all = [...points("accuracy", 1), ...points("accuracy", -1), ...points("colon")].map(([, y]) => y);
      const range = [Math.floor(Math.min(...all) / 10) * 10, 100];
      const curve = pen.panel({ top: 20, height: 120, x: [0, log(sizes[last]) + 0.02], y: range });
      curve.area([...points("accuracy", 1), ...points("accuracy", -1).reverse()], "one");
      curve.line(points("accuracy"), "one");
      curve.line(points("colon"), "two");
      curve.line([[log(sizes[place]), range[0]], [log(sizes[place]), 100]], "quiet dashed");
      curve.axis({ beside: "accuracy on held-out patients, %", across: false, rows: 4 });
      pen.add("path", { d: `M${curve.left} ${curve.bottom}H${curve.right}`, class: "axis" });
      for (const S of [1, 10, 100, 1000]) {
        if (S > sizes[last] * 1.1) continue;
        pen.text(Math.min(curve.x(log(S)), curve.right - 8), curve.bottom + 16, String(S), "tick", "middle");
      }
      pen.text(curve.right, curve.bottom + 32, "genes S", "name", "end");
      curve.text(log(1.06), given.accuracy[0], "simulated", "one", "start", 0, -24);
      const above = given.colon[last] > given.accuracy[last];
      curve.text(log(sizes[last]), given.colon[last], "colon data", "two", "end", 0, above ? -10 : 18);

      const far = Math.max(...dots.flat().map(Math.abs), 1e-9) * 1.06;
      ["training", "held out"].forEach((name, row) => {
        const strip = pen.panel({ left: 12, top: 210 + 50 * row, height: 42, x: [-far, far], y: [0, 1] });
        const piles = new Map(), step = 5;
        for (const margin of dots[row]) {
          const cell = Math.round(strip.x(margin) / step);
          const height = (piles.get(cell) ?? 0) + 1;
          piles.set(cell, height);
          pen.add("circle", { cx: cell * step, cy: strip.bottom - 3 - 3.4 * (height - 1), r: 2.4, class: `dot ${margin > 0 ? "ink" : "error"}` });
        }
        const middle = row ? numbers.heldout : numbers.training;
        pen.add("path", { d: `M${strip.x(middle)} ${strip.bottom + 1}l-5 8h10z`, class: "fill two" });
        pen.add("path", { d: `M${strip.x(0)} ${strip.top}V${strip.bottom}`, class: "line quiet" });
        pen.text(strip.left, strip.top + 12, name, "ink");
        strip.axis({ across: row === 1, up: false, columns: pen.width < 480 ? 5 : 8, below: row ? "mean margin, nats; triangle: median" : "" });
      });
      return {
        S: {
          x: curve.x(log(sizes[place])), y: curve.y(numbers.accuracy),
          from(x) {
            const wanted = curve.ux(x);
            const gaps = sizes.map((S) => Math.abs(log(S) - wanted));
            return { S: gaps.indexOf(Math.min(...gaps)) };
          },
        },
      };
    },
    scale: { max: 100, label: "Accuracies in per cent, from 0 to 100; margins in nats." },
    rows: ({ numbers }) => [
      { name: "accuracy", label: "accuracy, simulated", value: numbers.accuracy, bar: "one" },
      { name: "sd", label: "standard deviation of a run", value: numbers.sd },
      { name: "colon", label: "accuracy, colon data", value: numbers.colon, bar: "two" },
      { name: "training", label: "median margin, training", value: numbers.training, kind: "apart" },
      { name: "heldout", label: "median margin, held out", value: numbers.heldout },
    ],
    says: ({ place }) =>
      `With ${sizes[place]} of 1,000 genes, ${given.informative[place].toFixed(1)} of the ten that differ among them on average, ` +
      "held-out patients are classified with an accuracy of {accuracy}\u00a0%. Their median margin is {heldout} nats, and {training} in training.",
  };
});
