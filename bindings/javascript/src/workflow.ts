/**
 * The score of a workflow run, the window over many, and the shares of miners: the workflow document, section 3.2, under its names. Without
 * waiting, over tables of the scorecard `workflow`; the bits are those of the engine.
 */

import { problem, type Problem } from "./error.js";
import { check, demand, refuse, shown, taking, type Range } from "./given.js";
import { BILLION, MILLION, UNITS, decimal, millionths, round, roundRatio } from "./number.js";
import { WORKFLOW } from "./tables.js";

/** What counts as a retry or a failure of a run, in whole numbers. */
export interface Mishaps {
  actual_retries: number;
  /** The sum of `retry_count` in `error_handling`; 0 if not given. Declared retries are free. */
  declared_retry_budget?: number;
  /** Step executions that exceeded the timeout that they declare. */
  timeouts: number;
  /** Steps that ended after the declared retries. */
  hard_failures: number;
}

/** What a run supplies ("Where:"). */
export interface WorkflowRun extends Mishaps {
  /** 0 to 1. */
  output_quality_score: number;
  steps_completed: number;
  total_steps_in_dag: number;
  actual_tao: number;
  max_budget_tao: number;
  actual_seconds: number;
  max_latency_seconds: number;
}

/** The composite of a run, 0 to 1, and its four parts. */
export interface WorkflowScore {
  score: number;
  success: number;
  cost: number;
  latency: number;
  reliability: number;
}

/** The weights of the four parts. */
export const WEIGHTS: Readonly<typeof WORKFLOW.weights> = WORKFLOW.weights;
/** Cost and latency are only scored above this success. */
export const SUCCESS_GATE = WORKFLOW.success_above;
/** The tasks of a window. */
export const WINDOW_TASKS = WORKFLOW.window_tasks;
/** The largest share of a miner. */
export const SHARE_CAP = WORKFLOW.cap;

/**
 * S_success = output quality x completion ratio, to a billionth.
 *
 * @param outputQuality - 0 to 1
 * @param totalSteps - steps of the plan; of none, nothing is completed
 */
export function successScore(outputQuality: number, stepsCompleted: number, totalSteps: number): number {
  demand(["outputQuality", outputQuality, 0, 1], ...steps("stepsCompleted", stepsCompleted, "totalSteps", totalSteps));
  return success(outputQuality, stepsCompleted, totalSteps) / BILLION;
}

/** S_cost = max(0, 1 - actual / budget), to a billionth; 0 unless `successScore` is above 0.7, and of no budget. */
export function costScore(actualTao: number, maxBudgetTao: number, successScore: number): number {
  demand(["actualTao", actualTao, 0, Infinity], ["maxBudgetTao", maxBudgetTao, 0, Infinity], ["successScore", successScore, 0, 1]);
  return left(actualTao, maxBudgetTao, round(successScore * BILLION)) / BILLION;
}

/** S_latency = max(0, 1 - actual / limit), to a billionth; 0 unless `successScore` is above 0.7, and of no time. */
export function latencyScore(actualSeconds: number, maxLatencySeconds: number, successScore: number): number {
  demand(["actualSeconds", actualSeconds, 0, Infinity], ["maxLatencySeconds", maxLatencySeconds, 0, Infinity], ["successScore", successScore, 0, 1]);
  return left(actualSeconds, maxLatencySeconds, round(successScore * BILLION)) / BILLION;
}

/** S_reliability = 1 - (unplanned retries x 0.10 + timeouts x 0.20 + hard failures x 0.50), 0 to 1, to a billionth; without a gate. */
export const reliabilityScore = taking("mishaps", function (mishaps: Mishaps): number {
  demand(...counts(mishaps));
  return reliability(mishaps) / BILLION;
});

/**
 * S = 0.50 S_success + 0.25 S_cost + 0.15 S_latency + 0.10 S_reliability ("Composite Score").
 *
 * @throws {KaratError} `invalid_value` with everything that is wrong. A run that lacks a measurement has no score.
 */
