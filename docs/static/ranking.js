// The search of the site. Sphinx wants every word of a query on one page; a question in a newcomer's words seldom has
// such a page. Here each word counts by how rare it is, and a page that has most of them is found too.
document.addEventListener("DOMContentLoaded", () => {
  if (typeof Search === "undefined") return;
  const ofOne = Search.performTermsSearch;
  const FOUND = 40; // pages, at most
  const MOST = 0.55; // the share of the words, by weight, that a page must have

  Search.performTermsSearch = (terms, excluded) => {
    const pages = Search._index.docnames.length;
    const words = [...terms].map((word) => ({ word, found: ofOne(new Set([word]), excluded) }));
    const known = words.filter(({ found }) => found.length);
    const byPage = new Map();
    let all = 0;
    for (const { found } of known) {
      const rare = Math.log(1 + pages / found.length);
      all += rare;
      for (const result of found) {
        const page = byPage.get(result[0]) ?? { result: [...result], weight: 0, score: 0 };
        page.weight += rare;
        page.score += rare * result[4];
        byPage.set(result[0], page);
      }
    }
    return [...byPage.values()]
      .filter(({ weight }) => weight >= MOST * all)
      .map(({ result, weight, score }) => ((result[4] = (score * weight) / all / all), result))
      .sort((a, b) => b[4] - a[4])
      .slice(0, FOUND);
  };
});
