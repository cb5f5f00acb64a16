// What a reader looks for comes first: guides, then definitions, then the API; decisions last.
var WEIGHTS = [
  [/^howto\/own-texts/, 10],
  [/^reference\/tables$/, 7],
  [/^howto\/(local-judge|biasalert-lora|new_study|extending)/, 2],
  [/^(howto|tutorial|start)/, 4],
  [/^(measures|glossary|_made\/parameters|commands|compared)/, 2],
  [/^(decisions|results|_made\/gallery)/, 0.2],
];
var Scorer = {
  score: ([docname, , , , score]) => {
    const weight = WEIGHTS.find(([pattern]) => pattern.test(docname));
    return score * (weight ? weight[1] : 1);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
