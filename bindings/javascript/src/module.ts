/** The WebAssembly modules: where they come from, and how they are called. */

import { KaratError } from "./error.js";
import { known } from "./given.js";

/** What a module is made from: its bytes, where it lies, a response with it, or the compiled module. */
export type ModuleSource = ArrayBuffer | ArrayBufferView<ArrayBuffer> | URL | string | Response | WebAssembly.Module;

/** The sources of the modules that `init` takes. */
export interface Sources {
  /** Scores, explanations and records: `karat/engine.wasm`. */
  engine?: ModuleSource;
  /** The same with questions about many items and verification with the score computed again: `karat/answers.wasm`. */
  answers?: ModuleSource;
  /** Receipts alone: `karat/receipts.wasm`. */
  receipts?: ModuleSource;
}

interface Exports {
  readonly memory: WebAssembly.Memory;
  input(length: number): number;
  output(): number;
  length(): number;
  readonly [name: string]: unknown;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const IN_NODE = (globalThis as { process?: { versions?: { node?: string } } }).process?.versions?.node !== undefined;

/** A module that is loaded once, at the first use. */
export class Loader {
  readonly #file: string;
  readonly #has: string;
  readonly #beside: () => URL;
  #source: ModuleSource | undefined;
  #module: Promise<Module> | undefined;

  /** `has` is a function that only this module has, and those with more in them. */
  constructor(file: string, has: string, beside: () => URL) {
    [this.#file, this.#has, this.#beside] = [file, has, beside];
  }

  /** Sets where the module comes from, which is too late if it is loaded. */
  from(source: ModuleSource): void {
    if (this.#module !== undefined && String(source) !== String(this.#source)) {
      throw new KaratError("module", `the module \`${this.#file}\` is loaded already`, { hint: "call `init` before anything else" });
    }
    this.#source = source;
  }

  /** Loads the module, if that was not done. One that could not be loaded is tried again the next time. */
  load(): Promise<Module> {
    this.#module ??= compile(this.#source ?? this.#beside).then((compiled) => new Module(compiled, this.#has)).catch((cause: unknown) => {
      this.#module = undefined;
      const hints = [`${IN_NODE ? "copy" : "serve"} the file \`karat/${this.#file}\`, and say where it is: init({ ${this.#file.replace(".wasm", "")}: url })`];
      if (!IN_NODE) hints.push("a page needs `script-src 'wasm-unsafe-eval'` in its Content Security Policy");
      // `fetch failed` says why in its cause.
      const why = [cause, (cause as Error).cause].filter((error) => error !== undefined).map(String).join(": ");
      throw new KaratError("module", `the module \`${this.#file}\` cannot be loaded: ${why}`, { hints, cause });
    });
    return this.#module;
  }
}

async function compile(given: ModuleSource | (() => URL)): Promise<WebAssembly.Module> {
  const source: ModuleSource = typeof given === "function" ? given() : given;
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  if (typeof Response === "function" && source instanceof Response) return compileResponse(source);
  const url = source instanceof URL ? source.href : (source as string);
  if (IN_NODE && !/^(https?|data|blob):/.test(url)) {
    // A name that is put together stays as it is in a bundle for browsers.
    const files: typeof import("node:fs/promises") = await import(/* webpackIgnore: true */ /* @vite-ignore */ ["node:fs", "promises"].join("/"));
    return WebAssembly.compile(new Uint8Array(await files.readFile(url.startsWith("file:") ? new URL(url) : url)));
  }
  return compileResponse(await fetch(url));
}

async function compileResponse(response: Response): Promise<WebAssembly.Module> {
  if (!response.ok) throw new Error(`${response.url} answers ${response.status}`);
  if (response.headers.get("content-type") === "application/wasm") return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}

/** A compiled module with the instance that is called. An instance that failed is dropped, as its memory cannot be trusted. */
export class Module {
  readonly #compiled: WebAssembly.Module;
  #exports: Exports | undefined;
  /** How many instances there were: what belongs to an older one is gone. */
  generation = 0;

  constructor(compiled: WebAssembly.Module, has = "input") {
    if (!WebAssembly.Module.exports(compiled).some(({ name }) => name === has)) throw new Error("this is another module");
    this.#compiled = compiled;
  }

  #instance(): Exports {
    if (this.#exports === undefined) {
      this.#exports = new WebAssembly.Instance(this.#compiled, {}).exports as unknown as Exports;
      this.generation += 1;
    }
    return this.#exports;
  }

  /** Makes an instance, if there is none. */
  ready(): void {
    this.#instance();
  }

  /** Calls a function with a text or bytes as input, and numbers. */
  call(name: string, input: string | Uint8Array, ...numbers: number[]): number {
    const exports = this.#instance();
    try {
      write(exports, input);
      return (exports[name] as (...numbers: number[]) => number)(...numbers);
    } catch (cause) {
      this.#exports = undefined;
      throw new KaratError("internal", `karat failed inside: ${String(cause)}`, {
        hint: "this is a fault of karat, please report it; vectors of earlier traces are lost, the next call starts anew",
        cause,
      });
    }
  }

  /** Returns the output of the last call, until the next one. */
  output(): Uint8Array<ArrayBuffer> {
    const exports = this.#instance();
    return new Uint8Array(exports.memory.buffer as ArrayBuffer, exports.output(), exports.length());
  }

  /** Returns the output of the last call as text. */
  text(): string {
    return decoder.decode(this.output());
  }

  /** Returns the error that is the output of the last call. */
  error(): KaratError {
    return KaratError.of(this.text());
  }
}

function write(exports: Exports, input: string | Uint8Array): void {
  // The memory may grow when room is asked for, so it is looked at afterwards.
  if (typeof input !== "string") {
    const place = exports.input(input.length);
    new Uint8Array(exports.memory.buffer, place, input.length).set(input);
    return;
  }
  const place = exports.input(input.length);
  const { read } = encoder.encodeInto(input, new Uint8Array(exports.memory.buffer, place, input.length));
  // A text with characters of several bytes needs more room than it has characters.
  if (read < input.length) write(exports, encoder.encode(input));
}

// Bundlers look for addresses in this form, and copy what is there.
/** Scores and records. */
export const engineModule = new Loader("engine.wasm", "open", () => new URL("./engine.wasm", import.meta.url));
/** The same with answers. */
export const answersModule = new Loader("answers.wasm", "ask", () => new URL("./answers.wasm", import.meta.url));
/** Receipts. */
export const receiptsModule = new Loader("receipts.wasm", "verify_receipt", () => new URL("./receipts.wasm", import.meta.url));

/**
 * Says where the modules come from, where the package cannot know: in a bundle that moves files, or in a worker. Takes bytes, an
 * address, a response or a compiled module. Call it before anything else; without it they are read beside the package's own files.
 */
export function init(sources: Sources): void {
  const loaders = { engine: engineModule, answers: answersModule, receipts: receiptsModule };
  for (const [name, source] of Object.entries(known(sources, ["engine", "answers", "receipts"], "sources"))) {
    if (source !== undefined) loaders[name as keyof Sources].from(source as ModuleSource);
  }
}
