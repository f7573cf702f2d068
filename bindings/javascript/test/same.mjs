// Compares the package with the program: the same bytes, the same refusals, and the answers of the vectors.
//
//   node test/same.mjs KARAT CONFORMANCE
//
// (a) Every scorecard below scorecards/ and examples/ scores every example that is one item, and every line of evidence. Where the
// program gives a record, the package gives the same bytes, from the text and from the object; where it refuses, the package does, for
// the same reasons.
// (b) The vectors of the four systems, by every function that the package has, and traces and runs as items to the program as well.

import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import * as karat from "../dist/index.js";

const { Engine, KaratError } = karat;
const [program, conformance] = process.argv.slice(2);
if (program === undefined || conformance === undefined) {
  console.error("usage: node test/same.mjs KARAT CONFORMANCE");
  process.exit(2);
}
process.chdir(fileURLToPath(new URL("../../..", import.meta.url)));

/** What was measured when this was written; fewer means that something is no longer compared. */
const LEAST = { records: 3000, refusals: 1000, cases: 190, items: 70 };

const faults = [];
const fault = (about, text) => faults.push(`${about}: ${text}`);
/** The files below folders with an ending. */
const files = (ending, ...folders) => {
  const below = (folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name));
  return folders.flatMap(below).filter((name) => name.endsWith(ending)).sort();
};
const run = promisify(execFile);

/** Runs the program; a status other than 0 is an answer too. */
async function ask(parameters, command = program) {
  try {
    return { ...(await run(command, parameters, { maxBuffer: 1 << 28 })), status: 0 };
  } catch (error) {
    if (typeof error.code !== "number") throw error;
    return { stdout: error.stdout, stderr: error.stderr, status: error.code };
  }
}

/** Does `work` for each, two at a time. */
async function each(values, work) {
  const rest = values.entries();
  const worker = async () => {
    for (const [at, value] of rest) await work(value, at);
  };
  await Promise.all([worker(), worker()]);
}

function attempt(work) {
  try {
    return { value: work() };
  } catch (error) {
    if (!(error instanceof KaratError)) throw error;
    return { error };
  }
}

/** Records which are equal byte for byte; both refusing is no record. */
async function compareItem(about, engine, text, parameters) {
  const told = await ask(["score", "--format", "jsonl", ...parameters]);
  const records = told.stdout.split("\n").filter((line) => line !== "");
  if (records.length > 1) return "many";
  const scored = attempt(() => engine.score(text));
  if (records.length === 0) {
    if (told.status === 0) return "none";
    if (scored.error === undefined) fault(about, `the program refuses, the package gives ${scored.value.text.slice(0, 200)}`);
    // A log of another program, which the program knows by name.
    if (told.stderr.includes("looks like")) return "refused";
    for (const { path, detail } of scored.error?.problems ?? []) {
      if (!told.stderr.includes(`${path}: ${detail}`.trim())) fault(about, `refused as \`${path}: ${detail}\`, by the program as ${told.stderr}`);
    }
    return "refused";
  }
  const [record] = records;
  // What is submitted is judged by programs beside the scorecard, which a module has none of.
  if (scored.error?.path === "challenge.evaluator") return "needs files";
  if (scored.error !== undefined) {
    fault(about, `the package refuses: ${scored.error.message}`);
    return "refused";
  }
  // An item without an id of its own is named by its place, which the package cannot know.
  if (parameters.includes(JSON.parse(record).evidence.id.replace(/:\d+$/, ""))) return "named by its place";
  const fromObject = attempt(() => engine.score(JSON.parse(text)));
  if (scored.value.text !== record) fault(about, `record\n${scored.value.text}\ninstead of\n${record}`);
  else if (fromObject.value?.text !== record) fault(about, `another record from the object: ${fromObject.error?.message ?? fromObject.value.text}`);
  else if (!Object.is(engine.number(text), scored.value.score)) fault(about, "the number alone is another one");
  return "equal";
}

// (a)

