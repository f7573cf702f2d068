/** Reasoning traces: the score of the registry's document, under its names. */

import { Engine, type ScoreRecord } from "./engine.js";
import { KaratError, problem } from "./error.js";
import type { VectorCacheOptions } from "./cache.js";
import { known, refuse, shown } from "./given.js";
import type { ReasoningTrace } from "./types.js";
import { toJson } from "./walk.js";

export { VectorCache } from "./cache.js";
export type { VectorCacheOptions } from "./cache.js";
export * from "./types.js";

/** A model that turns a text into a vector, in its own time. */
export type Embedder = (text: string) => Promise<ArrayLike<number>>;

/** The time that the document gives a usual evaluation, in milliseconds. */
export const BUDGET_MS = 100;

let embedder: { embed: Embedder; model: string; budgetMs: number } | null = null;
let engine: Promise<Engine> | undefined;
/** The newest moment so far, in milliseconds. */
let newest = -Infinity;
/** Evaluations come one after the other, as each is compared with those before it. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Sets the model that texts are embedded with; null for none. Without one novelty is 0.5 and counts as missing in the record's
 * account, as the document says of an embedder that is not installed.
 *
 * @param options - the name of the model, which records keep, and the budget in milliseconds: where an embedding takes longer, the
 * evaluation is refused. Without one it is waited for, as a model is usually loaded for its first text. Time never decides a score
 */
export function setEmbedder(embed: Embedder | null, options: { model?: string; budgetMs?: number } = {}): void {
  if (embed !== null && typeof embed !== "function") refuse([problem("embed", shown(embed), "a function of a text that returns its vector, or null")]);
  const { model = "unnamed", budgetMs = Infinity } = known(options, ["model", "budgetMs"]);
  if (!(budgetMs >= 0)) throw new KaratError("invalid_value", `\`budgetMs\` is ${budgetMs}, expected a number of milliseconds`);
  embedder = embed === null ? null : { embed, model, budgetMs };
}

/**
 * Evaluates a trace.
 *
 * It is stateful: each trace whose text was embedded is compared with the thousand before it. The same trace
 * evaluated again is an observation again, and its novelty approaches 0.
 *
 * @returns the score, 0 to 1 (scoring document of traces, "Scoring Interface")
 * @throws {KaratError} if the trace breaks the document's schema, with the path of every fault
 */
export async function evaluateValue(trace: ReasoningTrace): Promise<number> {
  const score = (await evaluate(trace)).score;
  if (score === null) throw new KaratError("unscored", "the trace has no score", { hint: "`evaluate` returns the record, which says why" });
  return score;
}

/**
 * Evaluates a trace as `evaluateValue`, and returns the whole record.
 *
 * @param options - `now`: the moment in milliseconds since 1970, the clock's if not given. One before the newest so far is taken
 * for that: a clock that steps back does not let traces come before those they are compared with.
 */
export async function evaluate(trace: ReasoningTrace, options: { now?: number } = {}): Promise<ScoreRecord> {
  // As it is now, whatever becomes of the object while others are evaluated.
  const [text, now] = [toJson(trace), known(options, ["now"]).now ?? Date.now()];
  const next = last.then(() => evaluated(text, now));
  last = next.catch(() => undefined);
  return next;
}

async function evaluated(trace: string, now: number): Promise<ScoreRecord> {
  if (!Number.isFinite(now)) throw new KaratError("invalid_value", `\`now\` is ${now}, expected milliseconds since 1970`);
  engine ??= Engine.observing("trace");
  const ready = await engine.catch((error: unknown) => {
    engine = undefined;
    throw error;
  });
  if (embedder !== null) {
    const { embed, model, budgetMs } = embedder;
    // What comes too late is refused, as what is no vector: a text that takes long to embed must not have the novelty of none.
    ready.setVector(model, await within(budgetMs, Promise.resolve(embed(ready.textToEmbed(trace)))));
  }
  const moment = Math.max(newest, Math.floor(now));
  ready.setMoment(new Date(moment));
  newest = moment;
  return ready.score(trace);
}

/** Returns the value of a promise, unless it takes longer. */
async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  if (milliseconds === Infinity) return promise;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const hint = "shorten the text, or give `setEmbedder` a longer `budgetMs` or none";
    const error = new KaratError("budget_exceeded", `the text was not embedded within ${milliseconds} ms`, { hint });
    timer = setTimeout(() => reject(error), Math.min(milliseconds, 2 ** 31 - 1));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
    // What comes too late fails for nobody.
    promise.catch(() => undefined);
  }
}

/** Forgets the traces so far, and the newest moment; those that follow go into a cache with these settings, if any are given. */
export async function resetEvaluation(cache?: VectorCacheOptions): Promise<void> {
  await last;
  const before = await engine?.catch(() => undefined);
  before?.dispose();
  [engine, newest] = [cache === undefined ? undefined : Engine.observing("trace", { cache }), -Infinity];
  await engine;
}

