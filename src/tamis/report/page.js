"use strict";
(function () {
  const root = document.documentElement;
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const themeButton = document.getElementById("theme");
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

  function colour(name) {
    return getComputedStyle(root).getPropertyValue(name).trim();
  }

  function themed(layout) {
    const axis = { gridcolor: colour("--line"), zerolinecolor: colour("--line"), linecolor: colour("--line"), automargin: true };
    return Object.assign({}, layout, {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: colour("--ink"), family: "system-ui, sans-serif", size: 13 },
      margin: layout.margin || { l: 56, r: 16, t: layout.showlegend ? 36 : 12, b: 48 },
      height: layout.height || 340,
      legend: layout.legend || { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
      hoverlabel: { namelength: -1 },
      modebar: { bgcolor: "rgba(0,0,0,0)" },
      xaxis: Object.assign({}, axis, titled(layout.xaxis)),
      yaxis: Object.assign({}, axis, titled(layout.yaxis)),
    });
  }

  function titled(axis) {
    return axis && typeof axis.title === "string" ? Object.assign({}, axis, { title: { text: axis.title } }) : axis || {};
  }

  // On a phone the toolbar would cover the legend, and fingers zoom the page anyway.
  const narrow = window.matchMedia("(max-width: 700px)").matches;
  const config = { displaylogo: false, displayModeBar: narrow ? false : "hover", responsive: true, typesetMath: false, modeBarButtonsToRemove: ["lasso2d", "select2d"] };

  // What is folded away has no width yet; it is drawn when it is opened.
  function draw() {
    document.querySelectorAll(".plot").forEach((place) => {
      if (place.closest("details:not([open])")) return;
      const figure = figures[place.dataset.figure];
      Plotly.react(place, figure.data, themed(figure.layout), config);
    });
  }
  document.querySelectorAll("details").forEach((part) => part.addEventListener("toggle", draw));

  function setTheme(dark) {
    if (dark) root.dataset.theme = "dark";
    else delete root.dataset.theme;
    themeButton.setAttribute("aria-pressed", String(dark));
    themeButton.textContent = dark ? "Light" : "Dark";
    themeButton.setAttribute("aria-label", dark ? "Switch to light colours" : "Switch to dark colours");
    draw();
  }

  themeButton.addEventListener("click", () => setTheme(root.dataset.theme !== "dark"));
  prefersDark.addEventListener("change", (event) => setTheme(event.matches));
  let beforePrint = false;
  window.addEventListener("beforeprint", () => { beforePrint = root.dataset.theme === "dark"; if (beforePrint) setTheme(false); });
  window.addEventListener("afterprint", () => { if (beforePrint) setTheme(true); });
  setTheme(prefersDark.matches);

  const slider = document.getElementById("size");
  if (slider) {
    const lists = Array.from(document.querySelectorAll(".list"));
    const show = () => {
      lists.forEach((list, place) => { list.hidden = place !== Number(slider.value); });
      const size = lists[slider.value].dataset.size;
      document.getElementById("size-shown").textContent = size;
      slider.setAttribute("aria-valuetext", size + " features");
    };
    slider.addEventListener("input", show);
    show();
  }

  const body = document.querySelector("#table tbody");
  if (!body) return;
  const headings = Array.from(document.querySelectorAll("#table thead th"));
  const rows = Array.from(body.rows);
  const search = document.getElementById("search");
  const onlyChosen = document.getElementById("only-chosen");
  const count = document.getElementById("count");

  function cell(row, column) {
    return row.cells[column].textContent;
  }

  function compare(column, numeric, sign) {
    return (a, b) => {
      const x = cell(a, column), y = cell(b, column);
      if (!numeric) return sign * x.localeCompare(y, undefined, { numeric: true });
      const p = parseFloat(x), q = parseFloat(y);
      // A dash, which stands for "no number", comes last in both directions.
      if (isNaN(p) || isNaN(q)) return isNaN(p) - isNaN(q);
      return sign * (p - q);
    };
  }

  headings.forEach((heading, column) => {
    heading.querySelector("button").addEventListener("click", () => {
      const descending = heading.getAttribute("aria-sort") === "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
      rows.sort(compare(column, heading.dataset.kind === "number", descending ? -1 : 1));
      body.append(...rows);
    });
  });

  function filter() {
    const wanted = search.value.trim().toLowerCase();
    let shown = 0;
    rows.forEach((row) => {
      const fits = (!onlyChosen.checked || row.classList.contains("chosen")) && row.textContent.toLowerCase().includes(wanted);
      row.hidden = !fits;
      shown += fits;
    });
    count.textContent = shown + " of " + rows.length + " rows";
  }
  search.addEventListener("input", filter);
  onlyChosen.addEventListener("change", filter);
  filter();

  function quoted(text) {
    // A leading =, +, - or @ would be run as a formula by spreadsheets, unless it begins a number.
    const safe = /^[=+\-@\t\r]/.test(text) && isNaN(Number(text)) ? "'" + text : text;
    return /[",\n\r]/.test(safe) ? '"' + safe.replace(/"/g, '""') + '"' : safe;
  }

  document.getElementById("download").addEventListener("click", () => {
    const lines = [headings.map((heading) => heading.textContent.trim())];
    rows.filter((row) => !row.hidden).forEach((row) => lines.push(Array.from(row.cells, (c) => c.textContent === "–" ? "" : c.textContent)));
    const text = lines.map((line) => line.map(quoted).join(",")).join("\r\n") + "\r\n";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
    link.download = "features.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
})();
