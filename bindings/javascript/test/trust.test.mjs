import assert from "node:assert/strict";
import test from "node:test";
import { readFileSync } from "node:fs";
import * as trust from "../dist/trust.js";

const { applySecurityGate, assertWeights, certificationTier, compositeScore, detectAnomaly, DIMENSION_WEIGHTS, juryScore, mergeWeights, timeDecay } = trust;
const lines = readFileSync(new URL("../../../vectors/trust.jsonl", import.meta.url), "utf8").trim().split("\n");
const cases = (...names) => lines.map((line) => JSON.parse(line)).filter(({ fn }) => names.includes(fn));
const KEYS = Object.keys(DIMENSION_WEIGHTS);
const all = (value, more = {}) => ({ dimensions: { ...Object.fromEntries(KEYS.map((key) => [key, value])), ...more } });
const numbers = (texts) => Object.fromEntries(Object.entries(texts ?? {}).map(([key, text]) => [key, fraction(text)]));
const WEEK = 604_800;

function fraction(text) {
  if (text === null || typeof text === "number") return text;
  const [over, under = "1"] = text.split("/");
  return Number(over) / Number(under);
}

test("the document's weights", () => {
  assert.equal(KEYS.length, 16);
  assert.deepEqual([DIMENSION_WEIGHTS.accuracy, DIMENSION_WEIGHTS.skillMastery], [0.11, 0.04]);
  assert.equal(trust.ADAPTIVE_WEIGHTS_OVERRIDE, null);
  assert.equal(trust.EFFECTIVE_DIMENSION_WEIGHTS, DIMENSION_WEIGHTS);
  assert.ok(Object.isFrozen(DIMENSION_WEIGHTS));
});

test("the guard throws what the document throws", () => {
  assertWeights(DIMENSION_WEIGHTS);
  assert.throws(() => assertWeights({ ...DIMENSION_WEIGHTS, seventeenth: 0.05 }), {
    code: "weights", message: "Score weights must sum to 1.0, got 1.0500",
  });
  // As doubles the sum is off by 0.0010000000000000009; in decimals by 0.001, which is within.
  assertWeights({ a: 0.5, b: 0.499 });
  assertWeights({ a: 0.5, b: 0.501 });
  assert.throws(() => assertWeights({ a: 0.5, b: 0.498999 }), /got 0\.9990/);
  assert.throws(() => assertWeights({ a: 1, b: NaN, c: -0.5 }), (error) => error.code === "invalid_value" && error.problems.length === 2);
  for (const { id, input, expected } of cases("weights_guard")) {
    const call = () => assertWeights(numbers(input.weights));
    if (expected.ok) call();
    else assert.throws(call, /must sum to 1\.0/, id);
  }
});

test("an override is merged, or rejected with a warning", () => {
  const merge = (override) => {
    const warnings = [];
    return { weights: mergeWeights(override, (message) => warnings.push(message)), warnings };
  };
  const good = merge({ accuracy: 0.12, reliability: 0.09 });
  assert.deepEqual([good.warnings, good.weights.accuracy, good.weights.safety], [[], 0.12, 0.09]);
  const bad = merge({ accuracy: 0.2 });
  assert.equal(bad.weights, DIMENSION_WEIGHTS);
  assert.deepEqual(bad.warnings, ["[scoring] Adaptive weights override rejected: merged sum = 1.090000, more than 0.001 from 1"]);
  assert.match(merge({ acuracy: 0 }).warnings[0], /no dimension `acuracy`/);
  assert.match(merge({ accuracy: -0.1, reliability: 0.31 }).warnings[0], /expected a number of 0 or more/);
  assert.match(merge({ accuracy: NaN }).warnings[0], /NaN/);
  assert.match(merge({ accuracy: 0.1100001 }).warnings[0], /more than six decimals/);
  for (const { id, input, expected } of cases("effective_weights")) {
    const { weights, warnings } = merge(input.override && numbers(input.override));
    assert.equal(warnings.length, expected.outcome === "rejected" ? 1 : 0, id);
    assert.deepEqual({ ...weights }, numbers(expected.effective), id);
  }
});

test("the composite is the mean over what was measured", () => {
  const full = compositeScore(all(0.75));
  assert.deepEqual([full.score, full.composite, full.coverage, full.tier], [750, 0.75, 1, "gold"]);
  assert.deepEqual(full.blocked_by[0], { condition: "score", needed: 900, found: 750 });
  const four = compositeScore({ dimensions: { accuracy: 0.9, safety: 0.9, reliability: 0.9, security: 0.9 } });
  assert.deepEqual([four.score, four.coverage, four.tier], [900, 0.37, null], "high scores on narrow coverage have no tier");
  assert.deepEqual(four.blocked_by, [{ condition: "coverage", needed: 0.4, found: 0.37 }]);
  const none = compositeScore({ dimensions: {} });
  assert.deepEqual([none.score, none.composite, none.coverage, none.tier], [null, null, 0, null]);
});

