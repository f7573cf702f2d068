/**
 * The composite trust score of an agent: the trust document, under its names. Without waiting, over tables of the scorecard `trust@1.0.0`;
 * score and tier are those of the engine. Where the document gives no number, the scorecard says what karat chose.
 */

import { KaratError, problem, type Problem } from "./error.js";
import { check, demand, known, refuse, shown, taking, type Range } from "./given.js";
import { BILLION, MILLION, UNITS, commonUnit, decimal, millionths, plain, round } from "./number.js";
import { TRUST } from "./tables.js";

/** One of the sixteen dimensions. */
export type TrustDimension = keyof typeof TRUST.weights;
/** Weights by dimension; they sum to 1 within 0.001. */
export type DimensionWeights = Readonly<Record<TrustDimension, number>>;
/** A certification tier. */
export type Tier = (typeof TRUST.tiers)[number]["name"];

const KEYS = Object.keys(TRUST.weights) as TrustDimension[];
/** The tiers, the lowest first. */
export const TIERS: readonly Tier[] = TRUST.tiers.map(({ name }) => name);

/** The weights of the sixteen dimensions (section 1). */
export const DIMENSION_WEIGHTS: DimensionWeights = Object.freeze({ ...TRUST.weights });
/** What each dimension measures (section 1). */
export const DIMENSION_DESCRIPTIONS: Readonly<Record<TrustDimension, string>> = TRUST.descriptions;

/**
 * The guard of section 1: throws unless weights sum to 1, give or take 0.001. Added as decimals, so that the last bit of a sum of doubles
 * decides nothing: 0.999 passes.
 *
 * @throws {KaratError} `weights`, with the document's message; `invalid_value` if weights are not numbers of 0 or more
 */
export const assertWeights = taking("weights", function (weights: Readonly<Record<string, number>>): void {
  demand(...Object.entries(weights).map(([key, weight]): Range => [`$.${key}`, weight, 0, Infinity]));
  const sum = sumOf(weights);
  if (!isNearOne(sum, TRUST.tolerance)) {
    const problems = [problem("$", `weights that sum to ${plain(sum)}`, "a sum of 1")];
    throw new KaratError("weights", `Score weights must sum to 1.0, got ${Number(plain(sum)).toFixed(4)}`, { problems });
  }
});

// Fires once at load: weights that do not sum to 1 must not score anything.
assertWeights(DIMENSION_WEIGHTS);

/**
 * Merges weights from outside over those of the document (section 4). Weights that cannot be used are rejected with a warning, and
 * `DIMENSION_WEIGHTS` stay: a dimension that there is not, a weight below 0 or with more than six decimals, a sum more than 0.001 from 1.
 *
 * @param override - some weights, or null for none
 * @param warn - where the warning goes
 */
export const mergeWeights = taking("override, warn", function (
  override: Readonly<Partial<Record<TrustDimension, number>>> | null,
  warn: (message: string) => void = (message) => console.warn(message),
): DimensionWeights {
  if (override === null) return DIMENSION_WEIGHTS;
  const merged: Record<string, number> = { ...DIMENSION_WEIGHTS, ...override };
  const reason = whyNot(override, merged);
  if (reason === null) return Object.freeze(merged) as DimensionWeights;
  warn(`[scoring] Adaptive weights override rejected: ${reason}`);
  return DIMENSION_WEIGHTS;
});

function whyNot(override: Readonly<Record<string, number>>, merged: Readonly<Record<string, number>>): string | null {
  for (const [key, weight] of Object.entries(override)) {
    if (!Object.hasOwn(DIMENSION_WEIGHTS, key)) return `there is no dimension \`${key}\``;
    if (!Number.isFinite(weight) || weight < 0) return `the weight of \`${key}\` is ${shown(weight)}, expected a number of 0 or more`;
    if (decimal(weight) % 1_000_000_000_000n !== 0n) return `the weight of \`${key}\` has more than six decimals: ${weight}`;
  }
  const sum = sumOf(merged);
  const off = `merged sum = ${Number(plain(sum)).toFixed(6)}`;
  if (!isNearOne(sum, TRUST.override_tolerance)) return `${off}, more than ${TRUST.override_tolerance} from 1`;
  return null;
}

function sumOf(weights: Readonly<Record<string, number>>): bigint {
  return Object.values(weights).reduce((sum, weight) => sum + decimal(weight), 0n);
}