export const compositeScore = taking("run", function (run: WorkflowRun): WorkflowScore {
  const amounts = ["actual_tao", "max_budget_tao", "actual_seconds", "max_latency_seconds"] as const;
  demand(
    ["output_quality_score", run.output_quality_score, 0, 1],
    ...steps("steps_completed", run.steps_completed, "total_steps_in_dag", run.total_steps_in_dag),
    ...amounts.map((name): Range => [name, run[name], 0, Infinity]),
    ...counts(run),
  );
  const succeeded = success(run.output_quality_score, run.steps_completed, run.total_steps_in_dag);
  const parts = {
    success: succeeded,
    cost: left(run.actual_tao, run.max_budget_tao, succeeded),
    latency: left(run.actual_seconds, run.max_latency_seconds, succeeded),
    reliability: reliability(run),
  };
  // Whole numbers of 1e-15: exact.
  const sum = (Object.keys(parts) as (keyof typeof parts)[]).reduce((sum, key) => sum + millionths(WEIGHTS[key]) * parts[key], 0);
  const { success: s, cost: c, latency: l, reliability: r } = parts;
  return { score: sum / UNITS, success: s / BILLION, cost: c / BILLION, latency: l / BILLION, reliability: r / BILLION };
});

/** In billionths, as the others below. */
function success(quality: number, completed: number, total: number): number {
  return round(quality * (total > 0 ? completed / total : 0) * BILLION);
}

function left(actual: number, most: number, success: number): number {
  // Rounded first, so that the last bit of a product of 0.7 opens nothing.
  if (!(success / BILLION > SUCCESS_GATE)) return 0;
  return most > 0 ? round(Math.max(0, 1 - Math.min(actual, most) / most) * BILLION) : 0;
}

function reliability({ actual_retries: retries, declared_retry_budget: declared = 0, timeouts, hard_failures: failures }: Mishaps): number {
  const { unplanned_retries, timeouts: perTimeout, hard_failures } = WORKFLOW.penalties;
  const lost = Math.max(0, retries - declared) * unplanned_retries + timeouts * perTimeout + failures * hard_failures;
  return round(Math.min(1, Math.max(0, 1 - lost)) * BILLION);
}

function steps(name: string, completed: number, ofName: string, total: number): Range[] {
  return [[ofName, total, 0, Infinity, true], [name, completed, 0, total >= 0 ? total : Infinity, true]];
}

function counts(mishaps: Mishaps): Range[] {
  const { actual_retries, declared_retry_budget = 0, timeouts, hard_failures } = mishaps;
  const all = { actual_retries, declared_retry_budget, timeouts, hard_failures };
  return Object.entries(all).map(([name, count]): Range => [name, count, 0, Infinity, true]);
}

/**
 * The rolling window ("Score Aggregation"): the mean of the last 100 scores with equal weight. One that is not full is divided by what is
 * in it. Added exactly, so that no rounding grows over a million tasks.
 */
export class RollingWindow {
  /** The most scores in it. */
  readonly tasks: number;
  #scores: number[] = [];
  /** The place of the oldest score, once the window is full. */
  #oldest = 0;
  #sum = 0n;

  /** @throws {KaratError} `invalid_value` if `tasks` is not a whole number of 1 or more */
  constructor(tasks: number = WINDOW_TASKS) {
    demand(["tasks", tasks, 1, Infinity, true]);
    this.tasks = tasks;
  }

  /** Number of scores in it. */
  get size(): number {
    return this.#scores.length;
  }

  /** Adds the score of the next task, 0 to 1; the oldest one goes if there are too many. */
  add(score: number): void {
    demand(["score", score, 0, 1]);
    const units = round(score * UNITS);
    this.#sum += BigInt(units);
    if (this.#scores.length < this.tasks) {
      this.#scores.push(units);
      return;
    }
    this.#sum -= BigInt(this.#scores[this.#oldest]!);
    this.#scores[this.#oldest] = units;
    this.#oldest = (this.#oldest + 1) % this.tasks;
  }

