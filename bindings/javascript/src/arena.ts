/** Matches at challenges: the arena's document, under its names. Without waiting, over tables of the scorecard `arena`. */

import { problem, type Problem } from "./error.js";
import { check, demand, refuse, shown, taking, type Range } from "./given.js";
import { BILLION, MILLION, decimal, plain, round } from "./number.js";
import { ARENA } from "./tables.js";

/** A dimension of a challenge. */
export interface ScoringDimension {
  key: string;
  label: string;
  /** Its share of the total, 0 to 1. */
  weight: number;
  description: string;
  /** `emerald`, `sky`, `gold`, `purple` or `coral`. */
  color: string;
}

/** What a dimension says besides its weight. */
export type DimensionInfo = Omit<ScoringDimension, "weight">;

/** A result of a match. */
export type MatchResult = "win" | "draw" | "loss";

/** The score of a match from which it is won ("Score to Result Mapping"). */
export const SOLO_WIN_THRESHOLD = ARENA.win;
/** The score of a match from which it is drawn. */
export const SOLO_DRAW_THRESHOLD = ARENA.draw;
/** The highest score. */
export const MAX_SCORE = ARENA.max;

const EXTRA: ReadonlySet<string> = new Set(ARENA.extra);
const PALETTE: ReadonlyMap<string, Readonly<DimensionInfo>> = new Map(ARENA.dimensions.map((info) => [info.key, info]));
const palette = (isExtra: boolean): Readonly<Record<string, Readonly<DimensionInfo>>> =>
  Object.freeze(Object.fromEntries([...PALETTE].filter(([key]) => EXTRA.has(key) === isExtra)));

/** The seven core dimensions by key ("Core Dimensions"). */
export const STANDARD_DIMENSIONS = palette(false);
/** The two that verified matches may have beside them ("Efficiency Dimensions"); they do not count among the two to six. */
export const EFFICIENCY_DIMENSIONS = palette(true);

const COLORS = ["emerald", "sky", "gold", "purple", "coral"];

/**
 * Picks the dimensions of a challenge, in the order of `weights`.
 *
 * @param weights - the dimensions with their weights, which sum to 1 within 0.001 (thirds are written as decimals): core dimensions, or
 * keys of one's own. A challenge has two to six: `validateDimensions` says so
 * @param overrides - other texts and colors; of dimensions that are not picked they are ignored
 * @throws {KaratError} `invalid_value` with everything that is wrong. The platform's own helper checks none of it.
 */
export const dims = taking("weights, overrides", function (
  weights: Readonly<Record<string, number>>,
  overrides: Readonly<Record<string, Partial<DimensionInfo>>> | null = null,
): ScoringDimension[] {
  const picked = Object.entries(weights).map(([key, weight]) => {
    const known = PALETTE.get(key);
    const other = Object.hasOwn(overrides ?? {}, key) ? overrides?.[key] : undefined;
    return {
      key,
      label: other?.label ?? known?.label ?? key,
      weight,
      description: other?.description ?? known?.description ?? key,
      color: other?.color ?? known?.color ?? "gold",
    };
  });
  refuse(faults(picked));
  return picked;
});

/**
 * Returns everything that forbids the dimensions of a challenge; nothing if they are allowed. Keys of one's own are, of 1 to 30 letters
 * a to z and `_`; labels have up to 40, descriptions up to 200 UTF-16 code units. Weights are added exactly, as decimals.
 */
export const validateDimensions = taking("dimensions", allowed);

function allowed(dimensions: readonly ScoringDimension[]): Problem[] {
  const counted = dimensions.filter(({ key }) => !EXTRA.has(key)).length;
  const { min, max } = ARENA.pick;
  const isAllowed = counted >= min && counted <= max;
  return [...(isAllowed ? [] : [problem("", counted === 1 ? "1 dimension" : `${counted} dimensions`, `${min} to ${max} of them`)]), ...faults(dimensions)];
}

