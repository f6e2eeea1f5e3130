/* What is wider than its line: a formula in the text gets a line of its own, and whatever
   scrolls can be reached and moved by the keyboard, under a name. */
const placeFormulas = () => {
  for (const formula of document.querySelectorAll("article mjx-container:not([display])")) {
    const held = formula.closest(".unbroken") ?? formula;  // with the comma after it
    formula.classList.remove("wide");
    const box = formula.closest("td, th, p, li, dd, dt, figcaption");
    if (!box || box.matches("td, th") || box.closest("table")) continue;
    const width = (element) => element.getBoundingClientRect().width;
    const drawn = width(formula.querySelector("svg"));
    if (drawn > box.clientWidth) formula.classList.add("wide");
    held.style.whiteSpace = "";
    if (held !== formula && width(held) > box.clientWidth) held.style.whiteSpace = "normal";
  }
};
const SCROLLS = {
  Formula: "mjx-container",
  Figure: ".scrolls",
  Table: ".pst-scrollable-table-container, .cell_output:has(> table), .text_html, table",
};
const reachBoxes = () => {
  for (const [name, selector] of Object.entries(SCROLLS))
    for (const box of document.querySelectorAll(`article :is(${selector})`)) {
      const scrolls = box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX === "auto";
      box.toggleAttribute("tabindex", scrolls);
      if (scrolls) box.tabIndex = 0;
      if (box.matches("table")) continue;  // it has a role, and a caption
      if (scrolls) box.setAttribute("role", "group");
      else if (box.role === "group") box.removeAttribute("role");
      box.ariaLabel = scrolls ? `${name}, which scrolls sideways` : null;
    }
};
addEventListener("load", () => {
  const place = () => {
    placeFormulas();
    reachBoxes();
  };
  Promise.resolve(window.MathJax?.startup?.promise).then(place);
  addEventListener("resize", place);
  addEventListener("toggle", place, true);  // what was folded has no width
});
