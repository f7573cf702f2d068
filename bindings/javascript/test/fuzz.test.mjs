// Random items: what is computed without waiting has the same bits as the engine gives.

import assert from "node:assert/strict";
import test from "node:test";
import {
  DIMENSION_WEIGHTS, EFFICIENCY_DIMENSIONS, Engine, KaratError, STANDARD_DIMENSIONS, VectorCache, compositeScore, dims, scoreBreakdown,
  scoreToResult, speedScore, validateDimensions,
  workflowScore,
} from "../dist/index.js";

const ITEMS = 3_000;

/** Random numbers that are the same in every run: xorshift of 32 bits. */
function random(seed) {
  let state = seed;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  const whole = (most) => Math.floor(next() * (most + 1));
  const one = (values) => values[whole(values.length - 1)];
  /** A share: round, near a threshold, or any. */
  const share = () => one([next, () => whole(20) / 20, () => whole(1000) / 1000, () => one([0, 1, 0.7, 0.25, 0.5, 0.4]) , () => Math.min(1, one([0.25, 0.5, 0.6, 0.7]) + (next() - 0.5) * 1e-8)])();
  return { next, whole, one, share };
}

function attempt(work, about) {
  try {
    return { value: work() };
  } catch (error) {
    assert.ok(error instanceof KaratError, `${about}: ${error.stack}`);
    return { error };
  }
}

/** Both refuse, or both give something. */
function both(one, other, about) {
  const [first, second] = [attempt(one, about), attempt(other, about)];
  assert.equal(first.error === undefined, second.error === undefined, `${about}: ${first.error?.message ?? "taken"}, by the engine: ${second.error?.message ?? "taken"}`);
  return first.error === undefined ? [first.value, second.value] : null;
}

const readings = (document) => Object.fromEntries(document.dimensions.map(({ key, reading }) => [key, reading]));

test("trust: score, composite, coverage, tier and readings", async () => {
  const { next, whole, one, share } = random(1);
  const KEYS = Object.keys(DIMENSION_WEIGHTS);
  const [plain, later] = [await Engine.load("trust@1.0.0"), await Engine.load("trust@1.0.0", { asOf: "2026-03-01T00:00:00Z" })];
  const seen = new Set();
  let scored = 0;
  for (let at = 0; at < ITEMS; at += 1) {
    const measured = one([0.2, 0.6, 0.9, 1]);
    const age = () => one([whole(3_000_000), 604_800, 604_801, 604_799, 0, whole(100_000_000) / 8, next() * 1e9]);
    const measurement = () => one([share, share, () => null, () => ({ score: share(), age_seconds: age() }), () => ({ score: share() }), () => ({ score: null, age_seconds: age() }), () => one(["not-applicable", 1.5, -0.1, "high"])])();
    const isGood = next() < 0.8;
    const value = () => (isGood ? one([share, share, () => null, () => ({ score: share(), age_seconds: age() })])() : measurement());
    // What is high enough for tiers is rare among random numbers.
    const high = next() < 0.4;
    const given = () => (high ? one([0.95, 0.9, 0.85, () => 1 - next() / 4, () => ({ score: 0.99, age_seconds: age() })]) : value);
    const dimension = () => {
      const found = given();
      return typeof found === "function" ? found() : found;
    };
    const item = { subject: "a", id: `a-${at}`, dimensions: Object.fromEntries(KEYS.filter(() => next() < measured).map((key) => [key, dimension()])) };
    if (next() < 0.2) item.not_applicable = [one(["bond", "teamwork", "memoryQuality", "accuracy", "typo"])];
    if (next() < 0.1) item.critical_incident_open = next() < 0.5;
    const elapsed = next() < 0.3 ? whole(10_000_000) : null;
    if (elapsed !== null) item.time = new Date(Date.parse("2026-03-01T00:00:00Z") - elapsed * 1000).toISOString();
    const engine = elapsed === null ? plain : later;
    const about = JSON.stringify(item);
    const found = both(() => compositeScore(item, elapsed === null ? {} : { elapsedSeconds: elapsed }), () => engine.score(item).document, about);
    if (found === null) continue;
    const [ours, document] = found;
    scored += 1;
    const theirs = Object.fromEntries(Object.entries(readings(document)).filter(([, reading]) => reading !== null));
    assert.deepEqual(ours.readings, theirs, about);
    assert.deepEqual([ours.score, ours.composite, ours.coverage], [document.score?.published ?? null, document.composite, document.coverage], about);
    assert.deepEqual([ours.tier, ours.blocked_by, ours.gates], [document.tier.name, document.tier.blocked_by, document.gates], about);
    seen.add(ours.tier);
  }
  assert.ok(scored > ITEMS / 2, `${scored} were scored`);
  assert.ok(seen.size >= 4, [...seen].join());
});