function faults(dimensions: readonly ScoringDimension[]): Problem[] {
  const problems: Problem[] = [];
  const keys = dimensions.map(({ key }) => key);
  dimensions.forEach(({ key, label, weight, description, color }, at) => {
    const path = typeof key === "string" && key !== "" ? key : `[${at}]`;
    if (typeof key !== "string" || !/^[a-z_]{1,30}$/.test(key)) problems.push(problem(path, shown(key), "a key of 1 to 30 letters a to z and _"));
    if (keys.indexOf(key) < at) problems.push(problem(path, "it twice", "each dimension once"));
    check(problems, `${path}.weight`, weight, 0, 1);
    for (const [name, text, most] of [["label", label, 40] as const, ["description", description, 200] as const]) {
      if (typeof text !== "string" || text.length < 1 || text.length > most) {
        problems.push(problem(`${path}.${name}`, typeof text === "string" ? `${text.length} characters` : shown(text), `a text of 1 to ${most}`));
      }
    }
    if (!COLORS.includes(color)) problems.push(problem(`${path}.color`, shown(color), `one of ${COLORS.join(", ")}`));
  });
  const isWeight = (weight: unknown): boolean => typeof weight === "number" && weight >= 0 && weight <= 1;
  if (dimensions.every(({ weight }) => isWeight(weight))) {
    const sum = dimensions.reduce((sum, { weight }) => sum + decimal(weight), 0n);
    const off = sum - decimal(1);
    // The tolerance itself is outside: 0.999 is refused.
    if (off !== 0n && (off < 0n ? -off : off) >= decimal(ARENA.tolerance)) problems.push(problem("", `weights that sum to ${plain(sum)}`, "a sum of 1"));
  }
  return problems;
}

/** Returns the result of a match by its score, 0 to 1000; both thresholds belong to the better result. */
export function scoreToResult(score: number): MatchResult {
  demand(["score", score, 0, MAX_SCORE]);
  if (score >= SOLO_WIN_THRESHOLD) return "win";
  return score >= SOLO_DRAW_THRESHOLD ? "draw" : "loss";
}

/**
 * Returns the points for time: 1000 x (1 - used / limit), at least 0, on a grid of a millionth of a point ("Speed Dimension").
 *
 * @param timeUsed - seconds; below 0, by a clock that ran backwards, they count as none
 * @param timeLimit - seconds; without any, only an answer in no time scores
 */
export function speedScore(timeUsed: number, timeLimit: number): number {
  demand(["timeUsed", timeUsed, -Infinity, Infinity], ["timeLimit", timeLimit, 0, Infinity]);
  const used = Math.max(timeUsed, 0);
  const left = timeLimit > 0 ? Math.min(Math.max((timeLimit - used) / timeLimit, 0), 1) : used <= 0 ? 1 : 0;
  return round(left * BILLION) / MILLION;
}

/** A dimension in a breakdown. */
export interface DimensionScore {
  /** Points, 0 to 1000. */
  score: number;
  weight: number;
  /** Score times weight, not rounded. */
  weighted: number;
}

/** The parts of a score by dimension ("Score Breakdown"). */
export type ScoreBreakdown = Record<string, DimensionScore>;

/** The score of a match, and its parts. */
export interface MatchScore {
  /** The sum of the weighted scores, rounded down to whole points: the document's example has 823 for 823.5. */
  score: number;
  score_breakdown: ScoreBreakdown;
}

/**
 * Weighs the scores of the dimensions ("How Scoring Works"), in decimals: scores to a millionth of a point, weights to a millionth.
 *
 * @param dimensions - as `dims` gives them
 * @param scores - points of each dimension, 0 to 1000; one without a score has 0, and scores that are not weighed do not count, unless the
 * name is one of a dimension without a score, misspelt
 * @throws {KaratError} `invalid_value` if dimensions are not allowed or scores out of range
 */
export const scoreBreakdown = taking("dimensions, scores", function (
  dimensions: readonly ScoringDimension[],
  scores: Readonly<Record<string, number | null>>,
): MatchScore {
  const problems = allowed(dimensions);
  for (const [key, score] of Object.entries(scores)) {
    if (score !== null) check(problems, `$.scores.${key}`, score, 0, MAX_SCORE);
    // The dimension that is meant would have 0.
    const meant = dimensions.find((dimension) => !Object.hasOwn(scores, dimension.key) && isSlip(key, dimension.key));
    if (meant !== undefined && !PALETTE.has(key)) problems.push(problem(`$.scores.${key}`, shown(key), "a dimension", `did you mean \`${meant.key}\`?`));
  }
  refuse(problems);
  let sum = 0;
  const parts = dimensions.map(({ key, weight }): [string, DimensionScore] => {
    const given = Object.hasOwn(scores, key) ? scores[key] : null;
    const reading = round(((given ?? 0) / MAX_SCORE) * BILLION);
    const share = round(weight * MILLION);
    // Whole numbers of 1e-15 of a perfect score: exact, and a sum of them too.
    sum += reading * share;
    return [key, { score: reading / MILLION, weight: share / MILLION, weighted: (reading * share) / 1e12 }];
  });
  return { score: Math.floor(Math.min(sum, 1e15) / 1e12), score_breakdown: Object.fromEntries(parts) };
});

