/* Figures that a reader can move: what all of them share.

   A chapter shows a figure by show(..., moves={...}); its page loads this file and
   explain/<name of the figure>.js, which hands a description to explain.figure. The
   figure then opens in the state that the chapter drew, with inputs beside it. Without
   a script, in print and in notebooks the drawn figure stays.

   Plain SVG and native inputs, no library. Vega or Bokeh would bring 0.5 to 1 MB of
   script a page, and neither gives a dragged point a name, a value and arrow keys; what
   is needed of them, axes and lines, is the middle part of this file. Classic scripts
   and not modules, since a browser loads no module from a page opened from disk.

   Numbers are computed here in double precision; tests/browser/check_explanations.py
   compares all of them with memdlib. */
const explain = (() => {
  /* --- Numerics ------------------------------------------------------------ */

  /* Nodes and weights of the Gauss-Legendre rule with n nodes on [-1, 1]: Newton's
     method on the Legendre polynomial from the usual cosines. */
  function gaussLegendre(n) {
    const nodes = [], weights = [];
    for (let i = 0; i < n; i++) {
      let x = Math.cos((Math.PI * (n - i - 0.25)) / (n + 0.5)), slope = 0;
      for (let step = 0; step < 100; step++) {
        let [before, p] = [1, x];
        for (let k = 2; k <= n; k++)
          [before, p] = [p, ((2 * k - 1) * x * p - (k - 1) * before) / k];
        slope = (n * (x * p - before)) / (x * x - 1);
        const move = p / slope;
        x -= move;
        if (Math.abs(move) < 1e-15) break;
      }
      nodes.push(x);
      weights.push(2 / ((1 - x * x) * slope * slope));
    }
    return { nodes, weights };
  }

  /* The nodes of a rule on all panels between ascending edges: pairs [x, weight]. */
  function panels(edges, rule) {
    const found = [];
    for (let i = 0; i + 1 < edges.length; i++) {
      const half = (edges[i + 1] - edges[i]) / 2, middle = (edges[i + 1] + edges[i]) / 2;
      rule.nodes.forEach((t, j) => found.push([middle + half * t, half * rule.weights[j]]));
    }
    return found;
  }

  /* Probability of a standard normal variable above z, to 13 digits: the series of
     positive terms phi(z) (z + z^3/3 + z^5/15 + ...) near the middle, the continued
     fraction phi(z) / (z + 1/(z + 2/(z + ...))) in the tail. */
  function normalAbove(z) {
    if (z < 0) return 1 - normalAbove(-z);
    const phi = Math.exp(-0.5 * z * z) / Math.sqrt(2 * Math.PI);
    if (z < 2.5) {
      let term = z, sum = z;
      for (let k = 3; term > 1e-18 * sum; k += 2) sum += term *= (z * z) / k;
      return 0.5 - phi * sum;
    }
    let fraction = z;
    for (let k = 120; k > 0; k--) fraction = z + k / fraction;
    return phi / fraction;
  }

  /* Probability between two points, either of which may be infinite, of a standard
     normal variable; from the tail that is nearer, so that no digits cancel. */
  const normalBetween = (low, high) =>
    low > 0 ? normalAbove(low) - normalAbove(high)
      : high < 0 ? normalAbove(-high) - normalAbove(-low)
        : 1 - normalAbove(-low) - normalAbove(high);

  /* Solve a positive definite system by Cholesky's method. */
  function solve(matrix, right) {
    const n = right.length, L = matrix.map((row) => [...row]), x = [...right];
    for (let i = 0; i < n; i++) {
      for (let j = 0; j <= i; j++) {
        let sum = L[i][j];
        for (let k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
        L[i][j] = i === j ? Math.sqrt(Math.max(sum, 1e-300)) : sum / L[j][j];
      }
      for (let k = 0; k < i; k++) x[i] -= L[i][k] * x[k];
      x[i] /= L[i][i];
    }
    for (let i = n - 1; i >= 0; i--) {
      for (let k = i + 1; k < n; k++) x[i] -= L[k][i] * x[k];
      x[i] /= L[i][i];
    }
    return x;
  }

  /* Minimise a convex function by Newton's method, steps halved until it falls enough.
     at(x) gives { value, slope, curvature }. Ends where no step is seen any more. */
  function newton(start, at) {
    let x = start, here = at(x);
    for (let round = 0; round < 300; round++) {
      const step = solve(here.curvature, here.slope);
      const gain = step.reduce((sum, s, i) => sum + s * here.slope[i], 0);
      if (!(gain > 1e-22 * (1 + Math.abs(here.value)))) return { x, ...here };
      let size = 1, next = null;
      for (; size > 1e-10; size /= 2) {
        const trial = x.map((value, i) => value - size * step[i]);
        next = at(trial);
        if (next.value <= here.value - 0.1 * size * gain || (size === 1 && gain < 1e-11)) {
          x = trial;
          break;
        }
      }
      if (size <= 1e-10) return { x, ...here };
      here = next;
    }
    throw new Error("Newton's method has not converged");
  }

  /* Entropy in nats of a coin, and its inverse on [0, 1/2] by bisection. */
  const xlogx = (x) => (x > 0 ? x * Math.log(x) : 0);
  const coinEntropy = (u) => -xlogx(u) - xlogx(1 - u);
  function coinError(entropy) {
    if (entropy <= 0) return 0;
    if (entropy >= Math.LN2) return 0.5;
    let [low, high] = [0, 0.5];
    for (let i = 0; i < 200; i++) {
      const middle = (low + high) / 2;
      if (coinEntropy(middle) < entropy) low = middle;
      else high = middle;
    }
    return high;
  }

  /* --- Text and elements --------------------------------------------------- */

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function drawn(tag, attributes = {}, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  /* A number with three significant digits, or so many decimals, and a true minus;
     counts are whole. */
  function text(value, decimals) {
    if (Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    if (decimals !== undefined) {
      const near = Number(value.toFixed(decimals)) + 0; // no minus before a zero
      return near.toFixed(decimals).replace("-", "−");
    }
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e-3 && size < 1e6)
      return (size >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toPrecision(3)).replace("-", "−");
    const [digits, power] = value.toExponential(2).split("e");
    const raised = [...String(Number(power))].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);
    return `${digits} · 10${raised.join("")}`.replace("-", "−");
  }

  /* Words in which JS_GM is set as a symbol with an index. */
  const set = (words) =>
    words.split("_GM").flatMap((part, i) => (i ? [element("sub", {}, "GM"), part] : [part]));

  /* --- Drawing ------------------------------------------------------------- */

  function ticks([low, high], count) {
    const rough = (high - low) / count, ten = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * ten).find((s) => s >= rough * 0.999);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++)
      found.push(Number((k * step).toPrecision(12)));
    return found;
  }

  /* What a description draws with. Lengths are pixels of the page, whatever its width,
     so that letters keep their size on a phone. */
  class Pen {
    constructor(svg, paper, name) {
      Object.assign(this, { svg, paper, name });
    }

    begin(width, height) {
      this.width = width;
      for (const [key, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height }))
        this.svg.setAttribute(key, value);
      this.paper.replaceChildren();
      this.clips = 0;
    }

    add(tag, attributes, ...children) {
      const made = drawn(tag, attributes, ...children);
      this.paper.append(made);
      return made;
    }

    text(x, y, words, kind = "", anchor = "start") {
      return this.add("text", { x, y, class: kind, "text-anchor": anchor }, words);
    }

    /* A rectangle with scales: x and y are ranges of values. */
    panel({ left = 34, right = 8, top, height, x, y, width = this.width - left - right }) {
      const id = `${this.name}-clip-${this.clips++}`;
      this.add("clipPath", { id }, drawn("rect", { x: left, y: top, width, height }));
      const at = {
        left, top, width, height, right: left + width, bottom: top + height,
        x: (value) => left + ((value - x[0]) / (x[1] - x[0])) * width,
        y: (value) => top + height - ((value - y[0]) / (y[1] - y[0])) * height,
        ux: (pixel) => x[0] + ((pixel - left) / width) * (x[1] - x[0]),
        uy: (pixel) => y[0] + ((top + height - pixel) / height) * (y[1] - y[0]),
      };
      const path = (points) =>
        points.map(([a, b], i) => `${i ? "L" : "M"}${at.x(a).toFixed(2)} ${at.y(b).toFixed(2)}`).join("");
      const clip = { "clip-path": `url(#${id})` };
      at.line = (points, kind) => this.add("path", { d: path(points), class: `line ${kind}`, ...clip });
      at.area = (points, kind) => this.add("path", { d: `${path(points)}Z`, class: `area ${kind}`, ...clip });
      at.dot = (a, b, kind, r = 4) => this.add("circle", { cx: at.x(a), cy: at.y(b), r, class: `dot ${kind}` });
      at.text = (a, b, words, kind, anchor, dx = 0, dy = 0) =>
        this.text(at.x(a) + dx, at.y(b) + dy, words, kind, anchor);
      at.axis = ({ below = "", beside = "", rows = 4, columns = 6, across = true, up = true }) => {
        if (across) {
          this.add("path", { d: `M${left} ${at.bottom}H${at.right}`, class: "axis" });
          for (const value of ticks(x, columns)) {
            this.add("path", { d: `M${at.x(value)} ${at.bottom}v4`, class: "axis" });
            this.text(at.x(value), at.bottom + 16, text0(value), "tick", "middle");
          }
        }
        if (up) {
          for (const value of ticks(y, rows)) {
            this.add("path", { d: `M${left} ${at.y(value)}h-4`, class: "axis" });
            this.text(left - 7, at.y(value) + 4, text0(value), "tick", "end");
          }
        }
        if (below) this.text((left + at.right) / 2, at.bottom + (across ? 32 : 16), below, "name", "middle");
        if (beside) this.text(left, top - 6, beside, "name");
      };
      return at;
    }
  }

  const text0 = (value) => String(value).replace("-", "−");

  /* Points of a function on a grid. */
  function sample([low, high], count, f) {
    return Array.from({ length: count + 1 }, (_, i) => {
      const x = low + ((high - low) * i) / count;
      return [x, f(x)];
    });
  }

  /* --- The figure ---------------------------------------------------------- */

  /* Make a figure of the page one that can be moved.

     about, question   two sentences; what the reader is asked
     fields            { name: { label, min, max, step, unit, hidden } }: the state; each
                       field that is not hidden gets a range
     presets           { label: part of a state }
     handles           { name: { label, x, y, kind } }: what can be dragged, with the
                       fields that it moves
     height(width, state)
                       of the picture
     compute(state)    everything that is drawn or said
     draw(pen, found, state)
                       draws; returns { handle: { x, y, from(x, y) } } in pixels, where
                       from gives the part of the state that belongs to a place
     scale             { max, label } of the bars
     decimals          of all numbers; four significant digits if it is left out
     rows(found)       [{ name, label, value, bar, parts, more, kind }]: numbers, each with a
                       bar or one of several parts, and more numbers before it
     heads             what the columns of numbers hold, if there is more than one
     says(found)       a sentence with {name} for the numbers of the rows */
  function figure(name, describe) {
    const holder = document.getElementById(name);
    const given = document.getElementById(`${name}-moves`);
    if (!holder || !given) return;
    const start = JSON.parse(given.textContent);
    const it = describe(start);
    let state = {}, found = null, timer = 0;

    function settled(part) {
      const next = { ...state };
      for (const [key, value] of Object.entries(part)) {
        const { min, max, step } = it.fields[key];
        const digits = (String(step).split(".")[1] ?? "").length;
        const near = min + Math.round((value - min) / step) * step;
        next[key] = Number(Math.min(max, Math.max(min, near)).toFixed(digits));
      }
      return next;
    }
    const first = Object.fromEntries(Object.keys(it.fields).map((key) => [key, start[key]]));
    const spoken = (key, value = state[key]) =>
      it.fields[key].text?.(value, found) ?? text0(value) + (it.fields[key].unit ?? "");

    /* A number as an element that also carries all its digits. */
    const shown = (key, value) =>
      element("data", { "data-name": key, value }, text(value, it.decimals));

    /* Elements, in the order of reading. */
    const number = holder.querySelector("figcaption .caption-number");
    const link = holder.querySelector("figcaption a.download");
    const about = element("p", { class: "explain-about", id: `${name}-about` });
    if (number) about.append(number.cloneNode(true));
    about.append(`${it.about} `, element("em", {}, it.question));
    const presets = element("div", { class: "explain-presets", role: "group", "aria-label": "States to begin with" });
    const choices = Object.entries({ ...it.presets, Reset: first }).map(([label, part]) => {
      const button = element("button", { type: "button" }, label);
      button.addEventListener("click", () => move({ ...first, ...part }));
      presets.append(button);
      return { button, target: () => settled({ ...first, ...part }) };
    });
    const svg = drawn("svg", { role: "group", "aria-label": it.picture });
    const paper = drawn("g", { "aria-hidden": "true" }), held = drawn("g");
    svg.append(paper, held);
    const picture = element("div", { class: "explain-picture" }, svg);
    const controls = element("div", { class: "explain-controls" });
    const ranges = {};
    for (const [key, { label, min, max, step, hidden }] of Object.entries(it.fields)) {
      if (hidden) continue;
      const id = `${name}-${key}`;
      const range = element("input", { type: "range", id, min, max, step, name: key, autocomplete: "off" });
      const output = element("output", { for: id });
      range.addEventListener("input", () => move({ [key]: Number(range.value) }));
      controls.append(element("div", {}, element("label", { for: id }, label), output, range));
      ranges[key] = { range, output };
    }
    const table = element("table", { class: it.heads ? "explain-bars several" : "explain-bars" });
    const says = element("p", { class: "explain-says", role: "status", "aria-live": "polite" });
    const box = element("div", { class: "explain", role: "group", "aria-labelledby": `${name}-about` },
      about, presets, element("div", { class: "explain-readout" }, table, says), picture, controls);
    if (link) {
      const data = link.cloneNode(true);
      data.textContent = "data of the state it opens in (CSV)";
      box.append(element("p", { class: "explain-data" }, data));
    }

    const pen = new Pen(svg, paper, name);

    /* Handles are made once, so that they keep the focus while all else is redrawn. */
    let places = {};
    const handles = Object.entries(it.handles ?? {}).map(([key, { label, x, y, kind }]) => {
      const main = x ?? y;
      const { min, max } = it.fields[main];
      const handle = drawn("g", {
        class: `handle ${kind}`, role: "slider", tabindex: 0, "data-handle": key,
        "aria-label": label, "aria-valuemin": min, "aria-valuemax": max,
      }, drawn("circle", { r: 15, class: "reach" }), drawn("circle", { r: 6.5, class: "grip" }));
      const nudge = {
        ArrowRight: [x ?? y, 1], ArrowLeft: [x ?? y, -1], ArrowUp: [y ?? x, 1], ArrowDown: [y ?? x, -1],
        PageUp: [y ?? x, 10], PageDown: [y ?? x, -10], Home: [main, -1e9], End: [main, 1e9],
      };
      handle.addEventListener("keydown", (event) => {
        const [field, steps] = nudge[event.key] ?? [];
        if (!field || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        move({ [field]: state[field] + steps * it.fields[field].step });
      });
      /* a finger on a handle moves it and never the page */
      handle.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
      let shift = null;
      const pointed = (event) => {
        const frame = svg.getBoundingClientRect();
        return [event.clientX - frame.left, event.clientY - frame.top];
      };
      handle.addEventListener("pointerdown", (event) => {
        const [a, b] = pointed(event);
        shift = [places[key].x - a, places[key].y - b];
        handle.setPointerCapture(event.pointerId);
        handle.focus();
        event.preventDefault();
      });
      handle.addEventListener("pointermove", (event) => {
        if (!shift) return;
        const [a, b] = pointed(event);
        move(places[key].from(a + shift[0], b + shift[1]));
      });
      for (const end of ["pointerup", "pointercancel"]) handle.addEventListener(end, () => (shift = null));
      held.append(handle);
      return { key, handle, x, y };
    });

    function bar({ value, bar: kind, parts }) {
      const cell = element("td", { class: "bar" });
      if (!kind && !parts) return cell;
      let left = it.scale.max;
      for (const [size, look] of parts ?? [[value, kind]]) {
        const width = Math.min(size, left);
        left -= width;
        cell.append(element("span", { class: look, style: `width: ${(100 * width) / it.scale.max}%` }));
      }
      if (value > it.scale.max) cell.classList.add("over");
      return cell;
    }

    function draw() {
      const width = Math.max(280, Math.round(picture.clientWidth));
      pen.begin(width, it.height(width, state));
      places = it.draw(pen, found, state) ?? {};
      for (const { key, handle, x, y } of handles) {
        const place = places[key];
        handle.toggleAttribute("hidden", !place);
        if (!place) continue;
        handle.setAttribute("transform", `translate(${place.x.toFixed(2)} ${place.y.toFixed(2)})`);
        handle.setAttribute("aria-valuenow", state[x ?? y]);
        handle.setAttribute("aria-valuetext", [x, y].filter(Boolean).map((field) => spoken(field)).join(", "));
        handle.dataset.state = [x, y].filter(Boolean).map((field) => state[field]).join(" ");
      }
    }

    function say(rows) {
      const numbers = Object.fromEntries(rows.map(({ name: key, value }) => [key, value]));
      says.replaceChildren(
        ...it.says(found, state).split(/\{(\w+)\}/).flatMap((part, i) => (i % 2 ? [shown(part, numbers[part])] : set(part))),
      );
      box.dataset.said = box.dataset.state;
    }

    function move(part, now = false) {
      state = settled(part);
      found = it.compute(state);
      for (const [key, { range, output }] of Object.entries(ranges)) {
        const words = spoken(key);
        range.value = state[key];
        range.setAttribute("aria-valuetext", words);
        output.textContent = words;
        range.disabled = it.fields[key].off?.(state) ?? false;
      }
      draw();
      const rows = it.rows(found, state);
      const head = it.scale ? [element("caption", {}, it.scale.label)] : [];
      const bars = rows.some((row) => row.bar || row.parts);
      table.classList.toggle("plain", !bars);
      if (it.heads)
        head.push(element("thead", {}, element("tr", {}, element("td"), element("td"),
          ...it.heads.map((words) => element("th", { scope: "col" }, words)))));
      table.replaceChildren(...head, element("tbody", {}, ...rows.map((row) =>
        element("tr", row.kind ? { class: row.kind } : {}, element("th", { scope: "row" }, ...set(row.label)), ...(bars ? [bar(row)] : []),
          ...[...(row.more ?? []), [row.name, row.value]].map((pair) => element("td", { class: "value" }, shown(...pair)))))));
      for (const { button, target } of choices)
        button.setAttribute("aria-pressed", JSON.stringify(target()) === JSON.stringify(state));
      box.dataset.state = JSON.stringify(state);
      /* read out when it has come to rest, not at every step of a drag */
      clearTimeout(timer);
      if (now) say(rows);
      else timer = setTimeout(say, 250, rows);
    }

    holder.append(box);
    holder.classList.add("explained");
    try {
      move(first, true);
    } catch (error) {
      box.remove();
      holder.classList.remove("explained");
      throw error;
    }
    let width = picture.clientWidth;
    new ResizeObserver(() => {
      if (picture.clientWidth && picture.clientWidth !== width) {
        width = picture.clientWidth;
        draw();
      }
    }).observe(picture);
  }

  return {
    coinEntropy, coinError, figure, gaussLegendre, newton, normalAbove, normalBetween,
    panels, sample, solve, text, xlogx,
  };
})();