test("teamwork is opt-in", () => {
  const alone = compositeScore(all(0.8, { teamwork: null }));
  assert.deepEqual([alone.score, alone.coverage], [800, 1]);
  assert.equal(compositeScore(all(0.8, { accuracy: null })).coverage, 0.89);
  assert.equal(compositeScore(all(0.8, { bond: "not-applicable" })).coverage, 1);
  const { bond, ...others } = all(0.8).dimensions;
  assert.equal(compositeScore({ dimensions: others, not_applicable: ["bond"] }).coverage, 1);
  assert.equal(compositeScore({ dimensions: others }).coverage, 0.94);
  const { accuracy, ...rest } = all(0.8).dimensions;
  assert.equal(compositeScore({ dimensions: rest, not_applicable: ["accuracy"] }).coverage, 0.89, "no agent may do without accuracy");
});

test("everything that is wrong with evidence is told", () => {
  const evidence = {
    dimensions: { acuracy: 1, safety: 2, bond: undefined, latency: { score: 0.5, age_seconds: -1 }, selfAudit: { age_seconds: 1 }, teamwork: 0.5 },
    not_applicable: ["teamwork", "luck"], critical_incident_opn: true, critical_incident_open: "no",
  };
  assert.throws(() => compositeScore(evidence), (error) => {
    assert.deepEqual(error.problems.map(({ path }) => path), [
      "$.critical_incident_opn", "$.critical_incident_open", "$.dimensions.acuracy", "$.dimensions.safety", "$.dimensions.bond",
      "$.dimensions.latency.age_seconds", "$.dimensions.selfAudit", "$.not_applicable[0]", "$.not_applicable[1]",
    ]);
    return true;
  });
  assert.throws(() => compositeScore({}), /\$\.dimensions: found nothing/);
  assert.throws(() => compositeScore(all(0.5), { weights: { ...DIMENSION_WEIGHTS, accuracy: 0.5 } }), { code: "weights" });
});

test("a point a week after a week of grace", () => {
  assert.deepEqual([0, WEEK, -5].map((age) => timeDecay(0.9, age)), [0.9, 0.9, 0.9]);
  assert.equal(timeDecay(0.9, 2 * WEEK), 0.899);
  assert.equal(timeDecay(0.9, 1.5 * WEEK), 0.8995, "part of a week takes its part");
  assert.equal(timeDecay(0.9, 365 * 86_400), 0.848857143);
  assert.equal(timeDecay(0.001, 1e12), 0);
  assert.throws(() => timeDecay(2, NaN), (error) => error.problems.length === 2);
  const aged = compositeScore(all({ score: 0.8, age_seconds: 11 * WEEK }));
  assert.deepEqual([aged.score, aged.readings.accuracy], [790, 0.79]);
  assert.equal(compositeScore(all({ score: 0.8, age_seconds: 0 }), { elapsedSeconds: 11 * WEEK }).score, 790);
  assert.equal(compositeScore(all(0.8), { elapsedSeconds: 11 * WEEK }).score, 790);
});

test("the security gate is a hard override", () => {
  const at = (security) => {
    const { score, tier, gates } = compositeScore(all(0.95, { security }));
    return [score, tier, gates];
  };
  assert.deepEqual(at(0.95), [950, "platinum", []]);
  assert.deepEqual(at(0.5), [919, "silver", []], "0.50 itself is not below");
  assert.deepEqual(at(0.499999999), [599, "bronze", ["security weak"]]);
  assert.deepEqual(at(0.25), [599, "bronze", ["security weak"]]);
  assert.deepEqual(at(0.249), [399, null, ["security weak", "security veto"]]);
  assert.deepEqual(at(null), [950, "bronze", ["security not measured"]]);
  const open = compositeScore({ ...all(0.95), critical_incident_open: true });
  assert.deepEqual([open.score, open.tier, open.gates], [399, null, ["critical incident open"]]);
  const aged = compositeScore(all(0.95, { security: { score: 0.501, age_seconds: 3 * WEEK } }));
  assert.equal(aged.score, 599, "it sees the decayed reading");
});