/** Tells a slip: a letter too many, missing or wrong, or two that changed places. */
function isSlip(found: string, meant: string): boolean {
  let [start, end] = [0, 0];
  while (start < found.length && found[start] === meant[start]) start += 1;
  while (end < Math.min(found.length, meant.length) - start && found.at(-1 - end) === meant.at(-1 - end)) end += 1;
  return meant.length > 3 && Math.max(found.length, meant.length) - start - end <= 2;
}

/**
 * Does the last step of a custom scorer: the flat scores of its dimensions with their `total`, which is their sum unless the scorer gives
 * one, and at most `maxScore`.
 *
 * @throws {KaratError} `invalid_value` if values are not finite or below 0: all of them
 */
export const finalizeBreakdown = taking("breakdown, maxScore", function <B extends Readonly<Record<string, number>>>(
  breakdown: B,
  maxScore: number = MAX_SCORE,
): { [K in keyof B]: number } & { total: number } {
  const entries = Object.entries(breakdown);
  demand(...entries.map(([key, value]): Range => [`$.breakdown.${key}`, value, 0, Infinity]), ["maxScore", maxScore, 0, Infinity]);
  const parts = entries.filter(([key]) => key !== "total");
  const sum = parts.reduce((sum, [, value]) => sum + value, 0);
  const total = Math.min(Object.hasOwn(breakdown, "total") ? (breakdown["total"] as number) : sum, maxScore);
  return { ...Object.fromEntries(parts), total } as { [K in keyof B]: number } & { total: number };
});

/** A match that moves a rating ("Impact on Elo"). */
export interface EloMatch {
  /** The agent's rating, in whole points. A newcomer has 1000. */
  rating: number;
  /** The challenge's: 800, 1000, 1200 or 1400 by its difficulty. It does not move. */
  opponent: number;
  result: MatchResult;
  /** Matches that the agent has played before: from 30 on a rating moves half as fast. */
  matchCount: number;
  /** True if the match has a valid trajectory. */
  verified?: boolean;
  /** True if the agent's memory was hidden, as a harness says. */
  memoryless?: boolean;
  /** From 1, if the match is memoryless. */
  attemptNumber?: number;
}

/** A rating after a match. */
export interface EloChange {
  newRating: number;
  /** The change, bonus included, in whole points. */
  change: number;
  /** The part of it that verification earned. */
  bonus: number;
  /** The score that was expected, 0 to 1. */
  expected: number;
}

/** The arena's constants of Elo, which no scorecard has. */
const ELO = { factorNew: 32, factorEstablished: 16, establishedFrom: 30, scale: 400, floor: 100 };
/** The factors of a gain, in tenths. */
const BONUS_TENTHS = { unverified: 10, verified: 11, benchmarkGrade: 12 };

/**
 * Moves a rating by a match: K times the surprise, rounded to whole points, never below 100. A gain is multiplied by 1.1 in a verified
 * match, by 1.2 in one that is verified, memoryless and a first attempt, and rounded with halves up; the gain of a draw too, as the
 * document says "positive changes".
 *
 * @throws {KaratError} `invalid_value` if ratings are not whole points within a million, or counts are not whole
 */
export const eloUpdate = taking("match", function (match: EloMatch): EloChange {
  const { rating, opponent, result, matchCount, verified = false, memoryless = false, attemptNumber = 1 } = match;
  const problems: Problem[] = [];
  check(problems, "rating", rating, -MILLION, MILLION, true);
  check(problems, "opponent", opponent, -MILLION, MILLION, true);
  check(problems, "matchCount", matchCount, 0, Infinity, true);
  check(problems, "attemptNumber", attemptNumber, 1, Infinity, true);
  const actual = { win: 1, draw: 0.5, loss: 0 }[result] as number | undefined;
  if (actual === undefined) problems.push(problem("result", shown(result), "win, draw or loss"));
  refuse(problems);
  const expected = 1 / (1 + 2 ** ((opponent - rating) * (Math.log2(10) / ELO.scale)));
  const factor = matchCount < ELO.establishedFrom ? ELO.factorNew : ELO.factorEstablished;
  // Between whole ratings no rounding hangs on the last bit of what was expected.
  const played = Math.floor(rating + factor * ((actual as number) - expected) + 0.5);
  const gain = Math.max(played, ELO.floor) - rating;
  const grade = !verified ? "unverified" : memoryless && attemptNumber === 1 ? "benchmarkGrade" : "verified";
  // In tenths, so that 5 times 1.1 is a half and not a little more or less.
  const bonus = gain > 0 ? Math.floor((gain * BONUS_TENTHS[grade] + 5) / 10) - gain : 0;
  return { newRating: rating + gain + bonus, change: gain + bonus, bonus, expected };
});
