"use strict";
(() => {
  // A fold of the appendix opens by its button, by a link into it, and where the browser's search
  // finds something in it.
  const folds = [...document.querySelectorAll(".folded")];
  const opener = (fold) => document.querySelector(`[aria-controls="${fold.id}"]`);
  const set = (fold, open) => {
    if (open) fold.removeAttribute("hidden"); else fold.setAttribute("hidden", "until-found");
    opener(fold).setAttribute("aria-expanded", String(open));
  };
  folds.forEach((fold) => {
    opener(fold).addEventListener("click", () => set(fold, fold.hasAttribute("hidden")));
    fold.addEventListener("beforematch", () => set(fold, true));
  });
  const list = document.querySelector("ol.folds");
  if (list) {
    const all = document.createElement("button");
    all.type = "button";
    all.className = "all";
    all.textContent = "Open all, to read or to print";
    all.addEventListener("click", () => folds.forEach((fold) => set(fold, true)));
    list.after(all);
  }
  const follow = () => {
    const at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = at && (at.closest(".folded") || document.getElementById(at.id + "-body"));
    if (fold) { set(fold, true); at.scrollIntoView(); }
  };
  addEventListener("hashchange", follow);
  follow();

  // On a wide screen the contents stay open.
  const contents = document.querySelector(".contents details");
  if (contents && matchMedia("(min-width: 76rem)").matches) contents.open = true;
})();