const cards = files(".toml", "scorecards", "examples").filter((card) => /^(schema|extends) /m.test(readFileSync(card, "utf8")));
const examples = files(".json", "examples");
const found = { equal: 0, refused: 0, many: 0, none: 0, "named by its place": 0, "needs files": 0, "scorecard refused": 0 };
await each(cards, async (card) => {
  let engine;
  try {
    engine = await Engine.load(readFileSync(card, "utf8"));
  } catch (error) {
    found["scorecard refused"] += 1;
    const told = await ask(["score", "--card", card, examples[0]]);
    // A module has no JSON Schema, and says so. The program says where a scorecard lies.
    if (error.message.includes("feature `full`")) return;
    const reason = error.message.split("\n")[0].replace("the text", card);
    if (!told.stderr.includes(reason)) fault(card, `refused as ${reason}, by the program as ${told.stderr}`);
    return;
  }
  for (const example of examples) {
    const about = `score --card ${card} ${example}`;
    found[await compareItem(about, engine, readFileSync(example, "utf8"), ["--card", card, example])] += 1;
  }
  engine.dispose();
});
console.log(`${cards.length} scorecards, ${examples.length} examples: ${JSON.stringify(found)}`);

// Lines of evidence, of which the program reads many at a time.
const lines = { equal: 0, refused: 0, "named by its place": 0 };
await each(cards, async (card) => {
  if (card.includes("/judge/")) return;
  const engine = await Engine.load(readFileSync(card, "utf8")).catch(() => null);
  if (engine === null) return;
  for (const example of files(".jsonl", "examples").filter((example) => !example.includes("/recordings/"))) {
    const told = await ask(["score", "--keep-going", "--format", "jsonl", "--card", card, example]);
    const records = told.stdout.split("\n").filter((line) => line !== "");
    const scored = readFileSync(example, "utf8").trim().split("\n").map((line) => attempt(() => engine.score(line)).value?.text);
    const own = scored.filter((text) => text !== undefined);
    lines.refused += scored.length - own.length;
    if (own.length !== records.length) {
      if (!/looks like|same item|twice/.test(told.stderr)) fault(`${card} ${example}`, `${own.length} records, by the program ${records.length}: ${told.stderr.slice(0, 300)}`);
      continue;
    }
    records.forEach((record, at) => {
      if (record === own[at]) lines.equal += 1;
      else if (record.includes(`"id":"${example}:`)) lines["named by its place"] += 1;
      else fault(`${card} ${example}`, `record ${own[at]}\ninstead of\n${record}`);
    });
  }
  engine.dispose();
});
console.log(`lines of evidence: ${JSON.stringify(lines)}`);

// (b)

/** Numbers of a case, which has them as fractions too. */
function fraction(given) {
  if (typeof given !== "string") return given;
  const [over, under = "1"] = given.split("/");
  return Number(over) / Number(under);
}
const fractions = (given) => Object.fromEntries(Object.entries(given ?? {}).map(([key, value]) => [key, fraction(value)]));

/** The tolerance of the conformance program for cases without one. */
const TOLERANCE = 2e-9;

/** Lists where `found` differs from `expected`, as the conformance program does: members that are not expected are ignored. */
function differences(expected, found, tolerance, path = "output") {
  if (expected !== null && typeof expected === "object" && found !== null && typeof found === "object") {
    if (Array.isArray(expected) && expected.length !== found.length) return [`${path} has ${found.length} parts`];
    return Object.entries(expected).flatMap(([key, value]) => differences(value, found[key], tolerance, `${path}.${key}`));
  }
  if (Object.is(expected, found) || expected === found) return [];
  const isText = (value) => typeof value === "string" && !/^-?\d+(\.\d+)?(\/\d+)?$/.test(value);
  if (!isText(expected) && !isText(found) && Math.abs(fraction(expected) - fraction(found)) <= tolerance) return [];
  return [`${path} is ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`];
}

const flags = (work) => {
  try {
    return { ok: true, ...work() };
  } catch (error) {
    if (error instanceof KaratError) return { ok: false };
    throw error;
  }
};

