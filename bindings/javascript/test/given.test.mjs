// What callers get wrong: every export refuses it with an error of the package, which says what to do.

import assert from "node:assert/strict";
import test from "node:test";
import { readFileSync } from "node:fs";
import * as karat from "../dist/index.js";
import { Loader } from "../dist/module.js";

const { Engine, KaratError } = karat;
const at = (path) => readFileSync(new URL(`../../../examples/${path}`, import.meta.url), "utf8");
const card = at("cards/task-run.toml");
const csv = at("leaderboard/runs.csv");
const weights = karat.dims({ correctness: 0.5, speed: 0.5 });

/** Returns the error of a call, now or later; undefined if there is none. */
async function failure(call) {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error;
  }
}

test("no argument of another type is a raw error", async () => {
  const wrong = [undefined, null, 5, NaN, "x", "", true, [], [null], {}, { a: null }, { score: "x" }, () => 1, Symbol("x"), 10n, weights, new Map(), new Date(NaN)];
  const functions = Object.entries(karat).filter(([name, it]) => typeof it === "function" && name !== "KaratError");
  functions.push(["Engine.load", (...given) => Engine.load(...given)], ["Engine.observing", (...given) => Engine.observing(...given)]);
  assert.ok(functions.length > 30, String(functions.length));
  let refused = 0;
  for (const [name, call] of functions) {
    const isClass = /^class/.test(String(call));
    for (const first of wrong) {
      for (const more of [[], ...wrong.map((second) => [second])]) {
        const error = await failure(() => (isClass ? new call(first, ...more) : call(first, ...more)));
        assert.ok(error === undefined || error instanceof KaratError, `${name}: ${error?.stack}`);
        if (error !== undefined) refused += 1;
        assert.notEqual(error?.code, "internal", name);
      }
    }
    const error = await failure(() => (isClass ? new call() : call()));
    assert.ok(error === undefined || error instanceof KaratError, `${name}(): ${error?.stack}`);
  }
  assert.ok(refused > 5_000, String(refused));
  karat.setEmbedder(null);
});

test("what is wrong is named, with what to do", async () => {
  const engine = await Engine.load(card);
  const record = engine.score({ subject: "a", solved: 1 });
  const read = /await readFile\(path, "utf8"\)/;
  const cases = [
    // A name of a file, where its text is meant.
    [() => Engine.load("/cards/task-run.toml"), "card", read],
    [() => Engine.load("trsut"), undefined, /did you mean `trust`\?\n.*\n.*await readFile/],
    [() => karat.verifyRecord(record.text, { card: "task-run.toml" }), "options.card", read],
    [() => karat.verifyReceipt("receipt.json"), "$", read],
    [() => karat.verifyRecord("record.json"), "$", read],
    [() => karat.leaderboard("runs.csv", { card }), "items", read],
    [() => karat.leaderboard(csv, { card: "task-run.toml" }), "settings.card", read],
    [() => engine.score("item.json"), "$", read],
    // Something else in place of a text.
    [() => Engine.load(), "card", /found nothing, expected the name of a released scorecard, or the text of one/],
    [() => Engine.load({ id: "x" }), "card", read],
    [() => Engine.load(Buffer.from(card)), "card", read],
    [() => karat.leaderboard(csv, { card }), "items", /\{ "runs\.csv": text \}/],
    [() => karat.leaderboard({ "runs.csv": Buffer.from(csv) }, { card }), 'items["runs.csv"]', /"utf8"/],
    [() => new Engine("trust"), "$", /await Engine\.load/],
    [() => karat.setEmbedder("minilm"), "embed", /a function of a text/],
    [() => karat.leaderboard([record]), "$[0]", /a `ScoreRecord`.*value\.document/],
    // Arguments in another order, or none.
    [() => karat.scoreBreakdown(weights), "$", /an array, expected the arguments \(dimensions, scores\)/],
    [() => karat.scoreBreakdown({ speed: 1 }, weights), "$", /an object, an array, expected/],
    [() => karat.workflowScore(), "$", /nothing, expected the arguments \(run\)/],
    [() => karat.compare({ "runs.csv": csv }, { card, first: "heron" }), "settings.second", /`compare` needs/],
    [() => karat.gate({ "runs.csv": csv }), "settings.card", /settings\.gate/],
    [() => karat.leaderboard({ "runs.csv": csv }), undefined, /needs a scorecard\n.*: card workflow/],
    // A member that nothing reads.
    [() => Engine.load(card, { asof: "2026-01-01T00:00:00Z" }), "options.asof", /one of asOf, subjectField/],
    [() => Engine.load("trace", { cache: { ttlms: 5 } }), "options.cache.ttlms", /ttlMs/],
    [() => karat.resetEvaluation({ ttlms: 5 }), "options.cache.ttlms", /ttlMs/],
    [() => karat.verifyReceipt(at("receipt/receipt.json"), at("receipt/log.key")), "options", /an object with any of key/],
    [() => karat.init({ engin: "x" }), "sources.engin", /one of engine, answers, receipts/],
    [() => karat.scoreBreakdown(weights, { corectness: 900, speed: 780 }), "$.scores.corectness", /did you mean `correctness`\?/],
  ];
  for (const [call, path, found] of cases) {
    const error = await failure(call);
    assert.ok(error instanceof KaratError, `${call}: ${error?.stack}`);
    assert.match(error.message, found, String(call));
    assert.equal(error.path, path, String(call));
    assert.ok(error.hints.every((hint) => error.message.includes(hint)), "what is printed says what to do");
    assert.doesNotMatch(error.message, /--[a-z]/, "no flags of the command line");
  }
  // Two changed places, one missing, one too many; but what is weighed elsewhere, or has its dimension beside it, is none of it.
  for (const key of ["corrcetness", "correctnes", "correctnesss"]) assert.throws(() => karat.scoreBreakdown(weights, { [key]: 1 }), KaratError, key);
  for (const more of [{ analysis: 9 }, { unlisted: 9 }, { correctness: 1, corectness: 9 }]) karat.scoreBreakdown(weights, { speed: 1, ...more });
});

