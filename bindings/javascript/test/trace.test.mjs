import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { readFileSync } from "node:fs";
import { DOMAIN_WEIGHTS, KaratError, evaluate, evaluateValue, resetEvaluation, setEmbedder } from "../dist/index.js";
import * as trace from "../dist/trace.js";

const example = JSON.parse(readFileSync(new URL("../../../examples/trace/finance-document.json", import.meta.url), "utf8"));
const about = (objective, more = {}) => ({ ...example, id: `kp:trace:${objective}`, task: { objective }, ...more });
const inDomain = (task_domain) => ({ ...example, metadata: { ...example.metadata, task_domain } });
const noveltyOf = ({ document }) => [document.dimensions.find(({ key }) => key === "novelty").reading, document.grading.novelty.basis];
const novelty = async (value, options) => noveltyOf(await evaluate(value, options));

/** Directions by the first word of a text. */
const DIRECTIONS = { east: [1, 0], north: [0, 1], northeast: [0.6, 0.8], zero: [0, 0] };
const embed = async (text) => DIRECTIONS[text.split(/\s/)[0]] ?? [-1, -1];

beforeEach(async () => {
  setEmbedder(null);
  await resetEvaluation();
});

test("without an embedder novelty is 0.5, and the record says why", async () => {
  const record = await evaluate(example);
  assert.deepEqual(noveltyOf(record), [0.5, "no_embedder"]);
  const part = record.document.dimensions.find(({ key }) => key === "novelty");
  assert.equal(part.status, "missing");
  assert.ok(record.document.warnings.some(({ code }) => code === "default-used"));
  const score = await evaluateValue(example);
  assert.equal(typeof score, "number");
  // 0.20 x 0.425 + 0.25 x 0.5 + 0.10 x 1 + 0.45 x 0.92
  assert.equal(score, 0.724);
  assert.equal(record.score, score);
  assert.equal(await evaluateValue(example), score, "again, as nothing is compared");
  assert.deepEqual(Object.keys(trace).sort(), [
    "BUDGET_MS", "DOMAIN_WEIGHTS", "KP_CONTEXT", "VectorCache", "evaluate", "evaluateValue", "resetEvaluation", "setEmbedder",
  ]);
});

test("a cache with a time to live forgets a trace after it, to the millisecond", async () => {
  setEmbedder(embed, { model: "compass" });
  await resetEvaluation({ dimensions: 2, ttlMs: 1000, maxElements: 2 });
  assert.deepEqual(await novelty(about("east"), { now: 0 }), [0.5, "nothing_earlier"]);
  assert.deepEqual(await novelty(about("east"), { now: 999 }), [0, "compared"]);
  assert.deepEqual(await novelty(about("north"), { now: 1998 }), [1, "compared"]);
  assert.deepEqual(await novelty(about("east"), { now: 2998 }), [0.5, "nothing_earlier"]);
  await assert.rejects(resetEvaluation({ dimensions: 0 }).then(() => evaluate(example)), KaratError);
});

test("the first trace of a cache has 0.5, a new one approaches 1, a repeated one 0", async () => {
  setEmbedder(embed, { model: "compass" });
  const first = await evaluate(about("east"));
  assert.deepEqual(noveltyOf(first), [0.5, "nothing_earlier"]);
  assert.match(JSON.stringify(first.document.grading), /compass/);
  assert.deepEqual(await novelty(about("north")), [1, "compared"]);
  const again = await evaluate(about("east"));
  assert.deepEqual(noveltyOf(again), [0, "compared"]);
  assert.ok(again.score < first.score, "the same trace evaluated again is worth less");
  const [between] = await novelty(about("northeast"));
  assert.ok(between > 0.19 && between < 0.21, String(between));
  assert.deepEqual(await novelty(about("zero")), [0.5, "zero_vector"]);
  await resetEvaluation();
  assert.deepEqual(await novelty(about("east")), [0.5, "nothing_earlier"]);
});

