import assert from "node:assert/strict";
import { after, test } from "node:test";
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bin, copy, folder, installed, run, runtimes } from "./support/project.mjs";

const { project, packed } = installed("@clawdiators/shared", "@knowledgepulse/sdk");
after(() => rmSync(project, { recursive: true, force: true }));
const write = (name, text) => writeFileSync(join(project, name), text);
const wasm = join(project, "node_modules", "karat", "dist");

const FIRST = `
const engine = await Engine.load("workflow");
const item = ${readFileSync(join(folder, "../../examples/workflow/worked-example.json"), "utf8")};
console.log(JSON.stringify([engine.number(item), scoreToResult(823), (await evaluateValue(${readFileSync(join(folder, "../../examples/trace/finance-document.json"), "utf8")})), compositeScore({ dimensions: { accuracy: 0.9 } }).score]));
`;
const NAMES = "Engine, compositeScore, evaluateValue, scoreToResult";
const TOLD = [0.84, "win", 0.724, 900];

test("the archive has what runs, its types, and nothing else", () => {
  const names = packed.files.map(({ path }) => path);
  for (const name of ["README.md", "package.json", "dist/index.js", "dist/index.d.ts", "dist/engine.wasm", "dist/answers.wasm", "dist/receipts.wasm"]) {
    assert.ok(names.includes(name), name);
  }
  assert.deepEqual(names.filter((name) => !/^(dist\/\w+\.(js|d\.ts|wasm)|package\.json|README\.md|LICENSE.*)$/.test(name)), []);
  const { dependencies, scripts } = JSON.parse(readFileSync(join(project, "node_modules", "karat", "package.json"), "utf8"));
  assert.equal(dependencies, undefined);
  assert.deepEqual(Object.keys(scripts).filter((name) => /install|prepare/.test(name)), []);
});

test("the documents' snippets compile as pasted, and give what the documents say", () => {
  copy("test/documents", project);
  run(bin("tsc"), ["--project", "."], { cwd: project });
  const lines = run("node", ["out/main.js"], { cwd: project }).trim().split("\n");
  const told = JSON.parse(lines.at(-1));
  // Arena: the four dimensions in the order of the weights, with the other description.
  assert.deepEqual(told.dimensions.map(({ key, weight }) => [key, weight]), [["correctness", 0.4], ["methodology", 0.25], ["speed", 0.15], ["completeness", 0.2]]);
  assert.equal(told.dimensions[0].description, "Override description for this challenge");
  assert.deepEqual(told.dimensions.map(({ label, color }) => [label, color]), [["Correctness", "emerald"], ["Methodology", "purple"], ["Speed", "sky"], ["Completeness", "gold"]]);
  // Traces: a number between 0 and 1, by the profile of the domain, novelty 0.5 without an embedder.
  assert.equal(lines[0], String(told.score));
  assert.ok(told.score >= 0 && told.score <= 1);
  assert.ok(Math.abs(told.score - 0.78) < 0.1, "the document's example is e.g. 0.78");
  assert.deepEqual(told.profile, { asked: "finance", fallback: false, name: "finance" });
  assert.equal(told.novelty, "no_embedder");
  assert.equal(told.score, told.overridden, "the three conditions, as printed, change it alike");
  assert.deepEqual(told.cache, [1000, 384, 3_600_000, 0]);
  assert.deepEqual(told.weights, { complexity: 0.2, novelty: 0.25, toolDiversity: 0.1, outcomeConfidence: 0.45 });
  // The order of the document's example: medical, finance, customer service, default, code.
  const ranked = Object.entries(told.scores).sort(([, a], [, b]) => b - a).map(([domain]) => domain);
  assert.equal(ranked[0], "medical");
  assert.ok(told.scores.medical > told.scores.finance && told.scores.finance > told.scores.default && told.scores.finance > told.scores.code);
  assert.deepEqual(lines.slice(1, 6), Object.entries(told.scores).map(([domain, score]) => `${domain}: ${score.toFixed(3)}`));
  // Trust: the guard does not throw, and the weights in force are the document's.
  assert.equal(told.isSame, true);
  assert.equal(Object.keys(told.effective).length, 16);
  // Workflow: three of four steps.
  assert.deepEqual(told.partial, { score: 0.745, success: 0.75, cost: 0.8, latency: 0.8, reliability: 0.5 });
  assert.deepEqual(told.window, [100, 0.745]);
});

