/**
 * Values to JSON. `JSON.stringify` turns NaN into null, which would count as missing, leaves out `undefined`, and calls `toJSON`: a score
 * would then be of something else than what was given. This walk refuses all of that, and says where.
 *
 * It writes the text itself: every member is read once, so that what was checked is what is scored.
 */

import { KaratError, problem, type Problem } from "./error.js";
import { refusePath } from "./given.js";

/** The most levels of objects and arrays. */
export const MAX_DEPTH = 128;

/** Keys that were quoted before, as items of one kind have the same ones. Bounded, as keys may also be data. */
const quotedKeys = new Map<string, string>();
const QUOTED_KEYS_MAX = 4096;

/** What a JSON text cannot have in it as it is. */
const ESCAPED = /["\\\u0000-\u001f]/;

/** The state of a walk: the objects and arrays around the place where it is, and the keys that lead there. */
interface Walk {
  readonly containers: object[];
  readonly keys: (string | number)[];
  readonly root: string;
  readonly problems: Problem[];
}

/** Where a walk ends: what is wrong with the rest is then more of the same. */
const PROBLEMS_MAX = 20;

/**
 * Writes a value as JSON. A text or bytes given as the whole value are taken as JSON already.
 *
 * Refused: NaN and infinities, whole numbers beyond 2^53 (a double no longer tells them apart), BigInt, `undefined`, functions, symbols,
 * cycles, more than 128 levels, lone surrogates, arrays with holes, objects that are not plain, and members that throw.
 *
 * @param root - how paths in errors begin
 * @throws {KaratError} `invalid_value`, with the JSON path of every such value, up to twenty
 */
export function toJson(value: unknown, root = "$"): string {
  if (typeof value === "string") return wellFormed(value, root);
  if (value instanceof Uint8Array) return decoded(value, root);
  const walk: Walk = { containers: [], keys: [], root, problems: [] };
  try {
    const json = write(value, walk);
    if (walk.problems.length === 0) return json;
  } catch (error) {
    if (error !== walk) {
    // A getter or a proxy threw: where the walk stands is where it was.
      const found = `a member that throws when it is read: ${String(error)}`;
      walk.problems.push(problem(pathOf(walk), found, "a value", "give a plain object with the values themselves"));
      throw KaratError.invalid(walk.problems, error);
    }
  }
  throw KaratError.invalid(walk.problems);
}

/** Lists a problem, and returns what stands for the value while the walk goes on. */
function refuse(walk: Walk, found: string, expected: string, hint?: string): string {
  walk.problems.push(problem(pathOf(walk), found, expected, hint));
  if (walk.problems.length >= PROBLEMS_MAX) throw walk;
  return "null";
}

function write(value: unknown, walk: Walk): string {
  switch (typeof value) {
    case "number":
      return number(value, walk);
    case "string":
      return text(value, walk);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? array(value, walk) : object(value, walk);
    case "undefined":
      return refuse(walk, "`undefined`", "a value", "leave the member out, or give null");
    case "bigint":
      return refuse(walk, `the BigInt ${shortened(String(value))}`, "a number", "give Number(value), or a text where it is a name");
    case "function":
      return refuse(walk, isToJson(walk) ? "`toJSON`, which is not called" : "a function", "a value", "give what it returns");
    default:
      return refuse(walk, "a symbol", "a value", "give a text");
  }
}

function number(value: number, walk: Walk): string {
  if (!Number.isFinite(value)) {
    const name = Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
    return refuse(walk, name, "a finite number", "leave the member out, or give null, if it was not measured");
  }
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return refuse(walk, String(value), "a whole number within 2^53", "a double rounds larger ones: give a text if it is a name");
  }
  // Also -0, which is "0" as a text.
  return String(value);
}

function text(value: string, walk: Walk): string {
  if (!value.isWellFormed()) refuse(walk, "a lone surrogate", "text of whole characters", "`toWellFormed()` replaces it");
  return ESCAPED.test(value) ? JSON.stringify(value) : `"${value}"`;
}