test("a record is verified as it was returned", async () => {
  const record = (await Engine.load("workflow")).score(at("workflow/worked-example.json"));
  assert.deepEqual(await karat.verifyRecord(record), await karat.verifyRecord(record.text));
});

test("everything that JSON cannot hold is told at once, up to twenty", async () => {
  const cycle = {};
  cycle.self = cycle;
  const error = await failure(async () => (await Engine.load(card)).score({ solved: NaN, cost_usd: Infinity, cycle, list: [1, , undefined], seconds: 5n, when: new Date(0) }));
  assert.deepEqual(error.problems.map(({ path }) => path), ["$.solved", "$.cost_usd", "$.cycle.self", "$.list[1]", "$.seconds", "$.when"]);
  assert.equal(error.message.split("\n").length, 6);
  const many = await failure(async () => (await Engine.load(card)).score(new Array(1e6).fill(NaN)));
  assert.equal(many.problems.length, 20);
});

test("a module that is not there, or is another one, is refused; one that is loaded stays", async () => {
  const file = (name) => new URL(`../dist/${name}`, import.meta.url);
  const loader = (source) => new Loader("engine.wasm", "open", () => source);
  const other = await failure(() => loader(readFileSync(file("receipts.wasm"))).load());
  assert.deepEqual([other.code, /this is another module/.test(other.message)], ["module", true]);
  const missing = await failure(() => loader("/nowhere/engine.wasm").load());
  assert.match(missing.message, /ENOENT[^]*copy the file/);
  const unreachable = await failure(() => loader("http://127.0.0.1:9/engine.wasm").load());
  assert.match(unreachable.message, /fetch failed: .*(bad port|ECONNREFUSED)/);
  const loaded = loader(file("engine.wasm"));
  loaded.from(file("engine.wasm"));
  await loaded.load();
  loaded.from(file("engine.wasm"));
  assert.match((await failure(() => loaded.from("elsewhere.wasm"))).message, /is loaded already\n {2}call `init` before/);
});

test("flags of the command line are settings here, and values stay as they are", () => {
  const of = (code, message, hints) => KaratError.of(JSON.stringify({ code, message, hints })).message;
  assert.equal(of("invalid-option", "`--by official` is refused", ["leave out --min-tasks, or --by"]), "`by official` is refused\n  leave out min_tasks, or by");
  assert.equal(of("invalid-option", "x", ["restore it: karat check --update-baseline"]), "x\n  restore it: karat check --update-baseline");
  assert.equal(of("evidence-refused", "found `--by`, expected a number", ["a:1: found --where"]), "found `--by`, expected a number\n  a:1: found --where");
  assert.equal(of("invalid-option", "a--by", []), "a--by");
});
