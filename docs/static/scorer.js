// How results of the search are ranked: as Sphinx does, with the pages that people wrote first, and the modules and the
// lessons, in which every word occurs, last.
var Scorer = {
  score: ([page, title, anchor, description, score]) =>
    /^(reference|notebooks)\//.test(page) ? score - 20 : page.includes("/") ? score : score + 10,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