function isNearOne(sum: bigint, tolerance: number): boolean {
  const off = sum - decimal(1);
  return (off < 0n ? -off : off) <= decimal(tolerance);
}

/** The weights from outside (section 4). This package has none: call `mergeWeights`, and give `compositeScore` what it returns. */
export const ADAPTIVE_WEIGHTS_OVERRIDE: Readonly<Partial<Record<TrustDimension, number>>> | null = null;

/** The weights in force (section 4). */
export const EFFECTIVE_DIMENSION_WEIGHTS: DimensionWeights = mergeWeights(ADAPTIVE_WEIGHTS_OVERRIDE);

/** A measurement: a share, 0 to 1; null if there is none; with the age of what it rests on, in seconds. */
export type Measurement = number | null | "not-applicable" | { score: number | null; age_seconds?: number | null };

/** What is known of an agent: evidence of the kind `agent-dimensions`, which `Engine` takes as it is. */
export interface TrustEvidence {
  agent_id?: string;
  subject?: string;
  id?: string;
  time?: string;
  /** By dimension; those left out were not measured. `teamwork: null` says that it does not apply: it is opt-in (section 2). */
  dimensions: Readonly<Partial<Record<TrustDimension, Measurement>>>;
  /** Dimensions that do not apply to the agent, which costs no coverage: `bond`, `memoryQuality`, `teamwork`. */
  not_applicable?: readonly TrustDimension[];
  /** A confirmed critical incident is not closed. */
  critical_incident_open?: boolean;
}

/** The settings of a composite. */
export interface TrustOptions {
  /** `EFFECTIVE_DIMENSION_WEIGHTS` if not given. Coverage is always by `DIMENSION_WEIGHTS`. */
  weights?: DimensionWeights;
  /** Seconds since the time of the evidence: they are added to its ages. */
  elapsedSeconds?: number;
}

/** A composite, and what it came from. */
export interface TrustScore {
  /** 0 to 1000, after the gate; null if nothing was measured. */
  score: number | null;
  /** The weighted mean over what was measured, 0 to 1, after decay and before the gate. */
  composite: number | null;
  /** The share of the weight that applies which was measured, 0 to 1. */
  coverage: number;
  /** The tier that score, coverage and dimensions reach; null for none. */
  tier: Tier | null;
  /** What the next tier asks and is not there; empty at the highest. */
  blocked_by: Blocker[];
  /** The gates that held. */
  gates: Gate[];
  /** The measurements after decay, 0 to 1. */
  readings: Partial<Record<TrustDimension, number>>;
}

/** A gate of the scorecard. */
export type Gate = "security not measured" | "security weak" | "security veto" | "critical incident open";

/** The fields of the kind `agent-dimensions`. */
const FIELDS: ReadonlySet<string> = new Set(["agent_id", "subject", "id", "time", "dimensions", "not_applicable", "critical_incident_open"]);
const DAYS_OF = { grace: TRUST.decay.grace_seconds, period: TRUST.decay.period_seconds };
const LOST_PER_PERIOD = TRUST.decay.points_per_period * millionths(TRUST.decay.point) * 1000;

/**
 * Computes the composite score of an agent (section 5): decay of each dimension by the age of its evidence, weighted mean over those
 * that were measured, security gate, 0 to 1000 with halves up, tier.
 *
 * @throws {KaratError} `invalid_value` with everything that is wrong with the evidence; `weights` if weights do not sum to 1
 */
export const compositeScore = taking("evidence, options", function (evidence: TrustEvidence, options: TrustOptions = {}): TrustScore {
  const weights = { ...DIMENSION_WEIGHTS, ...(known(options, ["weights", "elapsedSeconds"]).weights ?? EFFECTIVE_DIMENSION_WEIGHTS) };
  if (options.weights !== undefined) assertWeights(weights);
  const { readings, applies } = measured(evidence, options.elapsedSeconds ?? NaN);
  const own = inUnits(DIMENSION_WEIGHTS);
  const used = inUnits(weights);
  // Sums of whole numbers below 2^53, which are exact; each quotient is rounded once.
  let [total, sum, covered, applicable] = [0, 0, 0, 0];
  KEYS.forEach((key, at) => {
    if (!applies.has(key)) return;
    const reading = readings.get(key);
    applicable += own[at]!;
    if (reading === undefined) return;
    covered += own[at]! * BILLION;
    total += used[at]! * reading;
    sum += used[at]!;
  });
  const composite = sum === 0 ? null : round(total / sum);
  const coverage = applicable === 0 ? 0 : round(covered / applicable);
  const security = readings.get(TRUST.gate.dimension);
  const gate = gateOf(security, evidence.critical_incident_open ?? false);
  const score = composite === null ? null : publish(Math.min(composite * MILLION, units(gate.cap)));
  const { tier, blocked_by } = tierOf(score, coverage, readings, gate.gates);
  return {
    score,
    composite: composite === null ? null : composite / BILLION,
    coverage: coverage / BILLION,
    tier,
    blocked_by,
    gates: gate.gates,
    readings: Object.fromEntries([...readings].map(([key, reading]) => [key, reading / BILLION])),
  };
});

