/** The one kind of error that the package throws for what it was given. */

/** One of several things that are wrong. */
export interface Problem {
  /** The part that is meant: a JSON path such as `$.steps[3].content`, or a fact such as `facts.cost_usd`; empty if it is all of it. */
  readonly path: string;
  /** The finding in words: what was found, what is expected, and what to do. */
  readonly detail: string;
  /** What was found, where the package found it itself and not the engine. */
  readonly found?: string;
  /** What is expected, likewise. */
  readonly expected?: string;
  /** What to do, likewise. */
  readonly hint?: string;
}

/** What an error tells besides code and message. */
export interface KaratErrorOptions {
  path?: string | undefined;
  hint?: string | undefined;
  hints?: readonly string[] | undefined;
  problems?: readonly Problem[] | undefined;
  cause?: unknown;
}

/** Returns a problem, with its parts put together as the engine does. */
export function problem(path: string, found: string, expected: string, hint?: string): Problem {
  const detail = `found ${found}, expected ${expected}`;
  return hint === undefined ? { path, detail, found, expected } : { path, detail: `${detail}; ${hint}`, found, expected, hint };
}

/** The reason why something could not be done: where, what is wrong (all of it at once), and what to do about it. */
export class KaratError extends Error {
  /**
   * What a program decides by. From the engine as it names them, such as `evidence-refused`; from the package `invalid_value`,
   * `module`, `internal`, `disposed`, `unscored`, `budget_exceeded`.
   */
  readonly code: string;
  /** The JSON path of the (first) value that is wrong, if it is about one. */
  readonly path?: string;
  /** What to do, if that is known. */
  readonly hint?: string;
  /** Everything that there is to do. */
  readonly hints: readonly string[];
  /** Everything that is wrong. */
  readonly problems: readonly Problem[];

  constructor(code: string, message: string, options: KaratErrorOptions = {}) {
    const { problems = [], cause } = options;
    const path = options.path ?? (problems[0]?.path || undefined);
    const hint = options.hint ?? options.hints?.[0] ?? problems[0]?.hint;
    const hints = options.hints ?? (hint === undefined ? [] : [hint]);
    // What is printed says what to do: problems do that themselves.
    super([message, ...hints.filter((hint) => !message.includes(hint))].join("\n  "), cause === undefined ? undefined : { cause });
    this.name = "KaratError";
    [this.code, this.problems, this.hints] = [code, problems, hints];
    if (path !== undefined) this.path = path;
    if (hint !== undefined) this.hint = hint;
  }

  /** Makes the error of values that are wrong: `invalid_value`, with a line for each. */
  static invalid(problems: readonly Problem[], cause?: unknown): KaratError {
    return new KaratError("invalid_value", lines(problems).join("\n"), { problems, cause });
  }

  /** Reads an error as the engine writes it: `{code, message, place, problems: [{path, detail}], hints}`. */
  static of(json: string): KaratError {
    let failure: { code?: unknown; message?: unknown; place?: unknown; problems?: Problem[]; hints?: string[] };
    try {
      failure = JSON.parse(json) as typeof failure;
    } catch (cause) {
      return new KaratError("internal", `karat gave no account of an error: ${json}`, { cause });
    }
    const { problems = [], hints = [] } = failure;
    const words = failure.code === "evidence-refused" ? String : asSetting;
    const place = typeof failure.place === "string" ? `${failure.place}: ` : "";
    const message = [`${place}${words(String(failure.message))}`, ...lines(problems)].join("\n  ");
    return new KaratError(String(failure.code), message, { problems, hints: hints.map((hint) => words(hint)) });
  }
}

/** Says for programs what the engine says for the command line: settings for flags, texts for files. What is to be typed stays. */
function asSetting(text: string): string {
  if (text === "for a scorecard of your own give its path") return 'of one of your own give the text: await readFile(path, "utf8")';
  if (text.includes("karat ")) return text;
  return text.replace(/(?<![^\s`(])--([a-z]+(?:-[a-z]+)*)/g, (_, flag: string) => flag.replaceAll("-", "_"));
}

function lines(problems: readonly Problem[]): string[] {
  return problems.map(({ path, detail }) => (path === "" ? detail : `${path}: ${detail}`));
}
