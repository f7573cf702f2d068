// What pages compute in the browser: receipts on the server's pages and in a file without network, and weights that move.
"use strict";
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const examples = path.join(__dirname, "..", "..", "examples", "receipt");
const read = (name) => fs.readFileSync(path.join(examples, name), "utf8");

// Fills the form of the page, checks, and returns the heading of what was found.
async function check(page, { text, key, card }) {
  await page.fill("textarea[name=text]", text);
  await page.fill("input[name=key]", key);
  await page.evaluate(() => document.querySelector("form[data-verify] details").setAttribute("open", ""));
  await page.fill("textarea[name=card_text]", card ?? "");
  await page.click("button:has-text('Check in this browser')");
  await page.waitForFunction(() => !document.querySelector("#verify-result").matches(":empty, [aria-busy]"));
  return page.locator("#verify-result").innerText();
}

// Each value in a document, as a path, with a document in which it is another one.
function* changed(value, way = []) {
  if (typeof value === "string") yield [way, value.replace(/[a-z0-9]/i, (it) => (it === "7" ? "8" : "7"))];
  else if (typeof value === "number") yield [way, value + 1];
  else if (typeof value === "boolean") yield [way, !value];
  else if (value === null) yield [way, 0];
  else for (const [key, inner] of Object.entries(value)) yield* changed(inner, [...way, key]);
}

function replaced(value, [key, ...rest], by) {
  if (key === undefined) return by;
  const copy = Array.isArray(value) ? [...value] : { ...value };
  copy[key] = replaced(value[key], rest, by);
  return copy;
}

// No receipt with another value anywhere is verified; in its content, also not in any value of the record.
async function refusals(page, fail) {
  const [text, key] = [read("receipt.json"), read("log.key")];
  const receipt = JSON.parse(text);
  let seen = 0;
  const refused = async (what, other) => {
    seen += 1;
    const says = await check(page, { text: JSON.stringify(other), key });
    if (/^verified:/im.test(says) || !/failed|Nothing was checked/.test(says)) fail(`changed ${what}: ${says.slice(0, 200)}`);
  };
  for (const [way, by] of changed(receipt)) await refused(way.join("."), replaced(receipt, way, by));
  const record = JSON.parse(receipt.content);
  for (const [way, by] of changed(record)) {
    await refused(`content ${way.join(".")}`, { ...receipt, content: JSON.stringify(replaced(record, way, by)) });
  }
  for (const name of Object.keys(receipt)) {
    const { [name]: _, ...other } = receipt;
    await refused(`without ${name}`, other);
  }
  if (seen < 60) fail(`only ${seen} changes were tried`);
  console.log(`${seen} changed receipts are refused`);
}

// The page /verify: a good receipt, without its key, with a wrong one, and no receipt.
async function form(tab, { open, look, fail, address }, isFirst) {
  const { page } = tab;
  await open(tab, "check", "/verify");
  const good = { text: read("receipt.json"), key: read("log.key") };
  const says = await check(page, good);
  if (!/^Verified:/.test(says) || !says.includes("The key is the one that you gave.")) fail(tab.state.at, `a good receipt: ${says}`);
  for (const name of ["signature", "inclusion", "content", "sources", "scorecard", "score"]) {
    const row = page.locator(`#verify-result tr:has(th span:text-is("${name}"))`);
    if (!(await row.innerText()).includes("✓ verified")) fail(tab.state.at, `${name} is not verified`);
  }
  await look(tab, "check-verified");
  const unsigned = await check(page, { ...good, key: "" });
  if (!/^Consistent, not verified:/.test(unsigned) || !unsigned.includes("anyone may have signed")) fail(tab.state.at, `no key: ${unsigned}`);
  const failed = await check(page, { ...good, text: good.text.replace('"index":', '"index":1') });
  if (!/^Verification failed:/.test(failed)) fail(tab.state.at, `another index: ${failed}`);
  await look(tab, "check-failed");
  const alone = await check(page, { ...good, text: JSON.parse(good.text).content });
  if (!/^Consistent, not verified:/.test(alone) || !alone.includes("no one has signed it")) fail(tab.state.at, `a record alone: ${alone}`);
  const wrong = await check(page, { ...good, key: "no key" });
  if (!wrong.startsWith("Nothing was checked")) fail(tab.state.at, `a wrong key: ${wrong}`);
  await page.click("text=Use the key of this server");
  if ((await page.inputValue("input[name=key]")) !== (await page.getAttribute("button[data-key]", "data-key"))) fail(tab.state.at, "no key");
  if (isFirst) await refusals(page, (what) => fail(tab.state.at, what));
  await page.goto(`${address}/verify`);
}