test("time decides no score: an embedding is waited for, or the trace is refused", async () => {
  setEmbedder((text) => sleep(150, [text.length, 1]), { model: "slow" });
  assert.deepEqual(await novelty(example), [0.5, "nothing_earlier"], "beyond the 100 ms of the document");
  const late = { name: "KaratError", code: "budget_exceeded", message: /not embedded within 10 ms/ };
  setEmbedder((text) => sleep(5_000, [text.length, 1], { ref: false }), { budgetMs: 10 });
  const began = performance.now();
  await assert.rejects(evaluateValue(example), late);
  assert.ok(performance.now() - began < 2_000);
  setEmbedder((text) => sleep(60, [text.length, 1]).then(() => Promise.reject(new Error("late"))), { budgetMs: 10 });
  await assert.rejects(evaluateValue(example), late);
  await sleep(100);
  setEmbedder((text) => [text.length, 1], { budgetMs: 10 });
  assert.deepEqual(await novelty(example), [0, "compared"], "what was refused left nothing behind, what was scored did");
  assert.throws(() => setEmbedder(embed, { budgetMs: NaN }), { code: "invalid_value" });
  assert.throws(() => setEmbedder(embed, { budgetMs: -1 }), { code: "invalid_value" });
});

test("an embedder that fails is an error of that evaluation alone", async () => {
  setEmbedder(async () => Promise.reject(new TypeError("no model")));
  await assert.rejects(evaluateValue(example), { name: "TypeError", message: "no model" });
  setEmbedder(() => {
    throw new RangeError("at once");
  });
  await assert.rejects(evaluateValue(example), { name: "RangeError", message: "at once" });
  for (const vector of [[], [NaN, 1], null, undefined, "text"]) {
    setEmbedder(async () => vector);
    await assert.rejects(evaluateValue(example), KaratError, String(vector));
  }
  setEmbedder(embed);
  assert.deepEqual(await novelty(about("east")), [0.5, "nothing_earlier"]);
  setEmbedder(async () => [1, 2, 3]);
  await assert.rejects(evaluateValue(about("east")), (error) => error instanceof KaratError && /3/.test(error.message) && /2/.test(error.message));
  setEmbedder(null);
  assert.deepEqual(await novelty(about("east")), [0.5, "no_vector"], "a vector that was refused does not stay");
});

test("an embedder may answer at once, in 32 bits", async () => {
  setEmbedder((text) => new Float32Array(text.startsWith("east") ? [1, 0] : [0, 1]));
  assert.deepEqual(await novelty(about("east")), [0.5, "nothing_earlier"]);
  assert.deepEqual(await novelty(about("north")), [1, "compared"]);
});

test("a trace that is refused leaves nothing behind", async () => {
  setEmbedder(embed);
  await assert.rejects(evaluateValue({ ...about("east"), steps: [] }), (error) => error.code === "evidence-refused" && error.path === "$.steps");
  await assert.rejects(evaluateValue({ ...about("east"), outcome: { result_summary: "", confidence: NaN } }), { path: "$.outcome.confidence" });
  setEmbedder(null);
  assert.deepEqual(await novelty(about("east")), [0.5, "no_embedder"]);
  setEmbedder(embed);
  assert.deepEqual(await novelty(about("east")), [0.5, "nothing_earlier"]);
  for (const value of [null, undefined, 5, "{", []]) await assert.rejects(evaluateValue(value), KaratError);
});

test("a clock that steps back is taken to stand still", async () => {
  setEmbedder(embed);
  const hour = 3_600_000;
  assert.equal((await evaluate(about("east"), { now: 10 * hour })).document.as_of, "1970-01-01T10:00:00Z");
  const back = await evaluate(about("east"), { now: 9 * hour });
  assert.deepEqual([back.document.as_of, ...noveltyOf(back)], ["1970-01-01T10:00:00Z", 0, "compared"]);
  assert.deepEqual(await novelty(about("north"), { now: 13 * hour }), [1, "compared"], "nothing expires");
  for (const now of [NaN, Infinity, 1e300, 8.64e15]) await assert.rejects(evaluate(about("north"), { now }), KaratError, String(now));
  assert.deepEqual(await novelty(about("north"), { now: 13 * hour }), [0, "compared"], "a moment that is none moves nothing");
});

