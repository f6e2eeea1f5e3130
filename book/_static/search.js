/* Excerpts of search results: of the article alone, without its buttons. */
const excerptOf = Search.htmlToText;
Search.htmlToText = (source, anchor) => {
  const page = new DOMParser().parseFromString(source, "text/html");
  const article = page.querySelector("article.bd-article") ?? page.body;
  article
    .querySelectorAll("summary, button, mjx-container, .provenance, .prev-next-area")
    .forEach((element) => element.remove());
  return excerptOf(`<div role="main">${article.innerHTML}</div>`, anchor);
};