  /** The mean, rounded once to the grid of scores (1e-15); null for an empty window. */
  get mean(): number | null {
    return this.size === 0 ? null : Number(roundRatio(this.#sum, BigInt(this.size))) / UNITS;
  }
}

/** Shares of the whole. */
export interface Shares {
  /** In the order of the scores. Together they are 1, unless no score is above 0. */
  shares: number[];
  /** `cap-raised`: with so few miners no cap can hold, and all that have a score get the same. */
  case: "nothing-to-share" | "proportional" | "redistributed" | "cap-raised";
  /** How many get the cap because their part would have been larger. */
  capped: number;
}

/**
 * Shares 1 out in proportion to scores, none above the cap ("capped at 15% max weight per miner"): what is above it goes to the others in
 * proportion to their scores, until none is. Exact on a grid of 1e-15, where units that do not divide go by the largest remainder, and
 * first come first among equals: give scores in a fixed order, such as by name.
 *
 * @param scores - 0 to 1 each
 * @param cap - above 0, at most 1, at most six decimals
 * @throws {KaratError} `invalid_value` with everything that is out of range
 */
export const capShares = taking("scores, cap", function (scores: readonly number[], cap: number = SHARE_CAP): Shares {
  const problems: Problem[] = [];
  for (const [at, score] of scores.entries()) check(problems, `$[${at}]`, score, 0, 1);
  if (!(cap > 0 && cap <= 1) || decimal(cap) % 1_000_000_000_000n !== 0n) {
    problems.push(problem("cap", shown(cap), "a number above 0 and at most 1, with at most six decimals"));
  }
  refuse(problems);
  const whole = scores.map((score) => BigInt(round(score * UNITS)));
  const largestFirst = whole.map((_, at) => at).filter((at) => whole[at]! > 0n);
  largestFirst.sort((a, b) => Number(whole[b]! - whole[a]!));
  const [million, one] = [BigInt(MILLION), BigInt(UNITS)];
  const capMillionths = BigInt(millionths(cap));
  const capUnits = capMillionths * (one / million);
  const positive = largestFirst.length;
  const give = (name: Shares["case"], shares: bigint[], capped: number): Shares => {
    return { shares: shares.map((units) => Number(units) / UNITS), case: name, capped };
  };
  if (positive === 0) return give("nothing-to-share", whole, 0);
  if (BigInt(positive) * capUnits < one) {
    const shares = whole.map(() => 0n);
    const [each, more] = [one / BigInt(positive), one % BigInt(positive)];
    largestFirst.forEach((at, place) => (shares[at] = each + (BigInt(place) < more ? 1n : 0n)));
    return give("cap-raised", shares, positive);
  }
  // The largest are held at the cap until the next one fits below it.
  let sum = whole.reduce((sum, units) => sum + units, 0n);
  const held = new Set<number>();
  for (const at of largestFirst) {
    if (whole[at]! * (million - BigInt(held.size) * capMillionths) <= sum * capMillionths) break;
    sum -= whole[at]!;
    held.add(at);
  }
  const rest = apportion(one - BigInt(held.size) * capUnits, whole.map((units, at) => (held.has(at) ? 0n : units)));
  const shares = rest.map((share, at) => (held.has(at) ? capUnits : share));
  return give(held.size === 0 ? "proportional" : "redistributed", shares, held.size);
});

/** Shares a total out in proportion to parts: rounded down, and what is left over to the largest remainders. */
function apportion(total: bigint, parts: readonly bigint[]): bigint[] {
  const sum = parts.reduce((sum, part) => sum + part, 0n);
  if (sum === 0n) return parts.map(() => 0n);
  const shares = parts.map((part) => (part * total) / sum);
  const remainders = parts.map((part) => (part * total) % sum);
  const left = Number(total - shares.reduce((sum, share) => sum + share, 0n));
  const order = parts.map((_, at) => at).sort((a, b) => Number(remainders[b]! > remainders[a]!) - Number(remainders[b]! < remainders[a]!));
  for (const at of order.slice(0, left)) shares[at]! += 1n;
  return shares;
}
