// How results of the search are ranked. Pages of answers come first, then other pages that people wrote, then pages about
// one extension or environment. The modules, the list of changes and the list of commands hold nearly every word: last.
var Scorer = {
  score: ([page, title, anchor, description, score]) => {
    if (/^reference\//.test(page)) return score - 20;
    if (page === "changelog" || page === "commands/index") return score - 4;
    if (page === "glossary") return score + 16;
    if (/^(faq|choosing|troubleshooting)$/.test(page)) return score + 14;
    return /^(guides|add)\/|\/index$|^[^/]*$/.test(page) ? score + 12 : score;
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