function array(values: readonly unknown[], walk: Walk): string {
  const prototype: unknown = Object.getPrototypeOf(values);
  // Arrays of another realm, as in tests that run in a context of their own, have another prototype with the same members.
  if (prototype !== Array.prototype && !isForeign(prototype, "copyWithin")) return refuse(walk, named(values), "a plain array", "Array.from(value)");
  const depth = enter(values, walk);
  if (depth < 0) return "null";
  let out = "[";
  for (let at = 0; at < values.length; at += 1) {
    walk.keys[depth] = at;
    const value = values[at];
    if (value === undefined && !(at in values)) {
      refuse(walk, "a hole", "a value in every place of the array", "give null");
      break;
    }
    out += at === 0 ? write(value, walk) : `,${write(value, walk)}`;
  }
  leave(depth, walk);
  return `${out}]`;
}

function object(value: object, walk: Walk): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null && !isForeign(prototype, "isPrototypeOf")) {
    return refuse(walk, named(value), "a plain object", conversion(value));
  }
  const depth = enter(value, walk);
  if (depth < 0) return "null";
  let [out, separator] = ["", "{"];
  for (const key of Object.keys(value)) {
    walk.keys[depth] = key;
    out += separator + (quotedKeys.get(key) ?? quoted(key, walk)) + write((value as Record<string, unknown>)[key], walk);
    separator = ",";
  }
  walk.keys.length = depth;
  const symbol = Object.getOwnPropertySymbols(value)[0];
  if (symbol !== undefined) refuse(walk, `the member ${String(symbol)}`, "members with texts as names");
  leave(depth, walk);
  return separator === "{" ? "{}" : `${out}}`;
}

/** Goes one level down; returns how deep that is, or -1 if the walk must not go there, which makes the recursion end. */
function enter(value: object, walk: Walk): number {
  const depth = walk.containers.length;
  const around = walk.containers.indexOf(value);
  if (around >= 0) {
    const back = pathOf({ ...walk, keys: walk.keys.slice(0, around) });
    refuse(walk, `a cycle back to ${back}`, "a value that ends", "give an id in place of the object");
  } else if (depth >= MAX_DEPTH) refuse(walk, "one more level", `at most ${MAX_DEPTH} levels of objects and arrays`);
  else return walk.containers.push(value) - 1;
  return -1;
}

function leave(depth: number, { containers, keys }: Walk): void {
  containers.length = depth;
  keys.length = depth;
}

function quoted(key: string, walk: Walk): string {
  const made = `${text(key, walk)}:`;
  if (quotedKeys.size < QUOTED_KEYS_MAX && key.length <= 64) quotedKeys.set(key, made);
  return made;
}

function isForeign(prototype: unknown, member: string): boolean {
  // The foremost prototype of a realm: it is nobody's heir, or that of arrays.
  if (prototype === null || typeof prototype !== "object" || !Object.hasOwn(prototype, member)) return false;
  const parent: unknown = Object.getPrototypeOf(prototype);
  return parent === null || (Array.isArray(prototype) && Object.getPrototypeOf(parent) === null);
}

function isToJson({ keys }: Walk): boolean {
  return keys.at(-1) === "toJSON";
}

function named(value: object): string {
  const name: unknown = (value as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof name === "string" && name !== "" ? `a \`${shortened(name)}\`` : "an object with a prototype";
}

function conversion(value: object): string {
  if (value instanceof Date) return "give its time: value.toISOString()";
  if (value instanceof Map) return "Object.fromEntries(value)";
  if (value instanceof Set || ArrayBuffer.isView(value)) return "Array.from(value)";
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return "value.valueOf()";
  if (value instanceof Promise) return "await it";
  if (value.constructor?.name === "ScoreRecord") return "value.document, or value.text as the whole item";
  return "{ ...value } if its own members are all there is to it";
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

/** Keys that paths show without quotes, as the engine does. */
const PLAIN = /^[\p{Alphabetic}_@][\p{Alphabetic}\p{N}_-]*$/u;

function pathOf({ keys, root }: Walk): string {
  const part = (key: string | number): string => {
    if (typeof key === "number") return `[${key}]`;
    if (key.length > 100) return `[${JSON.stringify(key.slice(0, 100))}…]`;
    return PLAIN.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  };
  return root + keys.map(part).join("");
}

function wellFormed(text: string, path: string): string {
  refusePath(path, text);
  if (text.isWellFormed()) return text;
  // As bytes it would be another text, without a word.
  throw KaratError.invalid([problem(path, "a lone surrogate", "text of whole characters", "`toWellFormed()` replaces it")]);
}

function decoded(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw KaratError.invalid([problem(path, "bytes that are not UTF-8", "JSON as UTF-8")]);
  }
}
