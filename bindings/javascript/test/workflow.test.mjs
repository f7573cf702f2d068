import assert from "node:assert/strict";
import test from "node:test";
import { readFileSync } from "node:fs";
import * as workflow from "../dist/workflow.js";

const { capShares, compositeScore, costScore, latencyScore, reliabilityScore, RollingWindow, successScore } = workflow;
const lines = readFileSync(new URL("../../../vectors/workflow.jsonl", import.meta.url), "utf8").trim().split("\n");
const cases = (...names) => lines.map((line) => JSON.parse(line)).filter(({ fn }) => names.includes(fn));
const near = (found, expected, about) => assert.ok(Math.abs(found - expected) <= 2e-9, `${about}: ${found}, expected ${expected}`);

const RUN = {
  output_quality_score: 0.9, steps_completed: 4, total_steps_in_dag: 4, actual_tao: 0.01, max_budget_tao: 0.05, actual_seconds: 2,
  max_latency_seconds: 10, actual_retries: 3, declared_retry_budget: 2, timeouts: 1, hard_failures: 0,
};

test("the document's formula", () => {
  assert.deepEqual(workflow.WEIGHTS, { success: 0.5, cost: 0.25, latency: 0.15, reliability: 0.1 });
  assert.deepEqual(compositeScore(RUN), { score: 0.84, success: 0.9, cost: 0.8, latency: 0.8, reliability: 0.7 });
});

test("three of four steps are a completion ratio of 0.75", () => {
  assert.equal(successScore(1, 3, 4), 0.75);
  assert.equal(successScore(1, 0, 0), 0);
  assert.throws(() => successScore(1, 5, 4), /stepsCompleted: found `5`, expected a whole number from 0 to 4/);
  assert.throws(() => successScore(1.1, 1.5, 4), (error) => error.problems.length === 2);
});

test("exactly 0.7 opens nothing, however it comes about", () => {
  for (const [quality, completed, total] of [[0.7, 1, 1], [1, 7, 10], [0.7000000001, 1, 1], [0.875, 4, 5], [0.7 + 1e-16, 3, 3]]) {
    const success = successScore(quality, completed, total);
    assert.equal(success, 0.7);
    assert.deepEqual([costScore(0, 1, success), latencyScore(0, 1, success)], [0, 0]);
  }
  assert.equal(costScore(0.01, 0.05, 0.700000001), 0.8);
});

test("cost and latency", () => {
  assert.deepEqual([costScore(0, 1, 1), costScore(1, 1, 1), costScore(2, 1, 1), costScore(0, 0, 1)], [1, 0, 0, 0]);
  assert.equal(latencyScore(1, 3, 1), 0.666666667);
  assert.equal(costScore(1e308, 1e-308, 1), 0);
  assert.throws(() => costScore(-1, NaN, 2), (error) => error.problems.length === 3);
});

test("declared retries are free", () => {
  const free = { actual_retries: 2, declared_retry_budget: 2, timeouts: 0, hard_failures: 0 };
  assert.equal(reliabilityScore(free), 1);
  assert.equal(reliabilityScore({ ...free, declared_retry_budget: 0 }), 0.8);
  assert.equal(reliabilityScore({ actual_retries: 2, timeouts: 0, hard_failures: 0 }), 0.8);
  assert.equal(reliabilityScore({ ...free, timeouts: 1, hard_failures: 1 }), 0.3);
  assert.equal(reliabilityScore({ ...free, hard_failures: 3 }), 0);
  assert.throws(() => reliabilityScore({ ...free, timeouts: 0.5 }), /timeouts/);
});

test("a run without a measurement has no score", () => {
  assert.throws(() => compositeScore({ ...RUN, actual_tao: null, timeouts: undefined }), (error) => {
    assert.deepEqual(error.problems.map(({ path }) => path), ["actual_tao", "timeouts"]);
    return true;
  });
});

test("the cases of the vectors", () => {
  for (const { id, input, expected } of cases("workflow.score")) {
    const run = { ...input, output_quality_score: input.output_quality, total_steps_in_dag: input.total_steps, actual_retries: input.unplanned_retries };
    const found = compositeScore(run);
    for (const part of ["success", "cost", "latency", "reliability"]) near(found[part], expected[`s_${part}`], id);
    near(found.score, expected.score, id);
  }
  for (const { id, input, expected } of cases("workflow.window")) {
    const window = new RollingWindow(input.window_size);
    input.scores.forEach((score) => window.add(score));
    assert.equal(window.size, expected.count, id);
    near(window.mean ?? 0, expected.mean, id);
  }
  for (const { id, input, expected } of cases("weights.cap", "weights.proportional_cap")) {
    capShares(input.weights ?? input.means, input.cap).shares.forEach((share, at) => near(share, expected.weights[at], id));
  }
});

test("a window of a hundred tasks, with equal weight", () => {
  const window = new RollingWindow();
  assert.deepEqual([window.tasks, window.size, window.mean], [100, 0, null]);
  window.add(1);
  assert.equal(window.mean, 1);
  for (let at = 0; at < 99; at += 1) window.add(0.5);
  assert.deepEqual([window.size, window.mean], [100, 0.505]);
  window.add(0.5);
  assert.deepEqual([window.size, window.mean], [100, 0.5], "the first one has gone");
  const three = new RollingWindow(3);
  [0.2, 0.4, 0.6].forEach((score) => three.add(score));
  assert.equal(three.mean, 0.4, "no rounding of doubles");
  [1, 0, 0].forEach((score) => three.add(score));
  assert.equal(three.mean, 0.333333333333333);
  assert.throws(() => window.add(1.1), /from 0 to 1/);
  assert.throws(() => new RollingWindow(0), /tasks/);
});

test("no miner has more than 15 %", () => {
  const alike = capShares(new Array(10).fill(0.5));
  assert.deepEqual([alike.case, alike.capped, alike.shares[0]], ["proportional", 0, 0.1]);
  const dominant = capShares([0.55, ...new Array(9).fill(0.05)]);
  assert.deepEqual([dominant.case, dominant.capped, dominant.shares[0]], ["redistributed", 1, 0.15]);
  assert.equal(Math.max(...dominant.shares), 0.15);
  const few = capShares([0.9, 0.1, 0]);
  assert.deepEqual(few, { shares: [0.5, 0.5, 0], case: "cap-raised", capped: 2 }, "with fewer than seven no cap of 15 % can hold");
  assert.deepEqual(capShares([0, 0]), { shares: [0, 0], case: "nothing-to-share", capped: 0 });
  assert.deepEqual(capShares([]).shares, []);
  assert.throws(() => capShares([2, NaN], 0), (error) => error.problems.length === 3);
});

test("shares sum to 1 to the last unit, and keep the order of scores", () => {
  let state = 7;
  const random = () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
  for (let round = 0; round < 200; round += 1) {
    const scores = Array.from({ length: 1 + Math.floor(random() * 40) }, () => (random() < 0.2 ? 0 : random() ** 4));
    const { shares, case: name } = capShares(scores);
    const sum = shares.reduce((sum, share) => sum + BigInt(Math.round(share * 1e15)), 0n);
    if (name !== "nothing-to-share") assert.equal(sum, 10n ** 15n);
    const order = scores.map((_, at) => at).sort((a, b) => scores[b] - scores[a]);
    order.slice(1).forEach((at, place) => assert.ok(shares[order[place]] >= shares[at]));
    if (name !== "cap-raised") assert.ok(Math.max(...shares) <= 0.15);
  }
});
