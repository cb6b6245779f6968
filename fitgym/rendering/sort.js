for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = row => row.cells[column].dataset.value;
    const compare = (a, b) => {
      const [x, y] = [value(a), value(b)], [m, n] = [Number(x), Number(y)];
      if (x === "" || y === "") return (x === "") - (y === "");
      return (down ? -1 : 1) * (Number.isNaN(m) || Number.isNaN(n) ? x.localeCompare(y) : m - n);
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
  }));
}