// The button on the page of a record.
async function button(tab, name, { look, fail }) {
  tab.state.at = `${name} (${tab.view.name})`;
  await tab.page.click("text=Check in this browser");
  await tab.page.waitForSelector("#verify-result table");
  const says = await tab.page.innerText("#verify-result");
  if (says.includes("`submission.schema`")) {
    // The module has no JSON Schema, and says so.
    if (!/^Consistent, not verified:/.test(says)) fail(tab.state.at, says);
    return;
  }
  if (!/^Verified:/.test(says) || !says.includes("proves nothing about this server")) fail(tab.state.at, says);
  if ((says.match(/✓ verified/g) ?? []).length !== 7) fail(tab.state.at, `not each check: ${says}`);
  await look(tab, name);
}

// Weights that move ask no one, and give what the server gives for the same values.
async function weights(tab, card, { look, fail, address }) {
  const { page, state } = tab;
  state.at = `what-if ${card} (${tab.view.name})`;
  await page.goto(`${address}/scorecards/${card}/what-if`);
  const slider = page.locator(".weights-form input[type=range]").first();
  const before = await page.locator("#what-if-result").innerText();
  const loaded = page.waitForResponse((response) => response.url().endsWith("/what-if/given"));
  await slider.focus();
  await loaded;
  const moved = async (keys) => {
    for (const key of keys) await slider.press(key);
    await page.waitForFunction(() => !document.querySelector("#what-if-result[aria-busy]"));
    return page.locator("#what-if-result").innerText();
  };
  await moved(["ArrowRight"]);
  // Chromium asks for the icon again whenever the address changes.
  let asked = 0;
  await page.route("**/*", (route) => (route.request().url().includes("/static/icon-") ? route.continue() : ((asked += 1), route.abort())));
  const shown = [];
  for (const keys of [["Home"], ["End"], Array(40).fill("ArrowLeft"), Array(7).fill("PageDown")]) {
    const says = await moved(keys);
    shown.push([page.url(), says]);
  }
  await page.unroute("**/*");
  if (asked > 0) fail(state.at, `${asked} requests while a weight moved`);
  if (shown.every(([, says]) => says === before)) fail(state.at, "a weight that moves changes nothing");
  await look(tab, "what-if");
  for (const [url, says] of shown) {
    if (!url.includes("w.")) fail(state.at, "the address does not say the weights");
    await page.goto(url);
    const server = await page.locator("#what-if-result").innerText();
    if (server !== says) fail(state.at, `the server says otherwise for ${url}:\n${server}\n---\n${says}`);
  }
}

// `karat verify --html`: opened from disk, without network.
async function offline(browser, view, { look, fail, folder, program }) {
  const file = path.join(folder, "offline.html");
  const receipt = path.join(examples, "receipt.json");
  execFileSync(program, ["verify", receipt, "--key", path.join(examples, "log.key"), "--html", file], { stdio: "pipe" });
  const context = await browser.newContext({ colorScheme: view.colorScheme, viewport: view.viewport, offline: true });
  const page = await context.newPage();
  const tab = { context, page, view, state: { at: `offline (${view.name})`, status: 200 } };
  page.on("console", (message) => message.type() === "error" && fail(tab.state.at, `console: ${message.text()}`));
  page.on("pageerror", (error) => fail(tab.state.at, `script: ${error.message}`));
  page.on("request", (request) => request.url().startsWith("file:") || fail(tab.state.at, `asks for ${request.url().slice(0, 80)}`));
  await page.goto(`file://${file}`);
  await page.waitForSelector("#verify-given table");
  const given = await page.innerText("#verify-given");
  if (!/^Verified:/.test(given) || !given.includes("The key came with this file")) fail(tab.state.at, given);
  const bad = await check(page, { text: read("receipt.json").replace('"index":', '"index":1'), key: read("log.key") });
  if (!bad.startsWith("Verification failed")) fail(tab.state.at, bad);
  await look(tab, "offline");
  await context.close();
}

// Without scripts the pages say how to check, and a weight is a form.
async function unscripted(browser, view, card, { look, fail, address }) {
  const context = await browser.newContext({ javaScriptEnabled: false, colorScheme: view.colorScheme, viewport: view.viewport });
  const page = await context.newPage();
  await page.goto(`${address}/verify`);
  if (!(await page.locator("text=karat verify receipt.json").isVisible())) fail("without scripts", "nothing says how to check");
  if (await page.locator("form[data-verify]").isVisible()) fail("without scripts", "a form that does nothing");
  await page.goto(`${address}/scorecards/${card}/what-if`);
  await page.locator(".weights-form input").first().fill("0");
  await page.click("button:has-text('Show')");
  if (!page.url().includes("w.")) fail("without scripts", "the form of weights does nothing");
  await context.close();
}

module.exports = { form, button, weights, offline, unscripted };
