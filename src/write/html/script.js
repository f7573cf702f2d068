"use strict";
// Sorting by column and filtering by name. The page is complete without.
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  // Rows that add up have one order; of a page of many, the server has the others.
  if (body.classList.contains("fixed")) continue;
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, column) => {
    const cell = row.cells[column];
    if (!cell || cell.classList.contains("absent")) return null;
    const text = cell.firstChild ? cell.firstChild.textContent.trim() : "";
    return text === "" ? null : text;
  };
  // "0.62", "+3", "62%", "<1%", "0.55 to 0.70"; anything else is words.
  const amount = (text) => {
    const found = /^(<?)([+-]?[\d.]+)(%| to .*)?$/.exec(text);
    return found ? Number(found[2]) - (found[1] ? 0.5 : 0) : NaN;
  };
  heads.forEach((head, column) => {
    if (head.classList.contains("drawn") || rows.length < 2) return;
    const isNumber = rows.every((row) => value(row, column) === null || !Number.isNaN(amount(value(row, column))));
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const up = now ? now === "descending" : !isNumber;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      table.classList.add("sorted");
      const compare = (one, two) => {
        const a = value(one, column), b = value(two, column);
        if (a === null || b === null) return (a === null) - (b === null);
        const order = isNumber ? amount(a) - amount(b) : a < b ? -1 : a > b ? 1 : 0;
        return up ? order : -order;
      };
      body.append(...[...rows].sort(compare));
    });
  });
  if (rows.length < 12) continue;
  const line = document.createElement("p");
  const label = document.createElement("label");
  const input = document.createElement("input");
  const said = document.createElement("span");
  line.className = "filter";
  input.type = "search";
  said.setAttribute("aria-live", "polite");
  label.append("show rows with ", input);
  line.append(label, said);
  table.parentElement.before(line);
  input.addEventListener("input", () => {
    const sought = input.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      const name = row.querySelector("th") || row;
      row.hidden = !name.textContent.toLowerCase().includes(sought);
      shown += !row.hidden;
    }
    said.textContent = sought === "" ? "" : `${shown} of ${rows.length}`;
  });
}
