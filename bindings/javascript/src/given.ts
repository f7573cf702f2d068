/** What callers give: checked here, so that whatever is wrong is an error that says where, what is expected, and what to do. */

import { KaratError, problem, type Problem } from "./error.js";

/** Lists a problem unless `value` is a number from `least` to `most`, and whole if that is asked. */
export function check(problems: Problem[], path: string, value: unknown, least: number, most: number, isWhole = false): void {
  const isNumber = typeof value === "number" && value >= least && value <= most && Number.isFinite(value);
  if (isNumber && (!isWhole || Number.isSafeInteger(value))) return;
  const what = isWhole ? "a whole number" : "a number";
  const range = Number.isFinite(most) ? `from ${least} to ${most}` : `of ${least} or more`;
  problems.push(problem(path, shown(value), `${what} ${range}`));
}

/** What `check` takes of a value. */
export type Range = readonly [path: string, value: unknown, least: number, most: number, isWhole?: boolean];

/** Throws unless every value is in its range: `invalid_value`, with all that are not. */
export function demand(...ranges: readonly Range[]): void {
  const problems: Problem[] = [];
  for (const range of ranges) check(problems, ...range);
  refuse(problems);
}

/** Throws if there are problems. */
export function refuse(problems: readonly Problem[]): void {
  if (problems.length > 0) throw KaratError.invalid(problems);
}

/** Returns a value as messages show it. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value === "function") return "a function";
  if (value === undefined) return "nothing";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return `\`${text.length > 60 ? `${text.slice(0, 60)}…` : text}\``;
}

/** Returns options, of which every member is known: another one would be ignored without a word. */
export function known<T extends object>(given: T, names: readonly (keyof T & string)[], root = "options"): T {
  const all = names.join(", ");
  if (typeof given !== "object" || given === null || Array.isArray(given)) refuse([problem(root, shown(given), `an object with any of ${all}`)]);
  const others = Object.keys(given).filter((key) => !(names as readonly string[]).includes(key));
  refuse(others.map((key) => problem(`${root}.${key}`, "an unknown member", `one of ${all}`)));
  return given;
}

/** Makes a function refuse arguments of other types, where it would fail on them. `names` are those of its parameters. */
/* @__NO_SIDE_EFFECTS__ */
export function taking<F extends (...given: never[]) => unknown>(names: string, call: F): F {
  const checked = (...given: never[]): unknown => {
    try {
      return call(...given);
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause;
      const found = given.length === 0 ? "nothing" : given.map(shown).join(", ");
      throw KaratError.invalid([problem("$", found, `the arguments (${names})`, cause.message)], cause);
    }
  };
  return checked as F;
}

/** The name of a file, where its text is expected. */
const FILE = /^[^\n{}[\]"=]{1,1000}\.(json|jsonl|ndjson|csv|tsv|toml)$/i;
const READ = 'of a file give its text: await readFile(path, "utf8")';

/** Refuses the name of a file: nothing here reads files. */
export function refusePath(path: string, text: string): void {
  if (FILE.test(text)) refuse([problem(path, shown(text), "a text, not the name of a file", READ)]);
}

/** Returns a scorecard, if it may be one. */
export function cardOf(card: unknown, path: string, expected = "the name of a released scorecard, or the text of one"): string {
  if (typeof card !== "string") refuse([problem(path, shown(card), expected, READ)]);
  refusePath(path, card as string);
  return card as string;
}
