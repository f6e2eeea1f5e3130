/* Filters of the claims page, kept in its address; without this all cards are shown. */
{
  const form = document.getElementById("claim-filters");
  const cards = [...document.querySelectorAll("li.claim")].map((card) => ({
    card,
    text: card.textContent.toLowerCase(),
  }));

  function apply() {
    const wanted = Object.fromEntries(new FormData(form));
    const words = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { card, text } of cards) {
      const fits =
        ["source", "table", "verdict"].every(
          (key) => !wanted[key] || card.dataset[key] === wanted[key],
        ) && words.every((word) => text.includes(word));
      card.hidden = !fits;
      shown += fits;
    }
    for (const list of document.querySelectorAll("ul.claims")) {
      list.closest("section").hidden = !list.querySelector("li.claim:not([hidden])");
    }
    form.querySelector("[role=status]").textContent =
      `${shown} of ${cards.length} cards shown`;
  }

  function remember() {
    const filled = [...new FormData(form)].filter(([, value]) => value);
    const query = new URLSearchParams(filled).toString();
    history.replaceState(null, "", location.pathname + (query && `?${query}`));
  }

  function recall() {
    const query = new URLSearchParams(location.search);
    for (const field of form.querySelectorAll("[name]")) {
      field.value = query.get(field.name) ?? "";
      if (field.selectedIndex === -1) field.value = "";
    }
    apply();
  }

  function change() {
    apply();
    remember();
    /* what was asked for begins on the same screen */
    const first = cards.find(({ card }) => !card.hidden);
    if (first && first.card.getBoundingClientRect().bottom > innerHeight) form.scrollIntoView();
  }

  /* The card that the address names is open, and no filter hides it. */
  function follow() {
    const inside = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const card = inside?.closest("li.claim");
    if (!card) return;
    card.querySelector("details").open = true;
    if (card.hidden) {
      history.replaceState(null, "", location.pathname + location.hash);
      recall();
    }
    card.scrollIntoView({ block: "nearest" });
  }

  form.hidden = false;
  form.addEventListener("input", change);
  form.addEventListener("reset", () => setTimeout(change));
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("popstate", recall);
  addEventListener("hashchange", follow);
  recall();
  follow();
}