function composite(input, more = {}) {
  const dimensions = Object.entries(input.dimensions).map(([key, given]) => {
    if (given === null || typeof given !== "object") return [key, fraction(given)];
    // The cases have evidence of the future, which an item cannot state: its age is 0.
    return [key, { score: fraction(given.score), age_seconds: Math.max(given.age_seconds, 0) }];
  });
  return karat.compositeScore({ subject: "case", dimensions: Object.fromEntries(dimensions) }, more);
}

/** Merges weights; the outcome has the names of the cases. */
function merged(override) {
  if (override === null || override === undefined) return { weights: karat.DIMENSION_WEIGHTS, outcome: "none" };
  let outcome = "applied";
  const weights = karat.mergeWeights(fractions(override), () => (outcome = "rejected"));
  return { weights, outcome };
}

const perMille = ({ composite }) => ({ composite_1000: composite === null ? null : composite * 1000, composite_1000_f64: composite === null ? null : composite * 1000 });
const pick = (input) => karat.dims(Object.fromEntries(input.weights), input.overrides ?? {});

/** The functions that the package has, each with its answer in the shape of the cases. */
const FUNCTIONS = {
  "workflow.score": (input) => {
    const { success, cost, latency, reliability, score } = karat.workflowScore({
      output_quality_score: input.output_quality,
      total_steps_in_dag: input.total_steps,
      actual_retries: input.unplanned_retries,
      ...input,
    });
    return { s_success: success, s_cost: cost, s_latency: latency, s_reliability: reliability, score };
  },
  "workflow.window": ({ window_size, scores }) => {
    const window = new karat.RollingWindow(window_size);
    scores.forEach((score) => window.add(score));
    return { count: window.size, tasks_seen: scores.length, mean: window.mean ?? 0 };
  },
  "weights.cap": ({ cap, weights }) => ({ weights: karat.capShares(weights, cap).shares }),
  "weights.proportional_cap": ({ cap, means }) => ({ weights: karat.capShares(means, cap).shares }),
  dims: (input) => ({ dimensions: pick(input) }),
  "dims.custom_key": (input) => ({ dimensions: pick(input) }),
  validate_dimensions: ({ dimensions }) => ({ valid: karat.validateDimensions(dimensions).length === 0 }),
  weighted_total: ({ dimensions, raw }) => {
    const chosen = karat.dims(Object.fromEntries(dimensions.map(({ key, weight }) => [key, weight])));
    const { score, score_breakdown } = karat.scoreBreakdown(chosen, raw);
    const weighted = Object.fromEntries(Object.entries(score_breakdown).map(([key, part]) => [key, part.weighted]));
    return { weighted, total: score, result: karat.scoreToResult(score) };
  },
  finalize_breakdown: ({ breakdown, max_score }) => flags(() => ({ breakdown: karat.finalizeBreakdown(breakdown, max_score) })),
  score_to_result: ({ score }) => ({ result: karat.scoreToResult(fraction(score)) }),
  speed_score: ({ elapsed_secs, limit_secs }) => ({ score: karat.speedScore(elapsed_secs, limit_secs) }),
  elo_update: ({ rating, opponent, outcome, match_count }) => {
    const { newRating, change } = karat.eloUpdate({ rating, opponent, result: outcome, matchCount: match_count });
    return { new_rating: newRating, change };
  },
  settle_match: ({ agent, challenge, match, score }, expected) => {
    const settled = (rating, more) => karat.eloUpdate({
      rating,
      opponent: expected.opponent_elo,
      result: karat.scoreToResult(score),
      matchCount: agent.match_count,
      ...more,
    });
    const bonus = { verified: match.verified, memoryless: match.memoryless, attemptNumber: match.attempt_number };
    const { newRating, change } = settled(agent.elo, bonus);
    const category = challenge.category;
    // Ratings by category move without the bonus.
    const moved = { ...agent.category_elo, [category]: settled(agent.category_elo[category] ?? 1000, {}).newRating };
    return { result: karat.scoreToResult(score), elo_change: change, elo_after: newRating, category_elo: moved };
  },
  "settle_match.draw_bonus": (input, expected) => FUNCTIONS.settle_match(input, expected),
  cache: ({ max_elements, dimensions, ttl_ms, ops }) => {
    const given = { maxElements: max_elements ?? undefined, dimensions: dimensions ?? undefined, ttlMs: ttl_ms ?? Infinity };
    const cache = new karat.VectorCache(given);
    let now = 0;
    const done = {
      advance: ({ ms }) => void (now += ms),
      add: ({ vector }) => void cache.add(vector, now),
      query: ({ vector }) => {
        const similarity = cache.maxCosineSimilarity(vector, now);
        return { similarity, novelty: cache.size === 0 ? 0.5 : 1 - Math.min(Math.max(similarity, 0), 1) };
      },
      evict: () => undefined,
      clear: () => void cache.clear(),
    };
    const results = ops.map((operation) => {
      let result = {};
      try {
        result = done[operation.op](operation) ?? {};
      } catch (error) {
        if (!/dimensions, got/.test(error.message)) throw error;
        result = { error: "dimension_mismatch" };
      }
      cache.evictExpired(now);
      return { ...result, size: cache.size };
    });
    return { results };
  },
  weights_guard: ({ weights }) => flags(() => void karat.assertWeights(fractions(weights))),
  composite_covered: (input) => {
    const { weights } = merged(input.weights);
    const found = composite(input, { weights });
    const covered = Object.keys(karat.DIMENSION_WEIGHTS).filter((key) => found.readings[key] !== undefined);
    return { covered, covered_count: covered.length, composite: found.composite, composite_f64: found.composite };
  },
  effective_weights: ({ override }) => {
    const { weights, outcome } = merged(override);
    return { outcome, effective: { ...weights } };
  },
  // Of an agent whose every measurement is the composite. The caps of the gate are above those that they hold for.
  to_thousand: ({ composite }) => ({ score: karat.compositeScore({ dimensions: { accuracy: fraction(composite), security: fraction(composite) } }).score }),
  decay_points_fractional_weeks: ({ age_seconds }) => {
    const points = (1 - karat.timeDecay(1, age_seconds)) * 1000;
    return { points, points_f64: points };
  },
  decay_composite_fractional_weeks: ({ composite_1000, age_seconds }) => {
    const points = karat.timeDecay(fraction(composite_1000) / 1000, age_seconds) * 1000;
    return { composite_1000: points, composite_1000_f64: points };
  },
  decay_per_dimension_fractional_1000: (input) => perMille(composite(input)),
  score_pipeline: (input) => {
    const { weights, outcome } = merged(input.override);
    const found = composite(input, { weights });
    // The cases have no gate.
    const score = Math.floor(found.composite * 1000 + 0.5);
    return { weights_outcome: outcome, ...perMille(found), score, ...karat.detectAnomaly(input.previous, score) };
  },
  jury_trim_median: ({ scores }) => {
    const { median, ...parts } = karat.juryScore(scores.map(fraction));
    return { n: scores.length, ...parts, median, median_f64: median };
  },
  anomaly_flag: ({ previous, next }) => karat.detectAnomaly(previous, next),
};

