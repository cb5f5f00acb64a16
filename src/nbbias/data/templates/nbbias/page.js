"use strict";
(() => {
  // Light or dark: the reader's system decides until the reader does.
  const root = document.documentElement;
  const toggle = document.getElementById("theme");
  const dark = () => root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { toggle.textContent = dark() ? "Light" : "Dark"; };
  toggle.hidden = false;
  toggle.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; name(); });
  name();

  // Tables can be copied (for a spreadsheet) and saved (as CSV), with numbers as it reads them.
  const value = String.raw`[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+|(?<=\d)\.?)(?:e[+-]?\d+)?%?`;
  const number = new RegExp(String.raw`^${value}(?:(?: to |, | ?\u2013 ?| \(| \[)${value})*[)\]]?$`, "i");
  const minus = /\u2212(?=[\d.])/g;
  const thousands = /(?<=\d),(?=\d{3}(?!\d))/g;
  const told = (text) => {
    const plain = text.trim().replace(/\s+/g, " ").replace(minus, "-");
    if (number.test(plain)) return plain.replace(thousands, "");
    // A spreadsheet must not take a text for a formula.
    return /^[=+\-@]/.test(plain) && plain !== "-" ? "'" + plain : plain;
  };
  const rows = (table) => {
    const found = [...table.querySelectorAll("tr")]
      .filter((row) => row.querySelector(".gt_col_heading, .gt_table_body td") || table.closest(".nbx"))
      .map((row) => [...row.children])
      .map((row) => row.map((cell) => told(cell.innerText)));
    const width = found.length ? found[0].length : 0;
    return found.map((row) => [...row, ...Array(Math.max(0, width - row.length)).fill("")]);
  };
  const quoted = (text) => /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  const csv = (table) => rows(table).map((row) => row.map(quoted).join(",")).join("\n") + "\n";
  const tabbed = (table) => rows(table).map((row) => row.join("\t")).join("\n");

  const button = (label, act) => {
    const one = document.createElement("button");
    one.type = "button";
    one.textContent = label;
    one.addEventListener("click", () => act(one));
    return one;
  };
  const copied = async (one, text) => {
    const label = one.dataset.label ||= one.textContent;
    try { await navigator.clipboard.writeText(text); one.textContent = "Copied"; }
    catch { one.textContent = "Not allowed here"; }
    setTimeout(() => { one.textContent = label; }, 1500);
  };
  const named = (table) => {
    const title = table.querySelector(".gt_title");
    if (title) return title.innerText.trim();
    const tab = table.closest(".x-panel")?.previousElementSibling;
    const fold = table.closest("details")?.querySelector("summary").firstChild;
    return [tab, fold].map((one) => one?.textContent.trim()).filter(Boolean).join(": ") || "table";
  };
  // In an explorer the short ones, and those that every topic or word has, do without.
  const explored = [...document.querySelectorAll(".nbx .x-words")]
    .filter((table) => table.rows.length > 4);
  [...document.querySelectorAll("table.gt_table"), ...explored].forEach((table) => {
    const called = named(table);
    const bar = document.createElement("div");
    bar.className = "tools";
    const copy = button("Copy", (one) => copied(one, tabbed(table)));
    const save = button("CSV", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob(["\ufeff", csv(table)], { type: "text/csv" }));
      link.download = called.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 60) + ".csv";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    copy.setAttribute("aria-label", `Copy the table: ${called}`);
    save.setAttribute("aria-label", `Save the table as CSV: ${called}`);
    bar.append(copy, save);
    // Above all that scrolls: it would move away with the table.
    const frame = table.closest("div[style*=overflow][tabindex], .x-scroll") || table;
    frame.before(bar);
  });

  // On a phone the rows of a wide table become lists: each cell knows the name of its column, and
  // what stands in the first one for several rows.
  document.querySelectorAll("table.gt_table").forEach((table) => {
    const names = [...table.querySelectorAll(".gt_col_heading")].map((one) => one.innerText.trim());
    if (names.length < 3) return;
    table.classList.add("listed");
    table.classList.toggle("dense", names.length > 7);
    table.classList.toggle("vast", names.length > 10);
    let last = "";
    table.querySelectorAll(".gt_table_body tr").forEach((row) => {
      const cells = [...row.children];
      cells.forEach((cell, i) => { cell.dataset.label = names[i] ?? ""; });
      const first = cells[0];
      if (!first) return;
      if (first.textContent.trim()) last = first.textContent.trim();
      else if (last) { first.textContent = ""; first.dataset.again = last; }
    });
  });

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
    const all = button("Open all, to read or to print", () => folds.forEach((fold) => set(fold, true)));
    all.className = "all";
    list.after(all);
  }
  const follow = () => {
    const at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = at && (at.closest(".folded") || document.getElementById(at.id + "-body"));
    if (fold) { set(fold, true); at.scrollIntoView(); }
  };
  addEventListener("hashchange", follow);
  follow();

  // How something is measured stands on paper, too, and what was set.
  const details = [...document.querySelectorAll(".about details, details.method")];
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = details.filter((one) => !one.open);
    closed.forEach((one) => { one.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((one) => { one.open = false; }));

  // References, a line each, and whatever else is there to be copied.
  document.querySelectorAll("button[data-copies]").forEach((one) => {
    const from = document.getElementById(one.dataset.copies);
    const parts = from.children.length ? [...from.children] : [from];
    one.hidden = false;
    one.addEventListener("click", () => copied(one, parts.map((part) => part.textContent.trim()).join("\n")));
  });

  // On a wide screen the contents stay open.
  const contents = document.querySelector(".contents details");
  if (contents && matchMedia("(min-width: 76rem)").matches) contents.open = true;
})();
