/* What is printed is light, and proofs and answers that are folded in the text are open. */
{
  const page = document.documentElement.dataset;
  let theme, opened = [];
  addEventListener("beforeprint", () => {
    theme = page.theme;
    page.theme = "light";
    opened = [...document.querySelectorAll("article :is(.proof-fold, .solution, .sd-dropdown):not([open])")];
    for (const fold of opened) fold.open = true;
  });
  addEventListener("afterprint", () => {
    page.theme = theme;
    for (const fold of opened) fold.open = false;
  });
}
