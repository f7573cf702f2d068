import assert from "node:assert/strict";
import test from "node:test";
import { readFileSync } from "node:fs";
import * as arena from "../dist/arena.js";

const { dims, eloUpdate, finalizeBreakdown, scoreBreakdown, scoreToResult, speedScore } = arena;
const lines = readFileSync(new URL("../../../vectors/arena.jsonl", import.meta.url), "utf8").trim().split("\n");
const cases = (name) => lines.map((line) => JSON.parse(line)).filter(({ fn }) => fn === name);

function problems(call) {
  try {
    call();
  } catch (error) {
    assert.equal(error.code, "invalid_value");
    return error.problems.map(({ path, detail }) => `${path}: ${detail}`);
  }
  return assert.fail("not refused");
}

test("the document's challenge", () => {
  const chosen = dims(
    { correctness: 0.4, methodology: 0.25, speed: 0.15, completeness: 0.2 },
    { correctness: { description: "Override description for this challenge" } },
  );
  assert.deepEqual(chosen[0], {
    key: "correctness", label: "Correctness", weight: 0.4, description: "Override description for this challenge", color: "emerald",
  });
  assert.deepEqual(chosen.map(({ key }) => key), ["correctness", "methodology", "speed", "completeness"]);
  assert.equal(chosen[1].description, "Quality of reasoning, investigation, and reporting");
});

test("the document's table and constants", () => {
  assert.deepEqual(Object.keys(arena.STANDARD_DIMENSIONS), [
    "correctness", "completeness", "precision", "methodology", "speed", "code_quality", "analysis",
  ]);
  assert.deepEqual(arena.STANDARD_DIMENSIONS.speed, {
    key: "speed", label: "Speed", description: "Time efficiency relative to the time limit", color: "sky",
  });
  assert.deepEqual(Object.keys(arena.EFFICIENCY_DIMENSIONS), ["token_efficiency", "call_efficiency"]);
  assert.deepEqual([arena.SOLO_WIN_THRESHOLD, arena.SOLO_DRAW_THRESHOLD, arena.MAX_SCORE], [700, 400, 1000]);
});

test("weights sum to 1, as decimals", () => {
  dims({ correctness: 0.1, speed: 0.2, analysis: 0.7 });
  dims({ correctness: 0.333333, speed: 0.333333, analysis: 0.333333 });
  dims({ correctness: 0.5, speed: 0.5009 });
  dims({ correctness: 0.5, speed: 0.49901 });
  assert.deepEqual(problems(() => dims({ correctness: 0.5, speed: 0.499 })), [": found weights that sum to 0.999, expected a sum of 1"]);
  assert.deepEqual(problems(() => dims({ correctness: 0.5, speed: 0.501 })), [": found weights that sum to 1.001, expected a sum of 1"]);
  assert.deepEqual(problems(() => dims({ correctness: 1, speed: 1e-9, analysis: 0.5 })), [
    ": found weights that sum to 1.500000001, expected a sum of 1",
  ]);
});

test("dims takes what the platform's takes, and refuses wrong weights; all that is wrong is told", () => {
  const named = (fn) => cases(fn).map(({ input, expected }) => [dims(Object.fromEntries(input.weights), input.overrides ?? {}), expected.dimensions]);
  for (const [found, expected] of [...named("dims"), ...named("dims.custom_key")]) assert.deepEqual(found, expected);
  const all = problems(() => dims({ "Bad key": 0.5, speed: -1 }, { speed: { color: "red", label: "" } }));
  assert.deepEqual(all.sort(), [
    "Bad key: found `\"Bad key\"`, expected a key of 1 to 30 letters a to z and _",
    "speed.color: found `\"red\"`, expected one of emerald, sky, gold, purple, coral",
    "speed.label: found 0 characters, expected a text of 1 to 40",
    "speed.weight: found `-1`, expected a number from 0 to 1",
  ]);
  assert.match(problems(() => dims({ correctness: NaN, speed: 1 }))[0], /correctness\.weight: found `NaN`/);
});

test("a challenge has two to six dimensions, and efficiency beside them", () => {
  const count = (weights) => arena.validateDimensions(dims(weights)).map(({ detail }) => detail);
  assert.deepEqual(count({ correctness: 1 }), ["found 1 dimension, expected 2 to 6 of them"]);
  assert.deepEqual(count({ correctness: 0.9, speed: 0.05, token_efficiency: 0.05 }), []);
  assert.match(count({ correctness: 0.9, token_efficiency: 0.1 })[0], /found 1 dimension/);
  const seven = Object.fromEntries(Object.keys(arena.STANDARD_DIMENSIONS).map((key) => [key, key === "speed" ? 0.4 : 0.1]));
  assert.match(count(seven)[0], /found 7 dimensions, expected 2 to 6/);
});

test("dimensions of one's own are checked, not refused", () => {
  for (const { id, input, expected } of cases("validate_dimensions")) {
    assert.equal(arena.validateDimensions(input.dimensions).length === 0, expected.valid, id);
  }
  const own = { key: "citations", label: "Citations", weight: 0.5, description: "x", color: "gold" };
  assert.deepEqual(arena.validateDimensions([own, { ...own, key: "sources" }]), []);
  assert.match(arena.validateDimensions([own, own])[0].detail, /found it twice/);
  assert.match(arena.validateDimensions([own, { ...own, key: "No-Key" }])[0].detail, /a key of 1 to 30/);
});

