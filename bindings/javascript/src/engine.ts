/// <reference lib="esnext.disposable" preserve="true" />
/** Scorecards, items and questions about many items. */

import { CACHE_OPTIONS, type VectorCacheOptions } from "./cache.js";
import { KaratError, problem } from "./error.js";
import { cardOf, known, refuse, refusePath, shown } from "./given.js";
import { Module, answersModule, engineModule } from "./module.js";
import { toJson } from "./walk.js";

/** An item of evidence: an object, or the text of one as JSON. */
export type Item = object | string | Uint8Array;

/** What a score follows from besides scorecard and item. */
export interface EngineOptions {
  /** The moment of the verdict, as RFC 3339 in UTC or a `Date`; records name it. Never read from a clock. */
  asOf?: string | Date;
  /** The field that names the subject, for evidence of kind `facts`. */
  subjectField?: string;
  /** The field that names the task, for evidence of kind `facts`. */
  taskField?: string;
  /** The cache of vectors, for traces; a thousand without a time to live if not given, as long as the first one. */
  cache?: VectorCacheOptions;
}

/** A score with everything that it follows from: canonical JSON (RFC 8785), the same bytes as from any other program of karat. */
export class ScoreRecord {
  /** The record as canonical JSON. */
  readonly text: string;
  #document: RecordDocument | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** The record, read. */
  get document(): RecordDocument {
    this.#document ??= JSON.parse(this.text) as RecordDocument;
    return this.#document;
  }

  /** The published score on the scale of the scorecard; null if there is none, and `status` says why. */
  get score(): number | null {
    return this.document.score?.published ?? null;
  }

  /** `scored`, `unscored` or `withheld`. */
  get status(): string {
    return this.document.status;
  }

