/* One to four moments on [0, 1]: the maximum-entropy density, and where there is none.

   A moment is chosen by its place between the smallest and the largest value that the
   moments before it allow (its canonical moment). At the ends there is no density, only
   a few atoms. */
{
  const rule = explain.gaussLegendre(16);
  const NODES = explain.panels(Array.from({ length: 129 }, (_, i) => i / 128), rule);
  const GRID = 300;

  /* Legendre polynomials on [0, 1], by their coefficients at 1, x, x^2, ... */
  const LEGENDRE = [[1], [-1, 2], [1, -6, 6], [-1, 12, -30, 20], [1, -20, 90, -140, 70]];
  const at = (coefficients, x) => coefficients.reduceRight((sum, c) => sum * x + c, 0);
  const BASIS = NODES.map(([x]) => LEGENDRE.map((p) => at(p, x)));

  /* Moments of canonical moments: Skibinsky's recursion on sums of products,
     z_k = c_k (1 - c_(k-1)), S_(i, j) = S_(i, j-1) + z_(j-i+1) S_(i-1, j), mu_k = S_(k, k). */
  function moments(c) {
    const z = c.map((value, i) => value * (i ? 1 - c[i - 1] : 1));
    let before = Array(c.length + 1).fill(1);
    return c.map((_, row) => {
      const i = row + 1, now = [];
      for (let j = 0; j <= c.length; j++)
        now[j] = j < i ? 0 : (j > i ? now[j - 1] : 0) + z[j - i] * before[j];
      before = now;
      return now[i];
    });
  }

  /* The density exp(-lambda_0 - lambda x - ...) with these moments: Newton's method on
     the dual, psi(theta) + theta . mu, in Legendre polynomials, which keep it well
     conditioned; the natural parameters follow from their coefficients. */
  function largestEntropy(mu, from) {
    const m = mu.length, raw = [1, ...mu];
    const target = LEGENDRE.slice(1, m + 1).map((p) => p.reduce((sum, c, j) => sum + c * raw[j], 0));
    const least = explain.newton(from ?? Array(m).fill(0), (theta) => {
      const exponents = BASIS.map((b) => -theta.reduce((sum, t, j) => sum + t * b[j + 1], 0));
      const high = exponents.reduce((a, b) => Math.max(a, b), -Infinity);
      const mass = exponents.map((e, i) => NODES[i][1] * Math.exp(e - high));
      const total = mass.reduce((a, b) => a + b, 0);
      const mean = Array(m).fill(0), curvature = target.map(() => Array(m).fill(0));
      mass.forEach((w, i) => target.forEach((_, j) => (mean[j] += (w / total) * BASIS[i][j + 1])));
      mass.forEach((w, i) => {
        for (let j = 0; j < m; j++)
          for (let k = 0; k <= j; k++)
            curvature[j][k] += (w / total) * (BASIS[i][j + 1] - mean[j]) * (BASIS[i][k + 1] - mean[k]);
      });
      for (let j = 0; j < m; j++) for (let k = 0; k < j; k++) curvature[k][j] = curvature[j][k];
      const psi = high + Math.log(total);
      return { value: psi + theta.reduce((sum, t, j) => sum + t * target[j], 0), slope: target.map((t, j) => t - mean[j]), curvature, psi };
    });
    const lambda = Array(m + 1).fill(0);
    least.x.forEach((t, j) => LEGENDRE[j + 1].forEach((c, power) => (lambda[power] += t * c)));
    lambda[0] += least.psi;
    return { theta: least.x, lambda, entropy: least.value };
  }

  /* Roots of the quadratic with the leading coefficient one. */
  function roots(sum, product) {
    const half = Math.sqrt(Math.max(sum * sum / 4 - product, 0));
    return [sum / 2 - half, sum / 2 + half];
  }

  /* The remaining atoms if canonical moment k is the first at 0 or at 1. They are
     the ends that count, and the roots of a polynomial orthogonal to lower powers under a
     weight 1, x, 1 - x or x (1 - x). The weights of the atoms match the moments. */
  function atoms(k, end, mu) {
    const raw = [1, ...mu];
    const ends = [[[0], [1]], [[], [0, 1]], [[0], [1]], [[], [0, 1]]][k - 1][end];
    const free = [0, 1, 1, 2][k - 1] - (k % 2 === 0 && end ? 1 : 0);
    const weight = ends.reduce((p, e) => {  // x for an atom at 0, 1 - x for one at 1
      const factor = e ? [1, -1] : [0, 1], made = Array(p.length + 1).fill(0);
      p.forEach((a, i) => factor.forEach((b, j) => (made[i + j] += a * b)));
      return made;
    }, [1]);
    const weighted = (power) => weight.reduce((sum, c, j) => sum + c * raw[power + j], 0);
    let inner = [];
    if (free === 1) inner = [weighted(1) / weighted(0)];
    if (free === 2) {
      const [w0, w1, w2, w3] = [0, 1, 2, 3].map(weighted);
      const d = w0 * w2 - w1 * w1;
      inner = roots((w0 * w3 - w1 * w2) / d, (w1 * w3 - w2 * w2) / d);
    }
    const places = [...ends, ...inner].sort((a, b) => a - b);
    return places.map((x, i) => {
      let polynomial = [1];
      for (const [j, other] of places.entries()) {
        if (i === j) continue;
        const factor = [-other / (x - other), 1 / (x - other)], made = Array(polynomial.length + 1).fill(0);
        polynomial.forEach((a, p) => factor.forEach((b, q) => (made[p + q] += a * b)));
        polynomial = made;
      }
      return { x, weight: polynomial.reduce((sum, c, j) => sum + c * raw[j], 0) };
    });
  }

  explain.figure("me-region", () => {
    const place = { min: 0, max: 1, step: 0.05 };
    const fields = { m: { label: "number of moments", min: 1, max: 4, step: 1 } };
    for (const k of [1, 2, 3, 4])
      fields[`c${k}`] = {
        label: `moment ${k}`, ...place, off: ({ m }) => m < k,
        text: (value, found) => (found && found.m >= k ? `${Math.round(100 * value)} %, ${explain.text(found.mu[k - 1])}` : `${Math.round(100 * value)} %`),
      };
    return {
      about: "Drag a dot to fix the means of x, x², x³ and x⁴ on [0, 1]. The curve is the maximum-entropy density with these means. " +
        "The shaded regions contain all moments that a distribution can have. A slider sets a moment between its smallest value, 0 %, and its largest, 100 %.",
      question: "What happens to the density, its entropy and its parameters when a dot approaches the edge?",
      picture: "The maximum-entropy density, and the regions of possible moments with the chosen ones",
      fields,
      presets: {
        "Nearly uniform": { m: 2, c1: 0.5, c2: 0.35 },
        "Near the edge": { m: 2, c1: 0.35, c2: 0.05 },
        "On the edge": { m: 2, c1: 0.35, c2: 1 },
        "Two peaks": { m: 4, c1: 0.45, c2: 0.4, c3: 0.5, c4: 0.15 },
      },
      handles: {
        low: { label: "means of x and x², as places between their smallest and largest values", x: "c1", y: "c2", kind: "one" },
        high: { label: "means of x³ and x⁴, as places between their smallest and largest values", x: "c3", y: "c4", kind: "two" },
      },
      compute(state) {
        const c = [1, 2, 3, 4].slice(0, state.m).map((k) => state[`c${k}`]);
        const edge = c.findIndex((value) => value === 0 || value === 1);
        const mu = moments(c);
        const found = { m: state.m, c, mu };
        if (edge < 0) return { ...found, ...largestEntropy(mu) };
        return { ...found, atoms: atoms(edge + 1, c[edge], mu), entropy: -Infinity };
      },
      height: (width, { m }) => (width < 480 ? (m > 2 ? 548 : 392) : 420),
      draw(pen, found, { m, c1, c2, c3, c4 }) {
        const grid = explain.sample([0, 1], GRID, (x) => (found.lambda ? Math.exp(-at(found.lambda, x)) : 0));
        const top = found.lambda ? Math.max(2, 1.08 * Math.max(...grid.map(([, y]) => y))) : 1.1;
        const curve = pen.panel({ top: 20, height: 150, x: [0, 1], y: [0, top] });
        if (found.lambda) {
          curve.area([[0, 0], ...grid, [1, 0]], "wash");
          curve.line(grid, "ink");
        } else {
          for (const { x, weight } of found.atoms) {
            curve.line([[x, 0], [x, weight]], "ink");
            curve.dot(x, weight, "ink", 4.5);
          }
        }
        curve.axis({ beside: found.lambda ? "density" : "no density: probabilities of atoms", rows: 3 });
        const narrow = pen.width < 480, size = narrow ? 130 : 170, gap = narrow ? 0 : pen.width / 2;
        const one = pen.panel({ top: 222, height: size, x: [0, 1], y: [0, 1], width: (narrow ? pen.width : gap) - 52 });
        const wide = [0, 1].map((end) => explain.sample([0, 1], 80, (x) => (end ? x : x * x)));
        if (m === 1) one.line([[0, 0], [1, 0]], "one solid");
        else {
          one.area([...wide[0], ...wide[1].reverse()], "one");
          one.line(explain.sample([0, 1], 80, (x) => x * x), "one solid");
          one.line([[0, 0], [1, 1]], "one solid");
        }
        one.axis({ below: "mean of x", beside: m === 1 ? "" : "mean of x²", rows: 2, columns: 4, up: m > 1 });
        const places = {
          low: {
            x: one.x(found.mu[0]), y: one.y(m > 1 ? found.mu[1] : 0),
            from(x, y) {
              const first = Math.min(1, Math.max(0, one.ux(x)));
              const room = first - first * first;
              const part = { c1: first };
              if (m > 1 && room > 1e-9) part.c2 = (one.uy(y) - first * first) / room;
              return part;
            },
          },
        };
        const open = [c1, c2].every((value) => value > 0 && value < 1);
        if (m > 2 && open) {
          const ends = (c, last) => moments([c1, c2, ...c]).at(-1);
          const [left, right] = [ends([0]), ends([1])];
          const all = Array.from({ length: 81 }, (_, i) => i / 80);
          const edge = (end) => all.map((c) => [ends([c]), m > 3 ? ends([c, end]) : 0]);
          const [low, high] = [edge(0), edge(1)];
          const spread = 0.06 * (right - left), ys = [...low, ...high].map(([, y]) => y);
          const two = pen.panel({
            left: narrow ? 34 : gap + 40, top: narrow ? 400 : 222, height: narrow ? 110 : size,
            width: (narrow ? pen.width : gap) - 58, x: [left - spread, right + spread],
            y: m > 3 ? [Math.min(...ys) - spread, Math.max(...ys) + spread] : [0, 1],
          });
          if (m > 3) two.area([...low, ...[...high].reverse()], "two");
          two.line(low, "two solid");
          two.line(high, "two solid");
          two.axis({ below: "mean of x³", beside: m > 3 ? "mean of x⁴" : "", rows: 2, columns: 3, up: m > 3 });
          places.high = {
            x: two.x(found.mu[2]), y: two.y(m > 3 ? found.mu[3] : 0),
            from(x, y) {
              const third = Math.min(1, Math.max(0, (two.ux(x) - left) / (right - left)));
              const [a, b] = [ends([third, 0]), ends([third, 1])];
              const part = { c3: third };
              if (m > 3 && b - a > 1e-12) part.c4 = (two.uy(y) - a) / (b - a);
              return part;
            },
          };
        }
        return places;
      },
      rows: (found) => [
        ...found.mu.map((value, i) => ({ name: `mu${i + 1}`, label: `mean of x${["", "²", "³", "⁴"][i]}`, value })),
        { name: "entropy", label: "entropy, nats", value: found.entropy, kind: "apart" },
        ...(found.lambda ?? []).map((value, i) => ({ name: `lambda${i}`, label: `λ${"₀₁₂₃₄"[i]}`, value })),
        ...(found.atoms ?? []).flatMap(({ x, weight }, i) => [
          { name: `place${i}`, label: `atom ${i + 1} at`, value: x },
          { name: `weight${i}`, label: "its probability", value: weight },
        ]),
      ],
      says: ({ lambda, atoms: left }) =>
        lambda
          ? "The entropy is {entropy} nats. The largest on [0, 1], zero, belongs to the uniform density."
          : `On the edge only ${left.length === 1 ? "one atom has" : `these ${left.length} atoms have`} the moments. There is no density, and no λ.`,
    };
  });
}
