// Opens every page of a server and walks through what people do there; see scripts/browser.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { chromium } = require("playwright-core");
const checking = require("./checking.cjs");
const reading = require("./reading.cjs");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [folder, address, program, key] = process.argv.slice(2);
const problems = [];
const fail = (where, what) => {
  problems.push(`${where}: ${what}`);
  console.log(`FAILED ${where}: ${what}`);
};

const VIEWS = [
  { name: "light", colorScheme: "light", viewport: { width: 1280, height: 900 } },
  { name: "dark", colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  { name: "light-phone", colorScheme: "light", viewport: { width: 390, height: 844 } },
  { name: "dark-phone", colorScheme: "dark", viewport: { width: 390, height: 844 } },
];
// A small phone; twice as large, as a screen of half the width; the colours of the reader, who wants nothing to move.
const SPECIAL = [
  { name: "small", colorScheme: "light", viewport: { width: 360, height: 740 } },
  { name: "zoomed", colorScheme: "light", viewport: { width: 640, height: 450 } },
  { name: "forced", colorScheme: "dark", viewport: { width: 1280, height: 900 }, forcedColors: "active", reducedMotion: "reduce" },
];
let numbers = 0;

// A page that tells of everything that should not happen on it.
async function opened(browser, view) {
  const context = await browser.newContext(view);
  const page = await context.newPage();
  const state = { at: "", status: 200 };
  page.on("console", (message) => {
    // A page that says why there is none is an error for the console too.
    const isExpected = state.status >= 400 && message.text().includes(`status of ${state.status}`);
    if (message.type() === "error" && !isExpected) fail(state.at, `console: ${message.text()}`);
  });
  page.on("pageerror", (error) => fail(state.at, `script: ${error.message}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(address)) fail(state.at, `asks another host: ${request.url()}`);
  });
  page.on("dialog", (dialog) => {
    fail(state.at, `a name was run as script: ${dialog.message()}`);
    dialog.dismiss();
  });
  return { context, page, state, view };
}

async function open(tab, name, where, status = 200) {
  tab.state.at = `${name} (${tab.view.name})`;
  tab.state.status = status;
  const answer = await tab.page.goto(address + where, { waitUntil: "load" });
  if (answer.status() !== status) fail(tab.state.at, `answers ${answer.status()}, expected ${status}`);
  await look(tab, name);
}

// What must hold of whatever is shown now, and a picture of it.
async function look(tab, name) {
  const { page, state, view } = tab;
  const [wide, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  if (wide > screen) fail(state.at, `${wide} pixels wide on a screen of ${screen}`);
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  for (const violation of found.violations) {
    const line = `axe ${violation.impact} ${violation.id}: ${violation.help} (${violation.nodes.length}) ${violation.nodes[0].html.slice(0, 160)}`;
    fail(state.at, line);
  }
  numbers += await reading.check(page, address, (what) => fail(state.at, what));
  await page.screenshot({ path: path.join(folder, `${name}-${view.name}.png`), fullPage: true });
}

// Pages that are only known from links to them.
async function linked(tab, where, selector) {
  await tab.page.goto(address + where);
  const links = await tab.page.$$eval(selector, (all) => all.map((it) => it.getAttribute("href")));
  return links;
}

async function cardsOf(tab) {
  await tab.page.goto(`${address}/leaderboards`);
  return tab.page.$$eval('select[name="card"] option', (all) => all.map((it) => it.value));
}

async function pages(tab) {
  const cards = await cardsOf(tab);
  await open(tab, "home", "/");
  if (cards.length > 0) {
    const card = encodeURIComponent(cards[0]);
    await open(tab, "leaderboard-filtered", `/leaderboards?card=${card}&min_tasks=2&trust=claimed&q=i&sort=-subject`);
    await open(tab, "leaderboard-nothing", `/leaderboards?card=${card}&since=2999-01-01`);
    await open(tab, "leaderboard-groups", `/leaderboards?card=${card}&group_by=domain`);
    await open(tab, "leaderboard-cost", `/leaderboards?card=${card}&cost=cost_usd`);
    for (const question of ["trend", "tasks", "grid", "stress"]) await open(tab, question, `/${question}?card=${card}`);
    const names = await tab.page.evaluate(async (path) => (await (await fetch(path)).json()).leaderboards[0].rows.map((it) => it.subject), `/v1/leaderboards?card=${card}`);
    const [first, second] = names.map(encodeURIComponent);
    if (second) await open(tab, "compare", `/compare?card=${card}&first=${first}&second=${second}`);
  }
  // Every scorecard in one view; in the others a few show what may look different.
  const isFirst = tab.view === VIEWS[0];
  for (const card of isFirst ? cards : cards.slice(0, 4)) {
    const name = card.replace(/[^a-z0-9]+/gi, "-");
    const board = `/leaderboards?card=${encodeURIComponent(card)}`;
    await open(tab, `board-${name}`, board);
    await open(tab, `card-${name}`, `/scorecards/${card}`);
    const subjects = await linked(tab, board, "th.name a");
    for (const [at, subject] of subjects.slice(0, isFirst ? 3 : 1).entries()) {
      await open(tab, `subject-${name}-${at + 1}`, subject);
      const [record] = await linked(tab, subject, "section a[href^='/records/']");
      if (record && at < 2) {
        await open(tab, `record-${name}-${at + 1}`, record);
        await open(tab, `verify-${name}-${at + 1}`, `${record}/verify`);
        if (at === 0) await checking.button(tab, `verify-${name}`, { look, fail });
      }
    }
  }
  for (const [name, where] of [["scorecards", "/scorecards"], ["arena", "/arena"], ["log", "/log"], ["api", "/api"], ["workflows", "/workflows"], ["search", "/search?q=i"]]) {
    await open(tab, name, where);
  }
  const [agent] = await linked(tab, "/arena", "a[href^='/arena/agents/']");
  if (agent) await open(tab, "arena-agent", agent);
  const [challenge] = await linked(tab, "/arena", "a[href^='/arena/challenges/']");
  if (challenge) await open(tab, "arena-challenge", challenge);
  const games = await linked(tab, "/arena", "a[href^='/arena/matches/']");
  if (games.length > 0) await open(tab, "match-open", games[0]);
  if (games.length > 3) await open(tab, "match", games[3]);
  await open(tab, "subject-hostile", `/subjects/${encodeURIComponent("<script>alert(1)</script>")}`);
  await open(tab, "subject-step", `/subjects?name=${encodeURIComponent("../..")}`);
  await open(tab, "sign-in", "/sign-in");
  // Only some servers have these.
  for (const [name, where] of [["components", "/components"], ["embed", `/embed/${cards[0]}`]]) {
    if ((await tab.page.request.get(address + where)).ok()) await open(tab, name, where);
  }
  await open(tab, "not-found", "/there-is-no-such-page", 404);
  await open(tab, "bad-number", "/leaderboards?min_tasks=abc", 400);
}

// What pages compute in the browser.
async function computed(browser, tab) {
  const tools = { open, look, fail, address, folder, program };
  const isFirst = tab.view === VIEWS[0];
  await checking.form(tab, tools, isFirst);
  const cards = await cardsOf(tab);
  for (const card of isFirst ? cards : cards.slice(0, 1)) await checking.weights(tab, card, tools);
  if (program) await checking.offline(browser, tab.view, tools);
  if (cards[0]) await checking.unscripted(browser, tab.view, cards[0], tools);
}

// Sorting by a heading, by keyboard.
async function sorting(tab) {
  tab.state.at = `sorting (${tab.view.name})`;
  await tab.page.goto(`${address}/leaderboards`);
  const button = tab.page.locator("th button", { hasText: "subject" }).first();
  await button.focus();
  await button.press("Enter");
  const sorted = await tab.page.locator("th[aria-sort]").count();
  if (sorted !== 1) fail(tab.state.at, "a heading does not sort");
}

// A key in, what it opens, and out again.
async function signing(tab) {
  tab.state.at = `signing in (${tab.view.name})`;
  await tab.page.goto(`${address}/sign-in`);
  tab.state.status = 403;
  await tab.page.fill("input[name=key]", "karat_wrong");
  await tab.page.click("main button[type=submit]");
  if (!(await tab.page.locator("text=not known here").count())) fail(tab.state.at, "a wrong key is not refused in words");
  tab.state.status = 200;
  await tab.page.fill("input[name=key]", key);
  await tab.page.click("main button[type=submit]");
  await tab.page.waitForLoadState("networkidle");
  if (!(await tab.page.locator("text=Sign out").count())) fail(tab.state.at, "the key does not open anything");
  await open(tab, "keys", "/keys");
  await open(tab, "reviews", "/reviews");
  const held = tab.page.locator("form[action='/reviews']");
  const before = await held.count();
  if (before > 0 && tab.view === VIEWS[0]) {
    await held.first().locator("textarea").fill("the runs were looked at");
    await held.first().locator("text=Reject").click();
    await tab.page.waitForLoadState("networkidle");
    if ((await held.count()) !== before - 1) fail(tab.state.at, "a decision changes nothing");
  }
  await tab.page.click("text=Sign out");
  await tab.page.waitForLoadState("networkidle");
  if (!(await tab.page.locator("text=Sign in").count())) fail(tab.state.at, "the key stays");
}

async function main() {
  const browser = await chromium.launch({
    executablePath: process.env.BROWSER_PROGRAM,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  for (const view of VIEWS) {
    const tab = await opened(browser, view);
    await pages(tab);
    await computed(browser, tab);
    // On a phone tables are cards, without headings.
    if (view.viewport.width > 704) await sorting(tab);
    if (key) await signing(tab);
    if (view === VIEWS[0]) await reading.questions(tab.page, address, (what) => fail("questions", what));
    await tab.context.close();
  }
  for (const view of SPECIAL) {
    const tab = await opened(browser, view);
    await pages(tab);
    await tab.context.close();
  }
  console.log(`${numbers} numbers of pages are those of the API`);
  await browser.close();
  console.log(problems.length === 0 ? `all pages are as they should be; pictures: ${folder}` : `${problems.length} problems`);
  process.exit(problems.length === 0 ? 0 : 1);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
