// How results of the search are ranked: pages that people wrote come first, and modules, whose pages hold every word, last.
var Scorer = {
  score: ([page, title, anchor, description, score]) =>
    /^reference\//.test(page) ? score - 20 : page.includes("/") && !/^(guides|add)\//.test(page) ? score : score + 8,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
