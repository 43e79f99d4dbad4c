for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = row => row.cells[column].dataset.key;
    const text = row => row.cells[column].textContent;
    const compare = (a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === undefined && y === undefined) return text(a).localeCompare(text(b));
      if (x === undefined || y === undefined) return x === undefined ? 1 : -1;
      return Number(x) === Number(y) ? 0 : Number(x) < Number(y) ? -1 : 1;
    };
    const body = table.tBodies[0];
    const rows = [...body.rows].sort((a, b) => up ? compare(a, b) : compare(b, a));
    body.append(...rows);
  }));
}