test("workflow: the composite and its parts", async () => {
  const { next, whole, one, share } = random(2);
  const engine = await Engine.load("workflow@1.0.0");
  let scored = 0;
  for (let at = 0; at < ITEMS; at += 1) {
    const total = 1 + whole(7);
    const failures = one([0, 0, 0, whole(2)]);
    const completed = Math.max(0, one([total, total, whole(total)]) - failures);
    const nodes = Array.from({ length: total }, (_, step) => ({ id: `s${step}`, subnet: "sn1", action: "act" }));
    const [declared, retries, timeouts] = [one([0, 0, whole(3)]), one([0, 0, whole(4)]), one([0, 0, whole(2)])];
    const amount = () => one([0, whole(100) / 1000, next(), next() * 1e-6, 0.05]);
    const [cost, budget, seconds, most] = [amount(), amount(), amount() * 100, amount() * 100];
    const item = {
      run_id: `run-${at}`,
      miner_uid: 1,
      task: { task_id: "t", constraints: { max_budget_tao: budget, max_latency_seconds: most } },
      workflow_plan: { nodes, edges: [], error_handling: { s0: { retry_count: declared, timeout_seconds: 5 } } },
      output_quality: completed === 0 ? 0 : share(),
      result: { steps_completed: completed, total_steps: total, actual_cost: cost, actual_latency: seconds, retries: { s0: retries }, timeouts, hard_failures: failures },
    };
    let document;
    try {
      ({ document } = engine.score(item));
    } catch {
      // Totals that contradict each other: nothing that the formula knows of.
      continue;
    }
    scored += 1;
    const ours = workflowScore({
      output_quality_score: item.output_quality, steps_completed: completed, total_steps_in_dag: total, actual_tao: cost, max_budget_tao: budget,
      actual_seconds: seconds, max_latency_seconds: most, actual_retries: retries, declared_retry_budget: declared, timeouts, hard_failures: failures,
    });
    const { score, ...parts } = ours;
    assert.deepEqual({ score, ...parts }, { score: document.score.exact, ...readings(document) }, JSON.stringify(item));
  }
  assert.ok(scored > ITEMS / 2, `${scored} were scored`);
});

test("arena: which weights are taken, the total, its parts and its result", async () => {
  const { next, whole, one } = random(3);
  let [scored, taken] = [0, 0];
  for (let card = 0; card < 150; card += 1) {
    const keys = Object.keys(STANDARD_DIMENSIONS).sort(() => next() - 0.5).slice(0, one([2, 3, 4, 5, 6, 6, 1, 7]));
    const cuts = keys.slice(1).map(() => one([whole(100) / 100, whole(1_000_000) / 1e6, whole(20) / 20])).sort((a, b) => a - b);
    const share = keys.map((_, at) => Number(((cuts[at] ?? 1) - (cuts[at - 1] ?? 0)).toFixed(6)));
    if (next() < 0.3) share[0] = Number(Math.max(0, share[0] + one([0.001, -0.001, 0.000999, -0.000999, 0.002])).toFixed(6));
    if (share.some((weight) => weight === 0) && next() < 0.9) continue;
    const weights = Object.fromEntries(keys.map((key, at) => [key, share[at]]));
    const text = [
      'schema = "karat/scorecard/1"', `id = "random-${card}"`, 'version = "1.0.0"', 'title = "Random"', 'base = "arena@1.0.0"', "", "[dims]",
      ...Object.entries(weights).map(([key, weight]) => `${key} = ${weight.toFixed(6)}`), "",
    ].join("\n");
    const picked = attempt(() => dims(weights), text).value ?? null;
    const chosen = picked === null || validateDimensions(picked).length > 0 ? null : picked;
    const engine = await Engine.load(text).catch((error) => error);
    assert.equal(chosen === null, engine instanceof Error, `${text}\n${engine.message}`);
    if (chosen === null) continue;
    taken += 1;
    for (let at = 0; at < 30; at += 1) {
      const points = () => one([whole(1000), whole(1_000_000) / 1000, next() * 1000, 700, 400, 0, 1000]);
      const scores = Object.fromEntries(keys.map((key) => [key, points()]));
      const item = { match_id: `m-${at}`, agent_id: "a", challenge: `random-${card}`, scores };
      if (keys.includes("speed") && next() < 0.5) {
        [item.time_used_secs, item.time_limit_secs] = [one([whole(300), next() * 300]), 300];
        scores.speed = speedScore(item.time_used_secs, item.time_limit_secs);
      }
      const found = both(() => scoreBreakdown(chosen, scores), () => engine.score(item).document, `${text}\n${JSON.stringify(item)}`);
      if (found === null) continue;
      const [ours, document] = found;
      scored += 1;
      const about = `${text}\n${JSON.stringify(item)}`;
      assert.deepEqual([ours.score, scoreToResult(ours.score)], [document.score.published, document.band], about);
      const parts = readings(document);
      for (const [key, { score, weighted }] of Object.entries(ours.score_breakdown)) {
        assert.equal(score, Math.round(parts[key] * 1e9) / 1e6, about);
        const { contribution } = document.dimensions.find((part) => part.key === key);
        assert.ok(Math.abs(weighted - contribution) <= 1e-9 || Math.abs(weighted - contribution * 1000) <= 1e-9, `${about} ${weighted} ${contribution}`);
      }
    }
    engine.dispose();
  }
  assert.ok(Object.keys(EFFICIENCY_DIMENSIONS).length === 2 && taken > 30 && scored > 900, `${taken} challenges, ${scored} matches`);
});

