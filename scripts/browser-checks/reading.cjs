// What must hold of every page for whoever reads it: sizes, targets, tables, words, and numbers as the API has them.
"use strict";

// Runs in the page. Returns what is wrong with it.
function looked() {
  const wrong = [];
  const isShown = (it) => it.checkVisibility({ visibilityProperty: true }) && !it.closest(".aloud, .skip");
  const said = (it) => (it.textContent || "").trim().slice(0, 60);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const it = node.parentElement, text = node.data.trim();
    if (text === "" || !isShown(it) || it.closest("script, style")) continue;
    if (parseFloat(getComputedStyle(it).fontSize) < 12.5) wrong.push(`text of ${getComputedStyle(it).fontSize}: ${said(it)}`);
    if (it.closest("code, pre, textarea, select, dd, td, th")) continue;
    if (text.includes("`")) wrong.push(`a raw backtick: ${text.slice(0, 80)}`);
    if (/\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text)) wrong.push(`a time as programs write it: ${text.slice(0, 80)}`);
    if (/[0-9a-f]{64}/.test(text)) wrong.push(`a digest in the text: ${text.slice(0, 80)}`);
  }
  for (const it of document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")) {
    if (!isShown(it)) continue;
    const { width, height } = it.getBoundingClientRect();
    // A link within a sentence is as high as its line.
    const isInSentence = it.matches("a") && it.closest("p, li, dd, small, caption, .s") &&
      said(it.closest("p, li, dd, small, caption, .s")) !== said(it);
    if (!isInSentence && width > 0 && (width < 23.5 || height < 23.5)) {
      wrong.push(`a target of ${Math.round(width)} by ${Math.round(height)}: ${it.tagName} ${said(it) || it.getAttribute("name")}`);
    }
  }
  if (innerWidth <= 704) {
    for (const it of document.querySelectorAll("table")) {
      const box = it.parentElement;
      if (isShown(it) && it.scrollWidth > box.clientWidth + 1) wrong.push(`a table is cut: ${said(it.caption || it)}`);
    }
  }
  const titles = [...document.querySelectorAll("h1")];
  if (titles.length !== 1) wrong.push(`${titles.length} headings of the first level`);
  else if (/[^.][.]$/.test(said(titles[0])) || !document.title.startsWith(titles[0].textContent.trim().slice(0, 40))) {
    wrong.push(`the title is another than the heading: ${document.title}`);
  }
  return [...new Set(wrong)];
}

// Returns the numbers of a page that name their place in an answer of the API.
function numbers() {
  return [...document.querySelectorAll("[data-answer] [data-from]")].map((it) => ({
    answer: it.closest("[data-answer]").dataset.answer,
    pointer: it.dataset.from,
    text: it.textContent.trim(),
  }));
}

const at = (json, pointer) =>
  pointer.split("/").slice(1).reduce((it, key) => (it == null ? it : it[key.replace(/~1/g, "/").replace(/~0/g, "~")]), json);

// Says whether a text is a value, rounded to the digits that it shows.
function isSame(text, value) {
  if (typeof value !== "number") return String(value) === text;
  const shown = Number(text.replace(/%$/, ""));
  const digits = (text.replace(/%$/, "").split(".")[1] || "").length;
  return Math.abs(shown - value) <= 0.5001 * 10 ** -digits;
}

const known = new Map();

exports.check = async (page, address, fail) => {
  for (const line of await page.evaluate(looked)) fail(line);
  const all = await page.evaluate(numbers);
  for (const { answer, pointer, text } of all) {
    const asked = async () => known.set(answer, await (await fetch(address + answer)).json());
    if (!known.has(answer)) await asked();
    // A log grows between two pages.
    if (!isSame(text, at(known.get(answer), pointer))) await asked();
    const value = at(known.get(answer), pointer);
    if (!isSame(text, value)) fail(`${answer} has ${value} at ${pointer}, the page shows ${text}`);
  }
  return all.length;
};

// Five questions, each with what answers it, which must stand in the first 900 pixels.
const QUESTIONS = {
  "/leaderboards?card=task-run@1.0.0": {
    "who leads": "h1",
    "by how much, and is it sure": ".lead",
    "what is the rule": ".side .rule",
    "what would my agent need": ".side section:nth-of-type(2) p",
    "is this number genuine": ".marks .act a",
  },
  "/subjects/ibis?card=support-agent@1.0.0": {
    "where does it stand": "h1",
    "by how much, and is it sure": ".figures dd",
    "what is the rule": ".marks",
    "what does the next tier need": ".lead",
    "is this number genuine": ".marks .act a",
  },
};

exports.questions = async (page, address, fail) => {
  for (const [path, questions] of Object.entries(QUESTIONS)) {
    await page.goto(address + path);
    for (const [question, selector] of Object.entries(questions)) {
      const box = await page.locator(selector).first().boundingBox();
      if (!box || box.y + Math.min(box.height, 24) > 900) fail(`${path}: nothing in the first 900 pixels says ${question}`);
    }
  }
};
