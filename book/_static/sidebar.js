/* The parts of the contents fold; the one with this page is open. */
for (const caption of document.querySelectorAll(".bd-links p.caption")) {
  const list = caption.nextElementSibling, part = document.createElement("details");
  part.open = list.querySelector(".current") !== null;
  caption.replaceWith(part);
  part.append(document.createElement("summary"), list);
  part.firstChild.append(caption);
}
/* What the theme folds below a page has no name, and its button another than is seen. */
for (const summary of document.querySelectorAll(".bd-links li > details > summary"))
  summary.ariaLabel = `Pages below ${summary.closest("li").querySelector("a").textContent.trim()}`;
for (const button of document.querySelectorAll(".search-button-field"))
  button.removeAttribute("aria-label");