/** Returns readings in billionths after decay, and the dimensions that apply. */
function measured(evidence: TrustEvidence, elapsed: number): { readings: Map<TrustDimension, number>; applies: Set<string> } {
  const problems: Problem[] = [];
  const known = (path: string, key: string): boolean => {
    const isKnown = Object.hasOwn(DIMENSION_WEIGHTS, key);
    if (!isKnown) problems.push(problem(path, `\`${key}\``, `one of the sixteen dimensions: ${KEYS.join(", ")}`));
    return isKnown;
  };
  if (typeof evidence !== "object" || evidence === null) throw KaratError.invalid([problem("$", shown(evidence), "an object")]);
  for (const key of Object.keys(evidence)) {
    if (!FIELDS.has(key)) problems.push(problem(`$.${key}`, `\`${key}\``, `one of ${[...FIELDS].join(", ")}`));
  }
  const { dimensions } = evidence;
  const [excluded, isOpen] = [evidence.not_applicable ?? [], evidence.critical_incident_open ?? false];
  if (typeof isOpen !== "boolean") problems.push(problem("$.critical_incident_open", shown(isOpen), "true or false"));
  if (typeof dimensions !== "object" || dimensions === null || Array.isArray(dimensions)) problems.push(problem("$.dimensions", shown(dimensions), "an object of dimensions"));
  const applies = new Set<string>(KEYS);
  const readings = new Map<TrustDimension, number>();
  for (const [key, measurement] of Object.entries(dimensions ?? {})) {
    const path = `$.dimensions.${key}`;
    if (!known(path, key)) continue;
    const isObject = typeof measurement === "object" && measurement !== null;
    const { score, age_seconds: age = null } = isObject ? measurement : { score: measurement };
    if (score === "not-applicable" && !isObject) applies.delete(key);
    else if (score === null) {
      if (key === "teamwork") applies.delete(key);
    } else check(problems, path, score, 0, 1);
    if (age !== null) check(problems, `${path}.age_seconds`, age, 0, Infinity);
    if (typeof score === "number") readings.set(key as TrustDimension, decayed(round(score * BILLION), ageOf(age, elapsed)));
  }
  excluded.forEach((key, at) => {
    const path = `$.not_applicable[${at}]`;
    if (!known(path, key)) return;
    applies.delete(key);
    if (readings.has(key)) problems.push(problem(path, "a dimension that has a score", "either a score or not applicable"));
  });
  refuse(problems);
  // That the other thirteen do not apply is not for an agent to say: they are then not measured.
  for (const key of KEYS) if (!(TRUST.may_not_apply as readonly string[]).includes(key)) applies.add(key);
  return { readings, applies };
}

function ageOf(stated: number | null, elapsed: number): number {
  if (stated === null) return elapsed;
  return elapsed > 0 ? stated + elapsed : stated;
}

/** Returns weights in units of their greatest common divisor, with which quotients are exact. */
function inUnits(weights: DimensionWeights): number[] {
  const whole = KEYS.map((key) => millionths(weights[key]));
  const unit = commonUnit(whole);
  return whole.map((weight) => weight / unit);
}

function units(points: number): number {
  return (points / TRUST.max) * UNITS;
}

/** Units of a score to whole points, halves up. */
function publish(score: number): number {
  return Math.floor(score / (UNITS / TRUST.max) + 0.5);
}