const TRACE = {
  "@context": "https://openknowledgepulse.org/schema/v1",
  "@type": "ReasoningTrace",
  metadata: { created_at: "2026-01-31T12:00:00Z", success: true, quality_score: 0, visibility: "network", privacy_level: "aggregated" },
  task: { objective: "x" },
  steps: [{ step_id: 0, type: "observation", content: "y" }],
  outcome: { result_summary: "z", confidence: 0.5 },
};

test("the cache finds what the engine finds, bit for bit, also when it is full", async () => {
  for (const [seed, dimensions, count, kinds] of [[4, 3, 2_600, 40], [5, 384, 300, 25], [6, 17, 1_500, 1e9], [7, 8, 1_200, 5], [8, 1, 1_100, 1e9]]) {
    const { next, whole, one } = random(seed);
    const engine = await Engine.observing("trace");
    const cache = new VectorCache({ maxElements: 1000, dimensions, ttlMs: Infinity });
    const known = [];
    let now = 1_800_000_000_000;
    for (let at = 0; at < count; at += 1) {
      const scale = one([1, 1, 1, 1e-18, 1e18, 1e-30]);
      const vector = known.length > 0 && next() < 0.3 ? one(known) : Float32Array.from({ length: dimensions }, () => (next() - 0.5) * scale);
      if (vector.every((number) => number === 0)) continue;
      if (known.length < kinds) known.push(vector);
      now += one([0, 0, 1, whole(10_000_000)]);
      const similarity = cache.size === 0 ? null : cache.maxCosineSimilarity(vector, now);
      cache.add(vector, now);
      engine.setVector("m", vector);
      engine.setMoment(new Date(now));
      const { document } = engine.score({ ...TRACE, id: `kp:trace:${at}` });
      const { novelty } = document.grading;
      const about = `dimension ${dimensions}, ${at}: ${similarity}, ${JSON.stringify(novelty)}`;
      // A vector so short that its length is 0 has no direction.
      if (novelty.basis === "zero_vector") {
        cache.clear();
        engine.clearVectors();
        continue;
      }
      if (similarity === null) {
        assert.equal(novelty.basis, "nothing_earlier", about);
        continue;
      }
      assert.equal(novelty.basis, "compared", about);
      assert.ok(Object.is(novelty.nearest.similarity, similarity), about);
      if (cache.size < 1000) assert.equal(novelty.compared, cache.size - 1, about);
      const reading = document.dimensions.find(({ key }) => key === "novelty").reading;
      assert.ok(Math.abs(reading - (1 - Math.min(Math.max(similarity, 0), 1))) <= 5.1e-10, about);
    }
    engine.dispose();
  }
});
