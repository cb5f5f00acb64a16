"use strict";
(() => {
  // A link into a fold of the appendix opens it; so does, in a browser, its search.
  const folds = [...document.querySelectorAll("details.fold")];
  const follow = () => {
    const at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = at && at.closest("details.fold");
    if (fold) { fold.open = true; at.scrollIntoView(); }
  };
  addEventListener("hashchange", follow);
  follow();
  if (folds.length) {
    const all = document.createElement("button");
    all.type = "button";
    all.textContent = "Expand all";
    all.addEventListener("click", () => folds.forEach((fold) => { fold.open = true; }));
    folds[0].before(all);
  }

  // On a wide screen the contents stay open.
  const contents = document.querySelector(".contents details");
  if (contents && matchMedia("(min-width: 76rem)").matches) contents.open = true;
})();
