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
  // The page has room for it, so that nothing moves.
  const line = table.parentElement.previousElementSibling;
  if (!line || line.className !== "filter") continue;
  const label = document.createElement("label");
  const input = document.createElement("input");
  const said = document.createElement("span");
  input.type = "search";
  said.setAttribute("aria-live", "polite");
  label.append("show rows with ", input);
  line.append(label, said);
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
// Ctrl K and / lead to the search.
const find = document.querySelector(".find input");
if (find) document.addEventListener("keydown", (event) => {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (!((event.key === "k" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && !isTyping))) return;
  event.preventDefault();
  find.focus();
  find.select();
});
// Commands can be copied, where the browser lets pages do so.
if (navigator.clipboard) for (const code of document.querySelectorAll("pre > code")) {
  const button = document.createElement("button");
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  });
  code.parentElement.append(button);
}