/** What is left in billionths of a reading whose evidence is so old; of an unknown age, all of it. */
function decayed(reading: number, ageSeconds: number): number {
  if (Number.isNaN(ageSeconds)) return reading;
  const beyond = Math.max(ageSeconds - DAYS_OF.grace, 0);
  return round(Math.max(reading - (beyond * LOST_PER_PERIOD) / DAYS_OF.period, 0));
}

/**
 * Takes off what age takes: a point of a thousand per week after a week of grace, parts of a week in part, never below 0 (section 3, "Time
 * decay"). To a billionth.
 *
 * @param value - a measurement, 0 to 1
 * @param ageSeconds - of its evidence; below 0, by a clock that runs ahead, nothing is taken off
 */
export function timeDecay(value: number, ageSeconds: number): number {
  demand(["value", value, 0, 1], ["ageSeconds", ageSeconds, -Infinity, Infinity]);
  return decayed(round(value * BILLION), ageSeconds) / BILLION;
}

/** What a gate leaves of a score. */
export interface Gated {
  /** The score, at most the cap. */
  score: number;
  /** The highest tier that stays open; `none` if all are shut, null if none is. */
  highest_tier: Tier | "none" | null;
  /** The gates that hold. */
  gates: Gate[];
}

/**
 * Applies the security gate (section 5, step 5): below 0.50 a score is capped at 599 and a tier above bronze shut, below 0.25 and with an
 * open critical incident at 399 and every tier. Security that was not measured caps nothing and leaves bronze.
 *
 * @param score - 0 to 1000
 * @param security - the dimension after decay, 0 to 1; null if it was not measured
 */
export const applySecurityGate = taking("score, security, options", function (score: number, security: number | null, options: { criticalIncidentOpen?: boolean } = {}): Gated {
  known(options, ["criticalIncidentOpen"]);
  demand(["score", score, 0, TRUST.max], ["security", security ?? 0, 0, 1]);
  const gate = gateOf((security ?? null) === null ? undefined : round((security as number) * BILLION), options.criticalIncidentOpen ?? false);
  const highest = gate.open === TIERS.length ? null : (TIERS[gate.open - 1] ?? "none");
  return { score: Math.min(score, gate.cap), highest_tier: highest, gates: gate.gates };
});

/** What each gate does: its cap in points, and how many tiers it leaves open. In the order of the scorecard. */
const GATES: readonly { name: Gate; cap: number; open: number }[] = (() => {
  const { unmeasured, steps, incident } = TRUST.gate;
  const gate = (name: Gate, tier: string, cap: number): { name: Gate; cap: number; open: number } => {
    return { name, cap, open: (TIERS as readonly string[]).indexOf(tier) + 1 };
  };
  return [
    gate("security not measured", unmeasured, TRUST.max),
    gate("security weak", steps[0].tier, steps[0].cap),
    gate("security veto", steps[1].tier, steps[1].cap),
    gate("critical incident open", incident.tier, incident.cap),
  ];
})();

/** `security` is in billionths. */
function gateOf(security: number | undefined, isIncidentOpen: boolean): { cap: number; open: number; gates: Gate[] } {
  const [weak, veto] = TRUST.gate.steps.map(({ below }) => security !== undefined && security < millionths(below) * 1000);
  const holds = [security === undefined, weak, veto, isIncidentOpen];
  const holding = GATES.filter((_, at) => holds[at]);
  return {
    cap: Math.min(TRUST.max, ...holding.map(({ cap }) => cap)),
    open: Math.min(TIERS.length, ...holding.map(({ open }) => open)),
    gates: holding.map(({ name }) => name),
  };
}

/** Something that a tier asks and an agent lacks. */
export interface Blocker {
  /** `score`, `coverage`, a dimension, or `gate` with the name of one. */
  condition: "score" | "coverage" | TrustDimension | `gate ${Gate}`;
  /** The least that is needed: points, or a share; 0 of a gate. */
  needed: number;
  /** What there is; null if it was not measured. */
  found: number | null;
}

/** A tier, and what is in the way of the next. */
export interface Certification {
  tier: Tier | null;
  next: Tier | null;
  blocked_by: Blocker[];
}

/**
 * Returns the tier that a score reaches, with the coverage and the mandatory dimensions that each asks (sections 2 and 5, step 6). What a
 * tier asks of many evaluations (their number, days, runners, freshness) is a matter of a standing: `karat standing`.
 *
 * @param facts - the score after the gate, coverage and dimensions after decay, and the gates that hold
 */
