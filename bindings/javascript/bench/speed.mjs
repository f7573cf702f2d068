// How fast the package is, beside the same formula by hand: node --expose-gc bench/speed.mjs [SECONDS]
//
// Start-up is measured in fresh processes, the rest in this one. Figures of a busy machine say little.

import { execFileSync } from "node:child_process";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { Engine, workflowScore } from "../dist/index.js";

if (process.argv[2] === "start") {
  const began = performance.now();
  const { init } = await import("../dist/module.js");
  const { readFileSync } = await import("node:fs");
  const module = await WebAssembly.compile(readFileSync(new URL("../dist/engine.wasm", import.meta.url)));
  const compiled = performance.now();
  new WebAssembly.Instance(module, {});
  const instantiated = performance.now();
  init({ engine: module });
  const engine = await Engine.load("workflow");
  const loaded = performance.now();
  engine.score(item(0));
  const scored = performance.now();
  console.log(JSON.stringify([compiled - began, instantiated - compiled, loaded - instantiated, scored - loaded, scored - began]));
  process.exit(0);
}

/** A run with the facts of the formula, and a name: what a program has in its hands. */
function item(at) {
  return {
    run_id: `run-${at}`,
    miner_uid: 17,
    task: { task_id: "rag-012", constraints: { max_budget_tao: 0.05, max_latency_seconds: 10 } },
    output_quality: 0.875 + (at % 100) / 1000,
    result: { steps_completed: 3, total_steps: 3, actual_cost: 0.0072, actual_latency: 4.1, retries: {}, timeouts: 0, hard_failures: 0 },
  };
}

/** The document's formula, as one writes it by hand. */
function byHand({ output_quality, task: { constraints }, result }) {
  const success = output_quality * (result.steps_completed / result.total_steps);
  const isGood = success > 0.7;
  const cost = isGood ? Math.max(0, 1 - result.actual_cost / constraints.max_budget_tao) : 0;
  const latency = isGood ? Math.max(0, 1 - result.actual_latency / constraints.max_latency_seconds) : 0;
  let retries = 0;
  for (const step in result.retries) retries += result.retries[step];
  const reliability = Math.min(1, Math.max(0, 1 - (retries * 0.1 + result.timeouts * 0.2 + result.hard_failures * 0.5)));
  return 0.5 * success + 0.25 * cost + 0.15 * latency + 0.1 * reliability;
}

const seconds = Number(process.argv[2] ?? 1);
const items = Array.from({ length: 1000 }, (_, at) => item(at));
const texts = items.map((item) => JSON.stringify(item));
const flat = items.map(({ output_quality: output_quality_score, task: { constraints }, result }) => ({
  output_quality_score, ...constraints, steps_completed: 3, total_steps_in_dag: 3, actual_tao: result.actual_cost, actual_seconds: result.actual_latency,
  actual_retries: 0, timeouts: 0, hard_failures: 0,
}));
const engine = await Engine.load("workflow");
let sink = 0;

/** Calls per second; the best of five, as other programs only ever slow it down. */
function perSecond(work) {
  let best = 0;
  for (let round = 0; round < 5; round += 1) {
    const began = performance.now();
    let [calls, passed] = [0, 0];
    while (passed < (seconds * 1000) / 5) {
      for (let at = 0; at < 1000; at += 1) sink += work(at);
      calls += 1000;
      passed = performance.now() - began;
    }
    best = Math.max(best, (calls * 1000) / passed);
  }
  return best;
}

const rows = [
  ["a number from an object", (at) => engine.number(items[at])],
  ["a number from a text", (at) => engine.number(texts[at])],
  ["a whole record from an object", (at) => engine.score(items[at]).text.length],
  ["a whole record, and read", (at) => engine.score(items[at]).score],
  ["the formula of karat/workflow, without the engine", (at) => workflowScore(flat[at]).score],
  ["the formula by hand, on an object", (at) => byHand(items[at])],
  ["the formula by hand, after JSON.parse", (at) => byHand(JSON.parse(texts[at]))],
  ["JSON.stringify alone", (at) => JSON.stringify(items[at]).length],
];
console.log("| what | per second |\n|---|---:|");
for (const [name, work] of rows) {
  perSecond(work);
  console.log(`| ${name} | ${Math.round(perSecond(work)).toLocaleString("en")} |`);
}

const starts = Array.from({ length: 7 }, () => JSON.parse(execFileSync(process.execPath, [fileURLToPath(import.meta.url), "start"], { encoding: "utf8" })));
const middle = (place) => starts.map((times) => times[place]).sort((a, b) => a - b)[3].toFixed(0);
console.log("\n| start in Node, middle of seven | ms |\n|---|---:|");
["read and compile", "instantiate", "open a scorecard", "first score", "all of it"].forEach((name, place) => console.log(`| ${name} | ${middle(place)} |`));

globalThis.gc?.();
const used = () => [process.memoryUsage().rss, process.memoryUsage().heapUsed, process.memoryUsage().external].map((bytes) => Math.round(bytes / 1e6));
for (let at = 0; at < 100_000; at += 1) sink += engine.number(items[at % 1000]);
globalThis.gc?.();
const before = used();
for (let at = 0; at < 1_000_000; at += 1) sink += engine.number(items[at % 1000]);
globalThis.gc?.();
const after = used();
console.log("\n| memory over a million calls, MB | before | after |\n|---|---:|---:|");
["resident", "heap", "outside the heap, with the module's"].forEach((name, at) => console.log(`| ${name} | ${before[at]} | ${after[at]} |`));
if (!(sink > 0)) process.exitCode = 1;
if (after[2] > before[2] + 2 || after[1] > before[1] + 5) {
  console.error("memory grows");
  process.exitCode = 1;
}
