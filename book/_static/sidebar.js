/* The parts of the contents fold; the one with this page is open. */
for (const caption of document.querySelectorAll(".bd-links p.caption")) {
  const list = caption.nextElementSibling, part = document.createElement("details");
  part.open = list.querySelector(".current") !== null;
  caption.replaceWith(part);
  part.append(document.createElement("summary"), list);
  part.firstChild.append(caption);
}
