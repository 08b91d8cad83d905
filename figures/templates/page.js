"use strict";
// Sorting and filtering of the table of verdicts; without scripts the table is complete, findings first.
(() => {
  const table = document.getElementById("table"), body = table.tBodies[0];
  const rows = Array.from(body.rows), heads = Array.from(table.tHead.rows[0].cells);
  const text = (row, n) => row.cells[n].dataset.value ?? row.cells[n].textContent.trim();

  heads.forEach((head, n) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const numeric = head.classList.contains("n");
      const order = (a, b) => {
        const x = text(a, n), y = text(b, n);
        if (x === "" || y === "") return (x === "") - (y === ""); // blanks stay last
        const d = numeric ? Number(x) - Number(y) : x.localeCompare(y, "en", { numeric: true });
        return up ? d : -d;
      };
      body.append(...rows.slice().sort(order));
    });
  });

  const form = document.getElementById("filters"), find = document.getElementById("find");
  const paper = document.getElementById("paper"), repair = document.getElementById("repair");
  const shown = document.getElementById("shown");
  const boxes = Array.from(form.querySelectorAll("input[name=verdict]"));
  const filter = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = new Set(boxes.filter((b) => b.checked).map((b) => b.value));
    let count = 0;
    for (const row of rows) {
      const said = `${row.textContent} ${row.dataset.find || ""}`.toLowerCase(); // Greek letters by their names too
      row.hidden = !(wanted.has(row.dataset.verdict) && (!paper.value || row.dataset.paper === paper.value) &&
        (!repair?.value || row.dataset.repair === repair.value) &&
        words.every((w) => said.includes(w)));
      count += !row.hidden;
    }
    shown.textContent = `${count} of ${rows.length} shown`;
  };
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("reset", () => setTimeout(filter));
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
})();