  /** The bytes that receipts and digests are of. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return new TextEncoder().encode(this.text);
  }

  /** Computes the SHA-256 of the bytes: `sha256:` and 64 hexadecimal digits. */
  async digest(): Promise<string> {
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", this.bytes));
    return `sha256:${[...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  }

  toJSON(): RecordDocument {
    return this.document;
  }
}

/** The members of a record that programs ask for first; the guide on records lists all of them. */
export interface RecordDocument {
  readonly schema: string;
  readonly engine: string;
  readonly subject: string;
  readonly scorecard: { readonly id: string; readonly version: string; readonly digest: string };
  readonly evidence: { readonly id: string; readonly digest: string; readonly [member: string]: unknown };
  /** Null if there is none. */
  readonly score: { readonly exact: number; readonly published: number } | null;
  /** `scored`, `unscored` or `withheld`. */
  readonly status: string;
  readonly coverage: number;
  readonly [member: string]: unknown;
}

/** The parts that add up to a score, what is missing, and the smallest change that reaches the next band or tier. */
export interface Explanation {
  readonly record: RecordDocument;
  readonly digest: string;
  readonly rows: readonly {
    readonly name: string;
    readonly kind: string;
    readonly points: number;
    readonly total: number;
    readonly [member: string]: unknown;
  }[];
  readonly missing: readonly { readonly [member: string]: unknown }[];
  readonly [member: string]: unknown;
}

/** A scorecard that is ready to score: items in, records out. The same scorecard, item and moment give the same bytes everywhere. */
export class Engine {
  readonly #module: Module;
  readonly #opening: string;
  #moment: string;
  #handle = -1;
  #generation = 0;
  #isDisposed = false;

  private constructor(module: Module, opening: string, moment: string) {
    if (!(module instanceof Module)) refuse([problem("$", "`new Engine`", "`await Engine.load(card)`")]);
    [this.#module, this.#opening, this.#moment] = [module, opening, moment];
    this.#open();
  }

  /**
   * Loads a scorecard.
   *
   * @param card - a released one by `id` or `id@version`, such as `trust`, or the text of a scorecard file
   * @throws {KaratError} if there is no such scorecard, or it has faults: all of them
   */
  static async load(card: string, options: EngineOptions = {}): Promise<Engine> {
    return Engine.#of(card, options, false);
  }

  /** Loads a scorecard for traces each of which is an observation of its own, also if it came before. */
  static async observing(card: string, options: EngineOptions = {}): Promise<Engine> {
    return Engine.#of(card, options, true);
  }

  static async #of(card: string, options: EngineOptions, observes: boolean): Promise<Engine> {
    known(options, ["asOf", "subjectField", "taskField", "cache"]);
    const { maxElements = 1000, dimensions = 384, ttlMs = 3_600_000 } = known(options.cache ?? {}, CACHE_OPTIONS, "options.cache");
    const ttl_milliseconds = ttlMs === Infinity ? null : ttlMs;
    const opening = toJson({
      card: cardOf(card, "card"),
      observes,
      subject_field: options.subjectField ?? null,
      task_field: options.taskField ?? null,
      cache: options.cache === undefined ? null : { capacity: maxElements, dimension: dimensions, ttl_milliseconds },
    });
    return new Engine(await engineModule.load(), opening, moment(options.asOf ?? null));
  }

  #open(): void {
    if (this.#isDisposed) throw new KaratError("disposed", "this engine was disposed of", { hint: "load it again" });
    this.#module.ready();
    if (this.#generation === this.#module.generation) return;
    this.#handle = this.#module.call("open", this.#opening);
    if (this.#handle < 0) throw this.#module.error();
    this.#generation = this.#module.generation;
    if (this.#moment !== "") this.#do("set_moment", this.#moment);
  }

  #do(name: string, input: string | Uint8Array, ...numbers: number[]): void {
    if (this.#module.call(name, input, this.#handle, ...numbers) !== 1) throw this.#module.error();
  }

  /** Scores an item and returns its record. */
  score(item: Item): ScoreRecord {
    this.#open();
    this.#do("score", toJson(item));
    return new ScoreRecord(this.#module.text());
  }

  /** Scores an item and returns the published score alone, which is faster; null if it has none. */
  number(item: Item): number | null {
    this.#open();
    const number = this.#module.call("number", toJson(item), this.#handle);
    if (!Number.isNaN(number)) return number;
    if (this.#module.output().length > 0) throw this.#module.error();
    return null;
  }

  /** Scores an item and explains its score. */
  explain(item: Item): Explanation {
    this.#open();
    this.#do("explain", toJson(item));
    return JSON.parse(this.#module.text()) as Explanation;
  }

  /** Sets the moment of the verdict for the items that follow; null for none. */
  setMoment(at: string | Date | null): void {
    this.#open();
    const text = moment(at);
    this.#do("set_moment", text);
    this.#moment = text;
  }

  /**
   * Hands over what a model made of `textToEmbed` of the next trace. It counts for one item; the record names the model.
   */
  setVector(model: string, vector: ArrayLike<number>): void {
    this.#open();
    const name = new TextEncoder().encode(model);
    const numbers = Float32Array.from(vector ?? []);
    const bad = numbers.findIndex((number) => !Number.isFinite(number));
    if (bad >= 0 || numbers.length === 0) refuse([problem(`$[${Math.max(bad, 0)}]`, shown(vector?.[bad]), "a vector of finite numbers")]);
    const input = new Uint8Array(name.length + numbers.byteLength);
    input.set(name);
    const view = new DataView(input.buffer, name.length);
    numbers.forEach((number, at) => view.setFloat32(4 * at, number, true));
    this.#do("set_vector", input, name.length);
  }

  /** Forgets the vectors of the traces so far. */
  clearVectors(): void {
    this.#open();
    this.#module.call("clear_vectors", "", this.#handle);
  }

  /** Returns the text of a trace that a model embeds. */
  textToEmbed(trace: Item): string {
    this.#open();
    if (this.#module.call("text_to_embed", toJson(trace)) !== 1) throw this.#module.error();
    return this.#module.text();
  }

  /** Frees the memory of the engine; any other call then throws. */
  dispose(): void {
    if (!this.#isDisposed && this.#generation === this.#module.generation) this.#module.call("close", "", this.#handle);
    this.#isDisposed = true;
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

function moment(at: string | Date | null): string {
  if (at instanceof Date) {
    if (Number.isNaN(at.getTime())) refuse([problem("$", "an invalid `Date`", "a moment")]);
    return at.toISOString();
  }
  return at ?? "";
}

/** Items of a question: objects, the text of a file of JSON lines, or texts by names of files, whose endings say what they hold. */
export type Items = readonly object[] | string | { readonly [file: string]: string };

/** The settings that every question about items has; all others have the names of the flags of `karat`. */
export interface ItemSettings {
  /** A released scorecard, or the text of one. Records name their own. */
  card?: string;
  subject_field?: string;
  task_field?: string;
  /** Conditions such as `task!=warmup`. */
  where?: string | readonly string[];
  /** Other names of subjects, `OLD=NEW`. */
  rename?: string | readonly string[];
  since?: string;
  until?: string;
  as_of?: string;
  level?: number;
}

/** The settings of a leaderboard. */
export interface LeaderboardSettings extends ItemSettings {
  by?: string;
  with?: string;
  sort?: string;
  group_by?: string;
  method?: "pairs" | "means" | "census";
  min_tasks?: number;
  attempts?: number | "first";
  pass?: number;
  robustness?: boolean;
  draws?: number;
  seed?: number;
}

/** The settings of a comparison: two subjects, or two files of `items`. */
export interface CompareSettings extends ItemSettings {
  first: string;
  second: string;
  fail_if_worse?: number;
  strict?: boolean;
  attempts?: "first";
  pass?: number;
}

/** The settings of a gate, as `karat.toml` has them. */
export interface GateSettings {
  card: string;
  subject?: string;
  task?: string;
  where?: string | readonly string[];
  rename?: string | readonly string[];
  as_of?: string;
  gate: {
    fail_under?: number;
    fail_if_worse?: number;
    strict?: boolean;
    attempts?: "first";
    on?: "mean" | "low";
    subjects?: readonly string[];
    dimensions?: { readonly [dimension: string]: number };
    items?: { readonly fail_under: number };
    standing?: { readonly fail_under: number };
    /** No alarm over the runs of the history and this one. */
    trend?: {
      readonly run?: string;
      readonly subjects?: readonly string[];
      readonly baseline?: number;
      readonly direction?: "decline" | "improvement" | "either";
      readonly level?: number;
    };
  };
  /** What passes, and the field with the version of a subject, to find flaky tasks. */
  tasks?: { readonly pass?: number; readonly version?: string };
  /** Tasks that no gate looks at; days such as `2026-12-31`. */
  quarantine?: readonly { readonly task: string; readonly reason: string; readonly since?: string; readonly until: string }[];
}

/** The settings of a question about judges. */
export interface JudgesSettings extends ItemSettings {
  /** The field with the labels of people. */
  label: string;
  /** Fields with the verdicts of judges; without any, the score is the verdict. */
  verdict?: string | readonly string[];
  family?: string;
  bias_by?: string | readonly string[];
  pass?: number;
}

/** The settings of a question about tasks. */
export interface TasksSettings extends ItemSettings {
  /** The share of chance that is allowed among suspect tasks. */
  rate?: number;
  pass?: number;
  version?: string;
}

/** The settings of a grid. */
export interface GridSettings extends ItemSettings {
  subject?: string | readonly string[];
  /** The field that names the run of an item; `file`, or `day` of its time. Without it each column is a subject. */
  run?: string;
}

/** The settings of a question about runs over time. */
export interface TrendSettings extends ItemSettings {
  /** The field that names the run of an item; `file`, or `day` of its time. */
  run?: string;
  subject?: string | readonly string[];
  /** The number of runs, from the first on, that are known to be alike. */
  baseline?: number;
  direction?: "decline" | "improvement" | "either";
}

/** The settings of ratings. */
export interface RateSettings {
  system: "elo" | "glicko2" | "weng-lin" | "bradley-terry";
  /** Other names of columns: `first=home,id=date+home`. */
  columns?: string;
  /** Settings of the system: `k=24`. */
  set?: string;
  /** The arena's Elo, with its bonus at challenges. */
  arena?: boolean;
  holdout?: number;
  by?: string;
  judge?: string;
  people?: string;
  rename?: string | readonly string[];
  skip?: string | readonly string[];
  component?: "all" | "largest";
  /** Covariates to control for: `length,date:difference`. */
  covariates?: string | readonly string[];
  bootstrap?: boolean;
  resamples?: number;
  seed?: number;
  level?: number;
}

/** An answer: the document that the command of the same name prints with `--format json`; the guide on outputs lists the members. */
export interface Answer {
  readonly schema: string;
  readonly [member: string]: any;
}

/** Ranks subjects, with intervals and ties. */
export function leaderboard(items: Items, settings: LeaderboardSettings = {}): Promise<Answer> {
  return ask("leaderboard", items, {}, settings);
}

/** Compares two subjects, or the subjects of two files, on the tasks that both have. */
export function compare(items: Items, settings: CompareSettings): Promise<Answer> {
  return ask("compare", items, {}, settings, ["first", "second"]);
}

/** Judges a run, beside a baseline and earlier runs if they are given. `status` is 0 if it passes. */
export function gate(run: Items, settings: GateSettings, baseline: Items = {}, history: Items = {}): Promise<Answer> {
  return ask("gate", run, { baseline, history }, settings, ["card", "gate"]);
}

/** Says how judges agree with the labels of people, and corrects the means of subjects by both. */
export function judges(items: Items, settings: JudgesSettings): Promise<Answer> {
  return ask("judges", items, {}, settings, ["label"]);
}

/** Says how hard tasks are, what they decide, which keys are suspect and which outcomes change by themselves. */
export function tasks(items: Items, settings: TasksSettings = {}): Promise<Answer> {
  return ask("tasks", items, {}, settings);
}

/** Puts subjects or runs side by side, task by task, the largest differences first. */
export function grid(items: Items, settings: GridSettings = {}): Promise<Answer> {
  return ask("grid", items, {}, settings);
}

/** Compares runs over time, with an alarm that may be looked at every night. */
export function trend(items: Items, settings: TrendSettings = {}): Promise<Answer> {
  return ask("trend", items, {}, settings);
}

/** Rates competitors from their matches. */
export function rate(matches: Items, settings: RateSettings): Promise<Answer> {
  return ask("rate", matches, {}, settings, ["system"]);
}

async function ask(question: string, items: Items, beside: Readonly<Record<string, Items>>, settings: object, needed: readonly string[] = []): Promise<Answer> {
  const all = (settings ?? {}) as Readonly<Record<string, unknown>> & { card?: string };
  const lacking = needed.filter((name) => (all[name] ?? null) === null);
  refuse(lacking.map((name) => problem(`settings.${name}`, "nothing", `the setting that \`${question}\` needs`)));
  const { card, ...others } = all;
  const isText = (card ?? null) !== null && cardOf(card, "settings.card").includes("\n");
  const asked = toJson({
    question,
    files: files(items, "items"),
    ...Object.fromEntries(Object.entries(beside).map(([name, given]) => [name, files(given, name)])),
    card_text: isText ? card : null,
    settings: isText || card === undefined ? others : { card, ...others },
  });
  const module = await answersModule.load();
  if (module.call("ask", asked) !== 1) throw module.error();
  return JSON.parse(module.text()) as Answer;
}

function files(items: Items, name: string): { name: string; text: string }[] {
  if (typeof items === "string") {
    refusePath(name, items);
    if (/^\s*[^\s{[]/.test(items)) refuse([problem(name, shown(items), "a JSON object in each line", 'of another format say which: { "runs.csv": text }')]);
    return [{ name: `${name}.jsonl`, text: items }];
  }
  if (Array.isArray(items)) {
    const line = (item: object, at: number): string => toJson(item, `$[${at}]`);
    return [{ name: `${name}.jsonl`, text: (items as readonly object[]).map(line).join("\n") }];
  }
  return Object.entries(items ?? {}).map(([file, text]) => {
    const [path, hint] = [`${name}[${JSON.stringify(file)}]`, 'give await readFile(path, "utf8"), or items in an array'];
    if (typeof text !== "string") refuse([problem(path, shown(text), "the text of a file", hint)]);
    return { name: file, text };
  });
}