export const certificationTier = taking("facts", function (facts: {
  score: number | null;
  coverage: number;
  readings: Readonly<Partial<Record<TrustDimension, number>>>;
  gates?: readonly Gate[];
}): Certification {
  const ranges = Object.entries(facts.readings).map(([key, reading]): Range => [`readings.${key}`, reading, 0, 1]);
  demand(["score", facts.score ?? 0, 0, TRUST.max], ["coverage", facts.coverage, 0, 1], ...ranges);
  const readings = new Map(Object.entries(facts.readings).map(([key, reading]) => [key, round(reading * BILLION)]));
  return tierOf(facts.score ?? null, round(facts.coverage * BILLION), readings, facts.gates ?? []);
});

/** `coverage` and `readings` are in billionths. */
function tierOf(score: number | null, coverage: number, readings: ReadonlyMap<string, number>, gates: readonly Gate[]): Certification {
  for (const [at, tier] of TRUST.tiers.entries()) {
    const blocked_by: Blocker[] = [];
    if (score === null || score < tier.score) blocked_by.push({ condition: "score", needed: tier.score, found: score });
    if (coverage < millionths(tier.coverage) * 1000) {
      blocked_by.push({ condition: "coverage", needed: tier.coverage, found: coverage / BILLION });
    }
    for (const [key, floor] of Object.entries(tier.floors)) {
      const reading = readings.get(key);
      if (reading !== undefined && reading >= millionths(floor) * 1000) continue;
      blocked_by.push({ condition: key as TrustDimension, needed: floor, found: reading === undefined ? null : reading / BILLION });
    }
    for (const { name, open } of GATES) {
      if (open <= at && gates.includes(name)) blocked_by.push({ condition: `gate ${name}`, needed: 0, found: null });
    }
    if (blocked_by.length > 0) return { tier: TIERS[at - 1] ?? null, next: tier.name, blocked_by };
  }
  return { tier: TIERS.at(-1) ?? null, next: null, blocked_by: [] };
}

/** The result of a jury. */
export interface JuryScore {
  /** The median of those kept, 0 to 100; null without a score. */
  median: number | null;
  /** How many are trimmed on each side: a fifth, rounded down. */
  trim_each_side: number;
  trimmed_low: number[];
  kept: number[];
  trimmed_high: number[];
}

/**
 * Trims the top and bottom 20 % of the scores of a jury, and takes the median of what is left (section 3, "Jury outlier filtering"). On a
 * grid of 1e-9 points, so that the order of the scores changes nothing.
 *
 * @param scores - points of each judge, 0 to 100
 */
export const juryScore = taking("scores", function (scores: readonly number[]): JuryScore {
  const problems: Problem[] = [];
  for (const [at, score] of scores.entries()) check(problems, `$[${at}]`, score, 0, 100);
  refuse(problems);
  const sorted = scores.map((score) => round(score * BILLION)).sort((a, b) => a - b);
  const trim = Math.floor(sorted.length / 5);
  const points = (from: number, to: number): number[] => sorted.slice(from, to).map((units) => units / BILLION);
  const middle = (sorted[(sorted.length - 1) >> 1] ?? NaN) + (sorted[sorted.length >> 1] ?? NaN);
  return {
    // Trimming alike on both sides moves no median.
    median: sorted.length === 0 ? null : middle / (2 * BILLION),
    trim_each_side: trim,
    trimmed_low: points(0, trim),
    kept: points(trim, sorted.length - trim),
    trimmed_high: points(sorted.length - trim, sorted.length),
  };
});

/** A change from one score to the next. */
export interface Swing {
  /** Points up or down; null for a first score. */
  delta: number | null;
  /** True for more than 200 points: such a score is reviewed before it counts. */
  was_anomalous: boolean;
}

/**
 * Flags a swing of more than 200 points (section 3, "Anomaly detection"); 200 are none, and a first score is none.
 *
 * @param previous - the published score before, in whole points; null if there is none
 */
export function detectAnomaly(previous: number | null, next: number): Swing {
  demand(["previous", previous ?? 0, 0, TRUST.max, true], ["next", next, 0, TRUST.max, true]);
  const delta = typeof previous === "number" ? next - previous : null;
  return { delta, was_anomalous: delta !== null && Math.abs(delta) > TRUST.swing_points };
}
