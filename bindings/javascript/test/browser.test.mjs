import assert from "node:assert/strict";
import { after, test } from "node:test";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { browser, serve } from "./support/browser.mjs";
import { bin, folder, installed, run } from "./support/project.mjs";

const chromium = await browser();
const needed = chromium === null ? { skip: "there is no /usr/bin/chromium, nor one at KARAT_CHROMIUM" } : {};
const { project } = installed();
after(async () => {
  await chromium?.close();
  rmSync(project, { recursive: true, force: true });
});

const example = (path) => readFileSync(join(folder, "../../examples", path), "utf8");
const STRICT = "default-src 'none'; script-src 'self'; connect-src 'self'";
const WASM = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'; style-src 'unsafe-inline'";
const BODY = `
const said = (text) => { document.title = text; };
try {
  const engine = await Engine.load("workflow");
  const item = await (await fetch("./item.json")).text();
  const receipt = await (await fetch("./receipt.json")).text();
  const key = await (await fetch("./log.key")).text();
  const checks = await verifyReceipt(receipt, { key });
  const forged = await verifyReceipt(receipt.replace("0.84", "0.94"), { key });
  said(JSON.stringify([engine.number(item), engine.score(item).text, scoreToResult(823), checks.map(({ outcome }) => outcome), forged.map(({ outcome }) => outcome)]));
} catch (error) {
  said(JSON.stringify([error.name, error.code, error.hints, error.message]));
}
`;
const IMPORT = (from) => `import { Engine, scoreToResult, verifyReceipt } from ${JSON.stringify(from)};`;
writeFileSync(join(project, "item.json"), example("workflow/worked-example.json"));
writeFileSync(join(project, "receipt.json"), example("receipt/receipt.json"));
writeFileSync(join(project, "log.key"), example("receipt/log.key"));
const page = (name, script) => {
  writeFileSync(join(project, `${name}.js`), script);
  writeFileSync(join(project, `${name}.html`), `<!doctype html><title></title><script type="module" src="${name}.js"></script>`);
};

/** Opens a page and returns what it says; any error on it fails. */
async function opened(address, path, isOver = () => document.title !== "", allowed = /^$/) {
  const errors = [];
  const tab = await chromium.newPage();
  tab.on("pageerror", (error) => errors.push(String(error)));
  tab.on("console", (message) => message.type() === "error" && !allowed.test(message.text()) && errors.push(message.text()));
  await tab.goto(`${address}/${path}`);
  await tab.waitForFunction(isOver, null, { timeout: 60_000 }).catch((error) => assert.fail(`${error.message}\n${errors.join("\n")}`));
  const title = await tab.title();
  await tab.close();
  assert.deepEqual(errors, []);
  return JSON.parse(title);
}

function holds([number, text, result, checks, forged]) {
  assert.deepEqual([number, result], [0.84, "win"]);
  assert.deepEqual(checks, ["verified", "verified", "verified", "verified"]);
  assert.deepEqual(forged, ["verified", "verified", "failed", "verified"]);
  assert.equal(text, JSON.parse(example("receipt/receipt.json")).content, "the bytes that the log has, out of the browser");
}

test("a plain page, from the files as they are installed", needed, async () => {
  page("plain", IMPORT("./node_modules/karat/dist/index.js") + BODY);
  const server = await serve(project, () => WASM);
  holds(await opened(server.address, "plain.html"));
  const modules = server.asked.filter((path) => path.endsWith(".wasm")).sort();
  assert.deepEqual(modules, ["/node_modules/karat/dist/engine.wasm", "/node_modules/karat/dist/receipts.wasm"], "each once, and what is not used not at all");
  server.close();
});

test("a bundle, with the modules beside it or where `init` says", needed, async () => {
  writeFileSync(join(project, "source.mjs"), `${IMPORT("karat")}${BODY}`);
  run(bin("esbuild"), ["source.mjs", "--bundle", "--minify", "--format=esm", "--platform=browser", "--log-level=warning", "--outfile=beside.js"], { cwd: project });
  page("beside", readFileSync(join(project, "beside.js"), "utf8"));
  for (const name of ["engine", "receipts"]) copyFileSync(join(folder, "dist", `${name}.wasm`), join(project, `${name}.wasm`));
  mkdirSync(join(project, "assets"), { recursive: true });
  for (const name of ["engine", "receipts"]) copyFileSync(join(folder, "dist", `${name}.wasm`), join(project, "assets", `${name}-1.bin`));
  writeFileSync(join(project, "source.mjs"), `${IMPORT("karat")} import { init } from "karat"; init({ engine: new URL("assets/engine-1.bin", location.href), receipts: await fetch("assets/receipts-1.bin") });${BODY}`);
  run(bin("esbuild"), ["source.mjs", "--bundle", "--format=esm", "--platform=browser", "--log-level=warning", "--outfile=told.js"], { cwd: project });
  page("told", readFileSync(join(project, "told.js"), "utf8"));
  const server = await serve(project, () => WASM);
  holds(await opened(server.address, "beside.html"));
  const before = server.asked.length;
  holds(await opened(server.address, "told.html"));
  assert.deepEqual(server.asked.slice(before).filter((path) => path.endsWith(".wasm")), []);
  server.close();
});

test("a policy that forbids WebAssembly, and a module that is not there, are errors that say so", needed, async () => {
  page("strict", IMPORT("./node_modules/karat/dist/index.js") + BODY);
  const server = await serve(project, () => STRICT);
  const [name, code, hints, message] = await opened(server.address, "strict.html", undefined, /WebAssembly|wasm/i);
  assert.deepEqual([name, code], ["KaratError", "module"]);
  assert.match(message, /unsafe-eval|Content Security Policy/);
  assert.match(hints.join(), /engine\.wasm.*wasm-unsafe-eval/);
  server.close();
  page("gone", `${IMPORT("./node_modules/karat/dist/index.js")} import { init } from "./node_modules/karat/dist/index.js"; init({ engine: "/nowhere.wasm" });${BODY}`);
  const other = await serve(project, () => WASM);
  const gone = await opened(other.address, "gone.html", undefined, /404/);
  assert.equal(gone[1], "module");
  assert.match(gone[3], /nowhere\.wasm answers 404/);
  other.close();
});

test("ten thousand traces in a worker, and the page stays responsive", needed, async () => {
  const server = await serve(folder, () => WASM);
  const tab = await chromium.newPage();
  await tab.goto(`${server.address}/examples/worker/index.html`);
  await tab.click("#start");
  await tab.fill("input", "written meanwhile");
  await tab.waitForFunction(() => document.body.dataset.scored !== undefined || document.body.dataset.failed !== undefined, null, { timeout: 240_000 });
  const { failed, scored, compared, gap } = await tab.evaluate(() => ({ ...document.body.dataset }));
  console.log(await tab.textContent("#says"));
  await tab.close();
  server.close();
  assert.equal(failed, undefined);
  assert.deepEqual([scored, compared], ["10000", "1000"]);
  assert.ok(Number(gap) <= 200, `${gap} ms between two frames`);
});
