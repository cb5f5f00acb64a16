"use strict";
(() => {
  // Without this script all runs are shown; with it, those that are asked for.
  const form = document.getElementById("filter");
  const count = document.getElementById("count");
  if (!form) return;
  const cards = [...document.querySelectorAll(".cards > li")].map((card) => ({
    card,
    study: card.dataset.study,
    status: card.dataset.status,
    models: JSON.parse(card.dataset.models),
    words: (card.dataset.models + " " + card.innerText).toLowerCase(),
  }));
  const every = count.textContent.trim();
  const show = () => {
    const asked = Object.fromEntries(new FormData(form));
    const words = asked.text.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    cards.forEach((one) => {
      const wanted = (!asked.study || one.study === asked.study)
        && (!asked.status || one.status === asked.status)
        && (!asked.model || one.models.includes(asked.model))
        && words.every((word) => one.words.includes(word));
      one.card.hidden = !wanted;
      shown += wanted;
    });
    count.textContent = shown === cards.length ? every : `${shown} of ${every}`;
  };
  form.hidden = false;
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(show));
  addEventListener("pageshow", show); // a browser that goes back fills the form as it was
})();