test("the gate alone", () => {
  assert.deepEqual(applySecurityGate(900, 0.8), { score: 900, highest_tier: null, gates: [] });
  assert.deepEqual(applySecurityGate(900, 0.4), { score: 599, highest_tier: "bronze", gates: ["security weak"] });
  assert.deepEqual(applySecurityGate(100, 0.1), { score: 100, highest_tier: "none", gates: ["security weak", "security veto"] });
  for (const nothing of [null, undefined]) assert.equal(applySecurityGate(900, nothing).highest_tier, "bronze");
  assert.equal(applySecurityGate(900, 1, { criticalIncidentOpen: true }).score, 399);
  assert.throws(() => applySecurityGate(1001, NaN), (error) => error.problems.length === 2);
});

test("a tier asks what those below it ask, and more", () => {
  const readings = (value) => Object.fromEntries(KEYS.map((key) => [key, value]));
  const tier = (score, coverage, value, more = {}) => certificationTier({ score, coverage, readings: { ...readings(value), ...more } }).tier;
  assert.deepEqual([399, 400, 599, 600, 749, 750, 899, 900].map((score) => tier(score, 1, 1)), [
    null, "bronze", "bronze", "silver", "silver", "gold", "gold", "platinum",
  ]);
  assert.deepEqual([0.399999999, 0.4, 0.6, 0.75, 0.9].map((coverage) => tier(1000, coverage, 1)), [null, "bronze", "silver", "gold", "platinum"]);
  assert.equal(tier(1000, 1, 1, { accuracy: 0.299999999 }), null);
  assert.equal(tier(1000, 1, 1, { security: 0.649 }), "silver");
  assert.equal(tier(1000, 1, 1, { bond: 0.5 }), "gold");
  const blocked = certificationTier({ score: 1000, coverage: 1, readings: readings(1), gates: ["security weak"] });
  assert.deepEqual(blocked, { tier: "bronze", next: "silver", blocked_by: [{ condition: "gate security weak", needed: 0, found: null }] });
  assert.equal(certificationTier({ score: null, coverage: 1, readings: readings(1) }).tier, null);
});

test("a jury: the top and bottom fifth are trimmed, then the median", () => {
  assert.deepEqual(juryScore([90, 0, 82, 85, 80]), { median: 82, trim_each_side: 1, trimmed_low: [0], kept: [80, 82, 85], trimmed_high: [90] });
  assert.deepEqual(juryScore([]), { median: null, trim_each_side: 0, trimmed_low: [], kept: [], trimmed_high: [] });
  assert.deepEqual(juryScore([70]).kept, [70]);
  assert.equal(juryScore([0, 0, 88, 90]).median, 44);
  assert.throws(() => juryScore([101, NaN, "5"]), (error) => error.problems.length === 3);
  assert.throws(() => juryScore(new Array(3)), (error) => error.problems.length === 3);
  for (const { id, input, expected } of cases("jury_trim_median")) {
    const found = juryScore(input.scores.map(Number));
    assert.deepEqual([found.trim_each_side, found.kept], [expected.trim_each_side, expected.kept.map(Number)], id);
    assert.ok(Math.abs(found.median - expected.median_f64) <= 2e-9, id);
  }
});

test("a swing of more than 200 points is anomalous", () => {
  assert.deepEqual(detectAnomaly(500, 700), { delta: 200, was_anomalous: false });
  assert.deepEqual(detectAnomaly(500, 701), { delta: 201, was_anomalous: true });
  assert.deepEqual(detectAnomaly(701, 500), { delta: -201, was_anomalous: true });
  assert.deepEqual(detectAnomaly(null, 900), { delta: null, was_anomalous: false });
  assert.throws(() => detectAnomaly(1.5, 1001), (error) => error.problems.length === 2);
});

test("the cases of the vectors", () => {
  for (const { id, input, expected } of cases("composite_covered")) {
    const weights = mergeWeights(input.weights === undefined ? null : numbers(input.weights));
    const { composite } = compositeScore({ dimensions: numbers(input.dimensions) }, { weights });
    if (expected.composite === null) assert.equal(composite, null, id);
    else assert.ok(Math.abs(composite - expected.composite_f64) <= 2e-9, id);
  }
  for (const { id, input, expected } of cases("score_pipeline")) {
    const measured = ([key, given]) => [key, given && { score: fraction(given.score), age_seconds: Math.max(given.age_seconds, 0) }];
    const dimensions = Object.fromEntries(Object.entries(input.dimensions).map(measured));
    const weights = mergeWeights(input.override && numbers(input.override), () => undefined);
    // The cases have no gate.
    const published = Math.floor(compositeScore({ dimensions }, { weights }).composite * 1000 + 0.5);
    const { score, delta, was_anomalous } = expected;
    assert.deepEqual({ score: published, ...detectAnomaly(input.previous, published) }, { score, delta, was_anomalous }, id);
  }
});
