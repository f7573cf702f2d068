/**
 * The cache of vectors that novelty is judged by: scoring document of traces, "Temporal Decay for Novelty". In JavaScript, as it is used
 * without waiting; the rules, and every bit of a cosine, are those of the engine.
 */

import { KaratError, problem } from "./error.js";
import { known, shown } from "./given.js";

/** The settings of a cache; those that are left out are the document's. */
export interface VectorCacheOptions {
  /** The most vectors, 1000 if not given: the oldest goes when one too many comes. 0 keeps none. */
  maxElements?: number;
  /** The numbers of a vector, 1 to 65,536; 384 if not given. */
  dimensions?: number;
  /**
   * How long a vector is kept, in milliseconds; 3,600,000 (an hour) if not given. It is alive while its age is below this. 0 keeps none,
   * `Infinity` keeps each until its place is needed.
   */
  ttlMs?: number;
}

interface Entry {
  readonly vector: Float32Array;
  readonly norm: number;
  readonly moment: number;
}

const DIMENSIONS_MAX = 65_536;
/** The members of `VectorCacheOptions`. */
export const CACHE_OPTIONS = ["maxElements", "dimensions", "ttlMs"] as const;

/**
 * A first-in-first-out cache of vectors with a time to live.
 *
 * Numbers are kept as 32-bit floats. Moments are milliseconds since 1970, those of the clock where none is given. A clock that steps
 * back is taken to stand still: a moment before that of the newest vector counts as that one.
 */
export class VectorCache {
  readonly maxElements: number;
  readonly dimensions: number;
  readonly ttlMs: number;
  /** Oldest first, from `#first` on; those before are gone, and their places are freed from time to time. */
  #entries: Entry[] = [];
  #first = 0;

  /** @throws {KaratError} `invalid_value` if settings are outside their ranges: all of them */
  constructor(options: VectorCacheOptions = {}) {
    const { maxElements = 1000, dimensions = 384, ttlMs = 3_600_000 } = known(options, CACHE_OPTIONS);
    const whole = (value: number, least: number): boolean => Number.isSafeInteger(value) && value >= least;
    const problems = [
      ...(whole(maxElements, 0) ? [] : [problem("maxElements", shown(maxElements), "a whole number, 0 or more")]),
      ...(whole(dimensions, 1) && dimensions <= DIMENSIONS_MAX
        ? []
        : [problem("dimensions", shown(dimensions), `a whole number from 1 to ${DIMENSIONS_MAX}`)]),
      ...(ttlMs >= 0 ? [] : [problem("ttlMs", shown(ttlMs), "milliseconds, 0 or more", "Infinity keeps vectors until their place is needed")]),
    ];
    if (problems.length > 0) throw KaratError.invalid(problems);
    [this.maxElements, this.dimensions, this.ttlMs] = [maxElements, dimensions, ttlMs];
  }

  /** Number of vectors in it; expired ones count until the next `add`, `evictExpired` or `maxCosineSimilarity`. */
  get size(): number {
    return this.#entries.length - this.#first;
  }

  /**
   * Adds a vector, also one that is there already, after expired ones have gone; the oldest goes if there are too many.
   *
   * @throws {KaratError} `invalid_value` if it has another number of dimensions, or a number that 32 bits cannot hold, or NaN; the cache
   * is then as it was
   */
  add(v: ArrayLike<number>, now: number = Date.now()): void {
    const vector = this.#checked(v);
    const moment = this.#moment(now);
    this.#expire(moment);
    if (this.maxElements === 0 || this.ttlMs === 0) return;
    this.#entries.push({ vector, norm: Math.sqrt(dot(vector, vector)), moment });
    if (this.size > this.maxElements) this.#removeFirst(1);
  }

  /** Removes vectors that are expired. */
  evictExpired(now: number = Date.now()): void {
    this.#expire(this.#moment(now));
  }

  /**
   * Returns the highest cosine of a vector with those that are alive: -1 to one rounding step above 1. With a vector of zeros it is 0, and
   * with an empty cache too, where there is nothing to be similar to: novelty is then not 1 less this but 0.5, so ask `size` first.
   *
   * @throws {KaratError} `invalid_value` as `add`
   */
  maxCosineSimilarity(q: ArrayLike<number>, now: number = Date.now()): number {
    const query = this.#checked(q);
    this.#expire(this.#moment(now));
    const queryNorm = Math.sqrt(dot(query, query));
    let best = -Infinity;
    for (let at = this.#first; at < this.#entries.length; at += 1) {
      const { vector, norm } = this.#entries[at] as Entry;
      const lengths = queryNorm * norm;
      const cosine = lengths === 0 ? 0 : dot(query, vector) / lengths;
      if (cosine > best) best = cosine;
    }
    return this.size === 0 ? 0 : best;
  }

  /** Removes everything. */
  clear(): void {
    [this.#entries, this.#first] = [[], 0];
  }

  #checked(given: ArrayLike<number>): Float32Array {
    const found = (given as ArrayLike<number> | null | undefined)?.length;
    if (typeof given === "string" || found !== this.dimensions) {
      const got = typeof given === "string" ? "a text" : typeof found === "number" ? found : "no vector";
      throw new KaratError("invalid_value", `Expected ${this.dimensions} dimensions, got ${got}`, {
        problems: [problem("$", `${got} dimensions`, `${this.dimensions}, as all vectors of one cache have`)],
      });
    }
    // Zeros up to a multiple of eight add nothing to a sum.
    const vector = new Float32Array(Math.ceil(this.dimensions / 8) * 8);
    for (let at = 0; at < this.dimensions; at += 1) {
      const number: unknown = given[at];
      vector[at] = typeof number === "number" ? number : NaN;
      if (!Number.isFinite(vector[at])) {
        throw KaratError.invalid([problem(`$[${at}]`, shown(number), "a number that 32 bits can hold")]);
      }
    }
    return vector;
  }

  #moment(now: number): number {
    if (!Number.isFinite(now)) throw KaratError.invalid([problem("now", shown(now), "milliseconds since 1970")]);
    return Math.max(now, this.#entries.at(-1)?.moment ?? now);
  }

  #expire(moment: number): void {
    const isExpired = (entry: Entry | undefined): boolean => entry !== undefined && moment - entry.moment >= this.ttlMs;
    let expired = 0;
    while (isExpired(this.#entries[this.#first + expired])) expired += 1;
    this.#removeFirst(expired);
  }

  #removeFirst(count: number): void {
    this.#first += count;
    if (this.#first * 2 > this.#entries.length) {
      this.#entries.splice(0, this.#first);
      this.#first = 0;
    }
  }
}

/**
 * Computes a dot product in doubles, in which a product of two 32-bit floats is exact. Eight sums run side by side, each over every eighth
 * place, then halves are added to halves: the order is part of the definition, as it decides the last bits. Lengths are multiples of eight.
 */
function dot(a: Float32Array, b: Float32Array): number {
  let [s0, s1, s2, s3, s4, s5, s6, s7] = [0, 0, 0, 0, 0, 0, 0, 0];
  for (let at = 0; at < a.length; at += 8) {
    s0 += a[at]! * b[at]!;
    s1 += a[at + 1]! * b[at + 1]!;
    s2 += a[at + 2]! * b[at + 2]!;
    s3 += a[at + 3]! * b[at + 3]!;
    s4 += a[at + 4]! * b[at + 4]!;
    s5 += a[at + 5]! * b[at + 5]!;
    s6 += a[at + 6]! * b[at + 6]!;
    s7 += a[at + 7]! * b[at + 7]!;
  }
  return ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7));
}

