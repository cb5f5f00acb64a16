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

  // Every table can be copied (for a spreadsheet) and saved (as CSV).
  const minus = /^\u2212(?=[\d.])/;
  const number = /^-?[\d.,]+%?$/;
  const cell = (one) => {
    const text = one.innerText.trim().replace(/\s+/g, " ").replace(minus, "-");
    // A spreadsheet must not take a text for a formula.
    return /^[=+\-@\t]/.test(text) && !number.test(text) ? "'" + text : text;
  };
  const rows = (table) => [...table.querySelectorAll("tr")]
    .filter((row) => row.querySelector(".gt_col_heading, .gt_table_body td"))
    .map((row) => [...row.children].map(cell));
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
  document.querySelectorAll("table.gt_table").forEach((table) => {
    const title = table.querySelector(".gt_title");
    const called = title ? title.innerText.trim() : "table";
    const bar = document.createElement("div");
    bar.className = "tools";
    const copy = button("Copy", async (one) => {
      try { await navigator.clipboard.writeText(tabbed(table)); one.textContent = "Copied"; }
      catch { one.textContent = "Not allowed here"; }
      setTimeout(() => { one.textContent = "Copy"; }, 1500);
    });
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
    const frame = table.closest("div[style*=overflow]") || table;
    frame.before(bar);
  });

  // On a wide screen the contents stay open.
  const contents = document.querySelector(".contents details");
  if (contents && matchMedia("(min-width: 76rem)").matches) contents.open = true;
})();