test("each snippet of the guide and of the README compiles, and prints what it says", () => {
  const pages = [join(folder, "../../docs/guide/typescript.md"), join(folder, "README.md")];
  const snippets = pages.flatMap((page) => readFileSync(page, "utf8").split("```ts\n").slice(1).map((rest) => rest.split("```")[0]));
  assert.ok(snippets.length >= 9, String(snippets.length));
  snippets.forEach((snippet, at) => write(`guide-${at}.ts`, snippet));
  const names = snippets.map((_, at) => `guide-${at}.ts`);
  // As the guide says: the types of Node, and the examples of a checkout.
  const types = ["--types", "node", "--typeRoots", join(folder, "node_modules", "@types")];
  run(bin("tsc"), ["--strict", "--module", "nodenext", "--outDir", "guide", ...types, "--skipLibCheck", "false", "--ignoreConfig", ...names], { cwd: project });
  cpSync(join(folder, "..", "..", "examples"), join(project, "examples"), { recursive: true });
  snippets.forEach((snippet, at) => {
    const said = [...snippet.matchAll(/console\.log\(.*; \/\/ (.*)/g)].map(([, said]) => said);
    assert.ok(said.length > 0, snippet);
    assert.deepEqual(run("node", [`guide/guide-${at}.js`], { cwd: project }).trim().split("\n"), said, snippet);
  });
});

test("types hold under the settings of others", () => {
  write("types.ts", `import { Engine, type ScoreRecord, verifyReceipt, type Check } from "karat";
import { VectorCache } from "karat/trace";
import { dims, type ScoringDimension } from "karat/arena";
import { compositeScore, type TrustScore } from "karat/trust";
import { RollingWindow } from "karat/workflow";
import { verifyRecord } from "karat/verify";
export async function all(): Promise<[ScoreRecord, Check[], ScoringDimension[], TrustScore, unknown]> {
  const engine: Engine = await Engine.load("trust@1.0.0", { asOf: new Date() });
  new VectorCache({ maxElements: 1 }).add([1]);
  new RollingWindow(5).add(1);
  // @ts-expect-error: weights are numbers
  dims({ correctness: "0.5" });
  // @ts-expect-error: no such dimension
  compositeScore({ dimensions: { acuracy: 0.5 } });
  return [engine.score({}), await verifyReceipt("", { key: "" }), dims({ correctness: 0.5, speed: 0.5 }), compositeScore({ dimensions: {} }), await verifyRecord("")];
}
`);
  for (const settings of [["--module", "nodenext"], ["--module", "esnext", "--moduleResolution", "bundler"], ["--module", "nodenext", "--target", "es2020", "--lib", "es2020,dom"], ["--module", "nodenext", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"]]) {
    run(bin("tsc"), ["--strict", "--noEmit", "--types", "", "--skipLibCheck", "false", "--ignoreConfig", ...settings, "types.ts"], { cwd: project });
  }
});

test("as module and by require in plain Node", () => {
  write("first.mjs", `import { ${NAMES} } from "karat";${FIRST}`);
  assert.deepEqual(JSON.parse(run("node", ["first.mjs"], { cwd: project })), TOLD);
  write("first.cjs", `const { ${NAMES} } = require("karat"); const { dims } = require("karat/arena");
(async () => { dims({ speed: 0.5, analysis: 0.5 }); ${FIRST} })();`);
  assert.deepEqual(JSON.parse(run("node", ["--no-warnings", "first.cjs"], { cwd: project })), TOLD);
  write("elsewhere.mjs", `import { readFileSync } from "node:fs"; import { ${NAMES}, init } from "karat";
init({ engine: readFileSync(${JSON.stringify(join(wasm, "engine.wasm"))}) });${FIRST}`);
  assert.deepEqual(JSON.parse(run("node", ["elsewhere.mjs"], { cwd: project })), TOLD);
  write("gone.mjs", `import { Engine, init } from "karat"; init({ engine: "/nowhere/engine.wasm" });
const error = await Engine.load("trust").catch((error) => error); console.log(JSON.stringify([error.code, error.hint]));
init({ engine: ${JSON.stringify(join(wasm, "engine.wasm"))} }); await Engine.load("trust");`);
  const [code, hint] = JSON.parse(run("node", ["gone.mjs"], { cwd: project }));
  assert.equal(code, "module");
  assert.match(hint, /karat\/engine\.wasm/);
  write("resolve.mjs", `console.log(import.meta.resolve("karat/engine.wasm").endsWith("/dist/engine.wasm"))`);
  assert.equal(run("node", ["resolve.mjs"], { cwd: project }), "true\n");
});

test("what is synchronous loads no module", () => {
  write("sync.mjs", `import { dims } from "karat/arena"; import { compositeScore } from "karat/trust"; import { VectorCache } from "karat/trace"; import "karat/workflow";
WebAssembly.compile = () => { throw new Error("compiled"); };
dims({ correctness: 0.5, speed: 0.5 }); compositeScore({ dimensions: { accuracy: 1 } }); new VectorCache().size; console.log("ok");`);
  assert.equal(run("node", ["sync.mjs"], { cwd: project }), "ok\n");
});

test("bundled for Node and for browsers", () => {
  mkdirSync(join(project, "bundle"), { recursive: true });
  const bundle = (...more) => run(bin("esbuild"), ["first.mjs", "--bundle", "--log-level=warning", ...more], { cwd: project });
  bundle("--platform=node", "--format=esm", "--outfile=bundle/node.mjs");
  copyFileSync(join(wasm, "engine.wasm"), join(project, "bundle", "engine.wasm"));
  assert.deepEqual(JSON.parse(run("node", ["bundle/node.mjs"], { cwd: project })), TOLD);
  bundle("--platform=browser", "--format=esm", "--outfile=bundle/browser.mjs");
  assert.doesNotMatch(readFileSync(join(project, "bundle", "browser.mjs"), "utf8"), /from "node:|require\(/);
  // What a page does with traces alone needs no other part: it is left out.
  write("small.mjs", `import { scoreToResult } from "karat"; console.log(scoreToResult(823));`);
  const small = run(bin("esbuild"), ["small.mjs", "--bundle", "--minify", "--platform=browser", "--format=esm"], { cwd: project });
  assert.ok(small.length < 12_000, `${small.length} bytes for one function`);
});

test("Deno and Bun", (context) => {
  const found = runtimes();
  for (const [name, parameters] of [["deno", ["run", "--quiet", "--no-prompt", "--allow-read", "--node-modules-dir=manual", "first.mjs"]], ["bun", ["first.mjs"]]]) {
    if (found[name] === null) context.diagnostic(`${name} cannot be had here: not tried`);
    else assert.deepEqual(JSON.parse(run(found[name], parameters, { cwd: project })), TOLD, name);
  }
});