test("the oldest of a thousand goes", async () => {
  setEmbedder(embed);
  await evaluate(about("east"));
  for (let at = 0; at < 999; at += 1) await evaluate(about("north"));
  assert.deepEqual(await novelty(about("east")), [0, "compared"], "the thousandth is compared with the first");
  for (let at = 0; at < 1000; at += 1) await evaluate(about("north"));
  assert.deepEqual(await novelty(about("east")), [1, "compared"]);
});

test("a first trace that is out of time does not say how long vectors are", async () => {
  setEmbedder(() => sleep(1_000, [1, 0, 0], { ref: false }), { budgetMs: 1 });
  await assert.rejects(evaluateValue(about("east")), { code: "budget_exceeded" });
  setEmbedder(embed);
  assert.deepEqual(await novelty(about("east")), [0.5, "nothing_earlier"]);
});

test("evaluations that run at once are in order", async () => {
  const delays = { a: 40, b: 1, c: 20, d: 0 };
  const seen = [];
  setEmbedder(async (text) => {
    const name = text.slice(0, 1);
    seen.push(name);
    await sleep(delays[name]);
    return [1, 0];
  });
  const records = await Promise.all(Object.keys(delays).map((name) => evaluate(about(`${name} same`))));
  assert.deepEqual(seen, ["a", "b", "c", "d"]);
  assert.deepEqual(records.map(noveltyOf), [[0.5, "nothing_earlier"], [0, "compared"], [0, "compared"], [0, "compared"]]);
});

test("a trace is evaluated as it was when it was given", async () => {
  setEmbedder(embed);
  const changing = structuredClone(about("east"));
  const records = [];
  for (const domain of ["finance", "code", "medical"]) {
    changing.metadata.task_domain = domain;
    records.push(evaluate(changing));
  }
  changing.task.objective = "north";
  const profiles = (await Promise.all(records)).map(({ document }) => document.profile.name);
  assert.deepEqual(profiles, ["finance", "code", "medical"]);
});

test("the domain selects the weights", async () => {
  for (const [domain, weights] of Object.entries(DOMAIN_WEIGHTS)) {
    const { document } = await evaluate(inDomain(domain));
    assert.deepEqual(document.profile, { asked: domain, fallback: false, name: domain });
    const inForce = Object.fromEntries(document.dimensions.map(({ key, weight }) => [key, weight]));
    assert.deepEqual(inForce, {
      complexity: weights.complexity,
      novelty: weights.novelty,
      tool_diversity: weights.toolDiversity,
      outcome_confidence: weights.outcomeConfidence,
    });
    assert.ok(Math.abs(Object.values(weights).reduce((sum, weight) => sum + weight) - 1) < 1e-12);
  }
});

test("an unknown domain has the default weights, without an error, and the record says so", async () => {
  const { document, score } = await evaluate(inDomain("astrology"));
  assert.deepEqual(document.profile, { asked: "astrology", fallback: true, name: "default" });
  assert.ok(document.warnings.some(({ code }) => code === "profile-fallback"));
  assert.equal(score, await evaluateValue(inDomain("default")));
});

test("the rules, in their order", async () => {
  const thought = { step_id: 0, type: "thought", content: "x" };
  assert.equal(await evaluateValue({ ...example, steps: [thought] }), 0.1);
  const recovery = (id) => ({ step_id: id, type: "error_recovery", content: "again" });
  const record = await evaluate({ ...example, steps: [thought, recovery(1), recovery(2), recovery(3), { step_id: 4, type: "tool_call", tool: { name: "one" } }] });
  assert.deepEqual(record.document.steps.map(({ kind, name }) => `${kind} ${name}`), ["rule error_recovery", "rule zero_diversity"]);
});
