/* Twelve labelled points at five levels: error and complexity of the label code. */
{
  const LEVELS = [1, 2, 3, 4, 5], POINTS = 12, { xlogx } = explain;

  function choose(n, k) {
    let ways = 1;
    for (let i = 1; i <= k; i++) ways *= (n - k + i) / i;
    return ways;
  }

  /* Columns x, ..., x^r at some levels, made orthonormal: logits are what they span. */
  function basis(levels, r) {
    const columns = [];
    for (let power = 1; power <= r; power++) {
      const column = levels.map((x) => (x / 5) ** power);
      for (let twice = 0; twice < 2; twice++)
        for (const known of columns) {
          const share = known.reduce((sum, v, i) => sum + v * column[i], 0);
          known.forEach((v, i) => (column[i] -= share * v));
        }
      const size = Math.hypot(...column);
      columns.push(column.map((v) => v / size));
    }
    return columns;
  }

  /* Whether some polynomial x Q of r coefficients points nowhere against the labels, so
     that no parameters attain the largest likelihood. It must vanish at the levels that
     have both labels, and change its sign between neighbours of different labels; every
     zero costs one degree of Q, of which there are r - 1. */
  function separable(n, k, r) {
    let zeros = 0, since = 0, sign = 0;
    n.forEach((all, l) => {
      if (k[l] > 0 && k[l] < all) {
        zeros += 1;
        since += 1;
      } else {
        const next = k[l] ? 1 : -1;
        if (sign && (next !== sign) !== (since % 2 === 1)) zeros += 1;
        sign = next;
        since = 0;
      }
    });
    return zeros <= r - 1;
  }

  /* Least code length of the labels without the price of the parameters, and the shares
     that reach it. A saturated or separable model reaches the shares themselves: any r
     logits are free, and those at the other levels go to infinity. */
  function fit(n, k, columns) {
    if (columns.length >= n.length || separable(n, k, columns.length))
      return {
        error: n.reduce((sum, all, l) => sum - xlogx(k[l]) - xlogx(all - k[l]) + xlogx(all), 0),
        shares: k.map((count, l) => count / n[l]),
        limit: k.some((count, l) => count === 0 || count === n[l]),
      };
    const logits = (theta) => n.map((_, l) => theta.reduce((sum, t, j) => sum + t * columns[j][l], 0));
    const least = explain.newton(columns.map(() => 0), (theta) => {
      const eta = logits(theta), p = eta.map((t) => 1 / (1 + Math.exp(-t)));
      return {
        value: eta.reduce((sum, t, l) => sum - k[l] * t + n[l] * (Math.max(t, 0) + Math.log1p(Math.exp(-Math.abs(t)))), 0),
        slope: columns.map((c) => c.reduce((sum, v, l) => sum + v * (n[l] * p[l] - k[l]), 0)),
        curvature: columns.map((c) => columns.map((d) => c.reduce((sum, v, l) => sum + v * d[l] * n[l] * p[l] * (1 - p[l]), 0))),
      };
    });
    return { error: least.value, shares: logits(least.x).map((t) => 1 / (1 + Math.exp(-t))), limit: false };
  }

  /* Logarithm of the sum over all label counts of their number times the largest
     likelihood; exchanging the labels changes none of the terms. */
  const known = new Map();
  function complexity(n, levels, m) {
    const key = `${n} ${levels} ${m}`;
    if (!known.has(key)) {
      const columns = basis(levels, m), seen = new Map();
      let total = 0;
      const visit = (l, k, ways) => {
        if (l < n.length) {
          for (let count = 0; count <= n[l]; count++) visit(l + 1, [...k, count], ways * choose(n[l], count));
          return;
        }
        const other = String(k.map((count, i) => n[i] - count));
        const likelihood = seen.get(other) ?? Math.exp(-fit(n, k, columns).error);
        seen.set(String(k), likelihood);
        total += ways * likelihood;
      };
      visit(0, [], 1);
      known.set(key, Math.log(total));
    }
    return known.get(key);
  }

  explain.figure("dn-levels", () => {
    const keys = Array.from({ length: POINTS }, (_, i) => `p${i + 1}`), half = POINTS / 2;
    const labelled = (i) => (i < half ? 1 : 0);
    const fields = {}, handles = {};
    keys.forEach((key, i) => {
      fields[key] = { label: key, min: 1, max: 5, step: 1, hidden: true, text: (level) => `level ${level}` };
      handles[key] = { label: `point ${(i % half) + 1} of label ${labelled(i)}`, x: key, kind: labelled(i) ? "two" : "one" };
    });
    const state = (ones, zeros) => Object.fromEntries(keys.map((key, i) => [key, [...ones, ...zeros][i]]));
    return {
      about: "Drag the points, six of each label, to other levels, or focus one and press an arrow key. Each bar is the code length of the labels for one number " +
        "of moments m, the sum of the error of the fit and the complexity of the model. The lines are the fitted shares of label 1, thick for the shortest code.",
      question: "Which move of a single point makes the code choose m = 3?",
      picture: "Points of two labels at five levels, and the fitted shares of label 1",
      fields,
      presets: {
        "Separable": state([4, 4, 4, 5, 5, 5], [1, 1, 1, 2, 2, 3]),
        "Ones in the middle": state([3, 3, 3, 3, 3, 4], [1, 1, 2, 4, 5, 5]),
        "Weakly related": state([2, 3, 4, 4, 5, 5], [1, 1, 2, 3, 3, 4]),
        "Unrelated": state([1, 2, 3, 3, 4, 5], [1, 2, 3, 4, 4, 5]),
      },
      handles,
      compute(points) {
        const ones = Array(5).fill(0), all = Array(5).fill(0);
        keys.forEach((key, i) => {
          all[points[key] - 1] += 1;
          ones[points[key] - 1] += labelled(i);
        });
        const levels = LEVELS.filter((x) => all[x - 1]);
        const n = levels.map((x) => all[x - 1]), k = levels.map((x) => ones[x - 1]);
        const plain = fit([POINTS], [half], basis([1], 1));
        const models = [{ error: plain.error, complexity: complexity([POINTS], [1], 1), limit: false }];
        for (const m of LEVELS) {
          const r = Math.min(m, levels.length);
          models.push({ ...fit(n, k, basis(levels, r)), complexity: complexity(n, levels, r) });
        }
        models.forEach((model) => (model.total = model.error + model.complexity));
        const best = models.reduce((b, { total }, m) => (total < models[b].total - 1e-9 ? m : b), 0);
        return { levels, n, k, models, best };
      },
      height: () => 424,
      draw(pen, { levels, n, k, models, best }, points) {
        const x = [0.4, 5.6];
        const share = pen.panel({ top: 20, height: 120, x, y: [-0.06, 1.06] });
        share.line([[x[0], 0.5], [x[1], 0.5]], "faint");
        models.forEach((model, m) => {
          if (!m) return;
          share.line(levels.map((level, l) => [level, model.shares[l]]), m === best ? "ink" : "quiet dashed");
        });
        levels.forEach((level, l) => share.dot(level, k[l] / n[l], "ink", 3.5));
        share.axis({ beside: "share of label 1: dots, and fitted", across: false, rows: 2 });
        const middle = 272;
        for (const level of LEVELS) {
          const at = share.x(level);
          pen.add("path", { d: `M${at} ${middle - 118}V${middle + 122}`, class: "line faint" });
          pen.text(at, middle + 142, `level ${level}`, "tick", "middle");
        }
        pen.add("path", { d: `M${share.left} ${middle}H${share.right}`, class: "axis" });
        pen.text(share.left - 26, middle - 100, "label 1", "two");
        pen.text(share.left - 26, middle + 110, "label 0", "one");
        const stacked = {};
        return Object.fromEntries(keys.map((key, i) => {
          const pile = `${points[key]} ${labelled(i)}`;
          const height = (stacked[pile] = (stacked[pile] ?? 0) + 1);
          const up = labelled(i) ? -1 : 1;
          return [key, { x: share.x(points[key]), y: middle + up * (19 * height - 5), from: (px) => ({ [key]: share.ux(px) }) }];
        }));
      },
      heads: ["error", "complexity", "total"],
      decimals: 2,
      scale: { max: 12, label: "Error and complexity in nats, end to end on a scale from 0 to 12. An asterisk marks a largest likelihood that is approached but not attained." },
      rows: ({ models, best }) =>
        models.map(({ error, complexity: price, total, limit }, m) => ({
          name: `total${m}`, label: (m ? `m = ${m}` : "no levels") + (limit ? " *" : ""), value: total,
          parts: [[error, "error"], [price, "quiet"]], more: [[`error${m}`, error], [`complexity${m}`, price]],
          kind: m === best ? "chosen" : "",
        })),
      says: ({ models, best }) => {
        const length = `{total${best}} nats`;
        if (!best) return `The shortest code ignores the levels, ${length}. Every model of the levels needs more.`;
        const reached = models[best].limit ? " The labels are separable except at levels with both, so that its parameters are infinite, but its error is finite." : "";
        return `m = ${best} has the shortest code, ${length}. Without the levels it takes {total0} nats.${reached}`;
      },
    };
  });
}
