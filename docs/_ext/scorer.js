// Pages that a reader looks for come first: guides and definitions, then the API, decisions last.
const WEIGHTS = [
  [/^howto\/(local-judge|biasalert-lora|new_study|extending|scale)/, 0.5],
  [/^(howto|tutorial|start|index)/, 2],
  [/^(measures|reference\/tables$)/, 2],
  [/^(glossary|_made\/parameters|commands|compared)/, 1],
  [/^(decisions|results|_made\/gallery)/, 0.1],
];
const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) || [];
const queried = () => wordsOf(new URLSearchParams(window.location.search).get("q") || "");
// How often the words of the query begin a word of a text, and whether they stand in a row.
const counted = (text, words) => {
  const inside = ` ${wordsOf(text).join(" ")}`;
  const long = words.filter((word) => word.length > 1);
  const times = long.map((word) => Math.min(inside.split(` ${word}`).length - 1, 5));
  const phrase = words.length > 1 && inside.includes(` ${words.join(" ")}`) ? 10 : 0;
  return phrase + times.reduce((sum, count) => sum + count, 0);
};
// The section of a page that has most of them, its title first; lists of all names come last.
const LISTS = /^(All measures in the tables|Measurement card)$/;
const bestSection = (page, words) =>
  (PASSAGES[page] || [])
    .map(([anchor, title, text]) => ({
      anchor,
      title,
      text,
      score: (4 * counted(title, words) + counted(text, words)) * (LISTS.test(title) ? 0.2 : 1),
    }))
    .reduce((best, section) => (section.score > best.score ? section : best), { score: 0 });
const excerpt = (text, words) => {
  const phrase = new RegExp(words.join("[^\\p{L}\\p{N}]+"), "iu");
  const from = Math.max(text.search(phrase), text.toLowerCase().indexOf(words[0]), 0);
  const start = from < 90 ? 0 : text.indexOf(" ", from - 80) + 1;
  const end = start + 220 < text.length ? text.lastIndexOf(" ", start + 220) : text.length;
  return (start ? "… " : "") + text.slice(start, end) + (end < text.length ? " …" : "");
};
var Scorer = {
  score: (result) => {
    const [docname, title, , , score, , kind] = result;
    const words = queried();
    const weight = WEIGHTS.find(([pattern]) => pattern.test(docname));
    const named = counted(KEYWORDS[docname] || "", words) && kind === "text" ? 60 : 0;
    if (kind === "object" && words.length > 1 && title.endsWith(words.join("."))) return 99;
    const best = kind === "object" ? { score: 0 } : bestSection(docname, words);
    if (kind === "text" && best.anchor && best.title !== title) {
      result[1] = `${title} > ${best.title}`;
      result[2] = `#${best.anchor}`;
    }
    return (score + best.score) * (weight ? weight[1] : 0.4) + named;
  },
  objNameMatch: 40,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
// Below each result: the place of its page where the words stand.
window.addEventListener("DOMContentLoaded", () => {
  const words = queried();
  const show = (item) => {
    const link = item.querySelector("a");
    const [page, anchor] = decodeURI(link.getAttribute("href")).split("#");
    const sections = PASSAGES[page.replace(/\.html$/, "")] || [];
    const [, , text] = sections.find(([id]) => id === anchor) || [];
    const best = text ? { text } : bestSection(page.replace(/\.html$/, ""), words);
    if (!best.text || item.classList.contains("kind-object")) return;
    const line = item.appendChild(document.createElement("p"));
    line.className = "context";
    line.textContent = excerpt(best.text, words);
    words.filter((word) => word.length > 1).forEach((word) => _highlightText(line, word, "highlighted"));
  };
  const results = document.getElementById("search-results");
  results.querySelectorAll("li").forEach(show);
  new MutationObserver((changes) =>
    changes.forEach(({ addedNodes }) =>
      addedNodes.forEach((node) => node.nodeName === "LI" && show(node)),
    ),
  ).observe(results, { childList: true, subtree: true });
});