test("thresholds belong to the better result", () => {
  const results = [1000, 700, 699, 699.999, 400, 399.999, 399, 0].map(scoreToResult);
  assert.deepEqual(results, ["win", "win", "draw", "draw", "draw", "loss", "loss", "loss"]);
  for (const score of [-1, 1001, NaN, Infinity, "700", null]) assert.throws(() => scoreToResult(score), /from 0 to 1000/);
});

test("points for time", () => {
  assert.deepEqual([speedScore(0, 300), speedScore(270, 300), speedScore(300, 300), speedScore(301, 300)], [1000, 100, 0, 0]);
  assert.equal(speedScore(100, 300), 666.666667);
  assert.deepEqual([speedScore(-5, 300), speedScore(0, 0), speedScore(1, 0)], [1000, 1000, 0]);
  assert.throws(() => speedScore(NaN, 300), /timeUsed/);
  assert.throws(() => speedScore(1, -1), /timeLimit/);
});

test("the document's breakdown", () => {
  const chosen = dims({ correctness: 0.5, speed: 0.2, methodology: 0.15, completeness: 0.15 });
  assert.deepEqual(scoreBreakdown(chosen, { correctness: 900, speed: 780, methodology: 690, completeness: 760 }), {
    score: 823,
    score_breakdown: {
      correctness: { score: 900, weight: 0.5, weighted: 450 },
      speed: { score: 780, weight: 0.2, weighted: 156 },
      methodology: { score: 690, weight: 0.15, weighted: 103.5 },
      completeness: { score: 760, weight: 0.15, weighted: 114 },
    },
  });
});

test("parts are not rounded, and what doubles lose is not lost", () => {
  const total = (weights, score) => scoreBreakdown(dims(weights), Object.fromEntries(Object.keys(weights).map((key) => [key, score]))).score;
  assert.equal(total({ correctness: 0.5, speed: 0.5 }, 699), 699);
  assert.equal(total({ correctness: 0.5, speed: 0.5 }, 699.999), 699);
  assert.equal(total({ correctness: 0.1, speed: 0.2, analysis: 0.7 }, 700), 700);
  assert.equal(total({ correctness: 0.6, speed: 0.4009 }, 1000), 1000, "capped");
  const alone = scoreBreakdown(dims({ correctness: 0.5, speed: 0.5 }), { correctness: null, analysis: 9 });
  assert.equal(alone.score, 0);
  assert.throws(() => scoreBreakdown(dims({ correctness: 0.5, speed: 0.5 }), { speed: 1000.5 }), /\$\.scores\.speed/);
  for (const { id, input, expected } of cases("weighted_total")) {
    const chosen = dims(Object.fromEntries(input.dimensions.map(({ key, weight }) => [key, weight])));
    const { score, score_breakdown } = scoreBreakdown(chosen, input.raw);
    assert.deepEqual(Object.fromEntries(Object.entries(score_breakdown).map(([key, part]) => [key, part.weighted])), expected.weighted, id);
    assert.deepEqual([score, scoreToResult(score)], [expected.total, expected.result], id);
  }
});

test("the last step of a custom scorer", () => {
  assert.deepEqual(finalizeBreakdown({ correctness: 700, speed: 600 }), { correctness: 700, speed: 600, total: 1000 });
  assert.deepEqual(finalizeBreakdown({ correctness: 10.25, speed: 5.5 }), { correctness: 10.25, speed: 5.5, total: 15.75 });
  assert.deepEqual(finalizeBreakdown({ total: 90, a: 1 }, 80), { a: 1, total: 80 });
  assert.deepEqual(finalizeBreakdown({}), { total: 0 });
  assert.deepEqual(problems(() => finalizeBreakdown({ a: -1, b: NaN, c: "1" }, Infinity)).length, 4);
});

test("ratings move by the surprise", () => {
  const move = (rating, opponent, result, matchCount, more = {}) => eloUpdate({ rating, opponent, result, matchCount, ...more });
  for (const { id, input, expected } of cases("elo_update")) {
    const moved = move(input.rating, input.opponent, input.outcome, input.match_count);
    assert.deepEqual([moved.newRating, moved.change], [expected.new_rating, expected.change], id);
  }
  assert.deepEqual(move(1000, 1000, "win", 29), { newRating: 1016, change: 16, bonus: 0, expected: 0.5 });
  assert.equal(move(1000, 1000, "win", 30).change, 8);
  assert.equal(move(100, 800, "loss", 0).newRating, 100);
});

test("a verified gain has a bonus, a loss has none", () => {
  const match = { rating: 1000, opponent: 1000, matchCount: 0 };
  const change = (more) => eloUpdate({ ...match, ...more }).change;
  assert.equal(change({ result: "win", verified: true }), 18, "17.6 is rounded");
  assert.equal(change({ result: "win", verified: true, memoryless: true }), 19, "19.2 is rounded");
  assert.equal(change({ result: "win", verified: true, memoryless: true, attemptNumber: 2 }), 18);
  assert.equal(change({ result: "win", memoryless: true }), 16);
  assert.equal(change({ result: "loss", verified: true, memoryless: true }), -16);
  assert.equal(change({ result: "draw", verified: true }), 0);
  // A gain of 5: 5.5 is a half, and goes up.
  assert.deepEqual(eloUpdate({ rating: 1284, opponent: 1000, result: "win", matchCount: 0, verified: true }).change, 6);
  assert.equal(eloUpdate({ rating: 641, opponent: 1400, result: "draw", matchCount: 4, verified: true, memoryless: true, attemptNumber: 3 }).change, 18);
  assert.equal(problems(() => eloUpdate({ rating: 1.5, opponent: NaN, result: "tie", matchCount: -1, attemptNumber: 0 })).length, 5);
});
