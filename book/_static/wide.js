/* A formula in the text that is wider than its line gets a line of its own, which scrolls. */
const placeFormulas = () => {
  for (const formula of document.querySelectorAll("article mjx-container:not([display])")) {
    formula.classList.remove("wide");
    const box = formula.closest("td, th, p, li, dd, dt, figcaption");
    const drawn = formula.querySelector("svg").getBoundingClientRect().width;
    if (box && !box.matches("td, th") && !box.closest("table") && drawn > box.clientWidth)
      formula.classList.add("wide");
  }
};
addEventListener("load", () => {
  window.MathJax?.startup?.promise.then(placeFormulas);
  addEventListener("resize", placeFormulas);
  addEventListener("toggle", placeFormulas, true);  // what was folded has no width
});