const count = (names) => Object.fromEntries(names.map((name) => [name, 0]));
const ran = count(Object.keys(FUNCTIONS));
const vectors = {};
for (const system of ["workflow", "arena", "trace", "trust"]) {
  const path = `vectors/${system}.jsonl`;
  vectors[system] = readFileSync(path, "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const answered = (await ask(["--emit", path], conformance)).stdout.trim().split("\n").map((line) => JSON.parse(line));
  const byId = new Map(answered.map((answer) => [answer.id, answer]));
  for (const { id, fn, input, expected, tolerance = TOLERANCE } of vectors[system]) {
    if (!Object.hasOwn(FUNCTIONS, fn)) continue;
    ran[fn] += 1;
    try {
      const found = FUNCTIONS[fn](input, expected);
      // Points of a thousand are known to a billionth of the share.
      const near = /composite|decay|pipeline/.test(fn) ? Math.max(tolerance, 1e-6) : tolerance;
      for (const difference of differences(Object.fromEntries(Object.entries(expected).filter(([key]) => key in found)), found, near)) fault(`${id} ${fn}`, difference);
      if (!Object.keys(expected).some((key) => key in found)) fault(`${id} ${fn}`, "nothing was compared");
      for (const difference of differences(found, byId.get(id)?.output ?? {}, near)) fault(`${id} ${fn}, by the engine`, difference);
    } catch (error) {
      fault(`${id} ${fn}`, String(error.stack));
    }
  }
}
console.log(`cases by function: ${JSON.stringify(ran)}`);
for (const [fn, cases] of Object.entries(ran)) if (cases === 0) fault(fn, "no case asks for it");

// The same items to the package and to the program.

const folder = mkdtempSync(join(tmpdir(), "karat-same-"));
const items = { ...found };
for (const outcome of Object.keys(items)) items[outcome] = 0;
const traces = vectors.trace.filter(({ fn }) => fn === "evaluate").map(({ id, input, expected }) => {
  const { novelty: _, vector: __, ...trace } = input.trace;
  if (typeof input.max_similarity === "number") trace.novelty = 1 - Math.min(Math.max(input.max_similarity, 0), 1);
  return { id, card: "trace@1.0.0", item: trace, expected };
});
const runs = vectors.workflow.filter(({ fn }) => fn === "workflow.score").map(({ id, input, expected }) => {
  const constraints = { max_budget_tao: input.max_budget_tao, max_latency_seconds: input.max_latency_seconds };
  const { steps_completed, total_steps, actual_tao: actual_cost, actual_seconds: actual_latency, timeouts, hard_failures } = input;
  const result = { steps_completed, total_steps, actual_cost, actual_latency, retries: {}, timeouts, hard_failures };
  return { id, card: "workflow@1.0.0", item: { run_id: id, miner_uid: 17, task: { task_id: id, constraints }, output_quality: input.output_quality, result }, expected };
});
const agents = vectors.trust.filter(({ fn }) => /^composite_covered$|^decay_per_dimension_fractional_1000$|^score_pipeline$/.test(fn)).map(({ id, input, expected }) => {
  const measured = ([key, given]) => [key, given && (typeof given === "object" ? { score: fraction(given.score), age_seconds: given.age_seconds } : fraction(given))];
  return { id, card: "trust@1.0.0", item: { subject: id, id, dimensions: Object.fromEntries(Object.entries(input.dimensions).map(measured)) }, expected: {} };
});
await each([...traces, ...runs, ...agents], async ({ id, card, item, expected }) => {
  const path = join(folder, `${id.replaceAll("/", "-")}.json`);
  writeFileSync(path, JSON.stringify(item));
  const engine = await Engine.load(card);
  items[await compareItem(`${id} ${card}`, engine, JSON.stringify(item), ["--card", card, path])] += 1;
  const record = attempt(() => engine.score(item)).value?.document;
  if (record !== undefined && expected.score !== undefined) {
    const readings = Object.fromEntries(record.dimensions.map(({ key, reading }) => [card.startsWith("workflow") ? `s_${key}` : key, reading]));
    const rules = record.steps.filter(({ kind }) => kind === "rule").map(({ name }) => name);
    const told = { ...readings, score: record.score?.exact, composite: record.composite, profile: record.profile?.name, rules, embedding_text: expected.embedding_text && engine.textToEmbed(item) };
    // Retries of the cases have those that were declared taken off; the items have none.
    if (card.startsWith("trace")) for (const difference of differences(expected, told, TOLERANCE)) fault(`${id} evaluate`, difference);
  }
  engine.dispose();
});
rmSync(folder, { recursive: true });
ran.evaluate = traces.length;
console.log(`items of cases: ${JSON.stringify(items)}`);

const cases = Object.values(ran).reduce((sum, many) => sum + many, 0);
const records = found.equal + lines.equal;
console.log(`${records} records of examples equal, ${found.refused + lines.refused} refused by both, ${items.equal} records of cases equal, ${cases} cases`);
for (const [name, many] of Object.entries({ records, refusals: found.refused, items: items.equal, cases })) {
  if (many < LEAST[name]) fault(name, `${many}, at least ${LEAST[name]} before`);
}
for (const text of faults.slice(0, 20)) console.error(text.slice(0, 3000));
if (faults.length > 0) console.error(`${faults.length} differences`);
process.exitCode = faults.length > 0 ? 1 : 0;
