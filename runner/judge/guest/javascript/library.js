// Modules that programs expect, in the realm of a submission. They are made when one is first asked for.

(native, prelude) => {
  "use strict";
  const { keys, getPrototypeOf, getOwnPropertyDescriptor, is } = Object;
  const kind = (value) => native.kind(value);

  // Values as text, on one line each: `[ 1, 'a', { b: null } ]`.
  const name_of = (value) => {
    const made_by = getPrototypeOf(value)?.constructor;
    return typeof made_by === "function" ? made_by.name : "";
  };
  const quoted = (text) => {
    const mark = !text.includes("'") ? "'" : !text.includes('"') ? '"' : !text.includes("`") ? "`" : "'";
    const escaped = JSON.stringify(text).slice(1, -1).replace(/\\"/g, '"');
    return mark + (mark === "'" ? escaped.replace(/'/g, "\\'") : escaped) + mark;
  };
  const inspect = (value, options, around = []) => {
    if (typeof value === "string") return quoted(value);
    if (typeof value === "bigint") return value + "n";
    if (is(value, -0)) return "-0";
    if (typeof value === "symbol" || value === null || (typeof value !== "object" && typeof value !== "function"))
      return String(value);
    if (around.includes(value)) return "[Circular *1]";
    if (typeof value === "function") {
      const is_class = /^class\b/.test(Function.prototype.toString.call(value));
      return is_class ? `[class ${value.name || "(anonymous)"}]` : `[Function${value.name ? ": " + value.name : " (anonymous)"}]`;
    }
    const of = kind(value);
    if (of === "date") return isNaN(value) ? "Invalid Date" : value.toISOString();
    if (value instanceof RegExp) return String(value);
    if (native.error(value)) return String(value.stack ? `${value}\n${value.stack}`.trimEnd() : value);
    const deep = options?.depth === undefined ? 2 : (options.depth ?? Infinity);
    const name = name_of(value);
    if (around.length > deep) return Array.isArray(value) ? "[Array]" : `[${name || "Object"}]`;
    const inner = [...around, value];
    const shown = (it) => inspect(it, options, inner);
    const parts = [];
    const listed = (items, each) => {
      let count = 0;
      for (const item of items) {
        if (++count > 100) break;
        parts.push(each(item));
      }
    };
    let length = 0;
    let head = "";
    if (Array.isArray(value) || ArrayBuffer.isView(value)) {
      length = value.length ?? 0;
      for (let at = 0, gap = 0; at < length && at < 100; at++) {
        if (at in value) parts.push(shown(value[at]));
        else {
          gap++;
          if (!(at + 1 in value) && at + 1 < length) continue;
          parts.push(`<${gap} empty item${gap > 1 ? "s" : ""}>`);
          gap = 0;
        }
      }
      if (name !== "Array") head = `${name}(${length}) `;
    } else if (of === "map") {
      head = `${name}(${(length = value.size)}) `;
      listed(value, ([key, item]) => `${shown(key)} => ${shown(item)}`);
    } else if (of === "set") {
      head = `${name}(${(length = value.size)}) `;
      listed(value, shown);
    } else if (of === "promise") {
      parts.push(["<pending>", shown(native.result(value)), "<rejected>"][native.state(value)]);
      head = "Promise ";
    } else if (getPrototypeOf(value) === null) head = "[Object: null prototype] ";
    else if (name !== "Object") head = name + " ";
    if (length > 100) parts.push(`... ${length - 100} more item${length > 101 ? "s" : ""}`);
    const is_list = Array.isArray(value) || ArrayBuffer.isView(value);
    for (const key of keys(value)) {
      if (is_list && /^\d+$/.test(key)) continue;
      const found = getOwnPropertyDescriptor(value, key);
      const text = found.get ? (found.set ? "[Getter/Setter]" : "[Getter]") : found.set ? "[Setter]" : shown(found.value);
      parts.push(`${/^[A-Za-z_$][\w$]*$/.test(key) ? key : quoted(key)}: ${text}`);
    }
    const [open, close] = is_list ? ["[", "]"] : ["{", "}"];
    if (!parts.length) return `${head}${open}${close}`;
    return `${head}${open} ${parts.join(", ")} ${close}`;
  };
  const format = (...values) => {
    let [first, ...rest] = values;
    if (typeof first === "string" && first.includes("%") && rest.length) {
      first = first.replace(/%[sdifjoOc%]/g, (mark) => {
        if (mark === "%%") return "%";
        if (!rest.length) return mark;
        const value = rest.shift();
        if (mark === "%s") return typeof value === "string" ? value : inspect(value, { depth: 0 });
        if (mark === "%d") return typeof value === "bigint" ? value + "n" : String(Number(value));
        if (mark === "%i") return typeof value === "bigint" ? value + "n" : String(parseInt(value, 10));
        if (mark === "%f") return String(parseFloat(value));
        if (mark === "%j") return JSON.stringify(value);
        return mark === "%c" ? "" : inspect(value);
      });
    }
    const line = [first, ...rest].slice(0, values.length ? undefined : 0);
    return line.map((value) => (typeof value === "string" ? value : inspect(value))).join(" ");
  };

  // Equality as `assert` has it; what is no plain value is the same or it is not.
  const equal = (a, b, is_strict, seen = []) => {
    if (is_strict ? is(a, b) : a == b || (a !== a && b !== b)) return true;
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
    if (is_strict && getPrototypeOf(a) !== getPrototypeOf(b)) return false;
    const of = kind(a);
    if (of !== kind(b) || Array.isArray(a) !== Array.isArray(b)) return false;
    if (of === "date") return is(a.getTime(), b.getTime());
    if (a instanceof RegExp || b instanceof RegExp) return a instanceof RegExp && b instanceof RegExp && String(a) === String(b);
    if (seen.some(([c, d]) => c === a && d === b)) return true;
    const pairs = [...seen, [a, b]];
    const same = (c, d) => equal(c, d, is_strict, pairs);
    if (native.error(a) && !(a.message === b.message && a.name === b.name)) return false;
    if (of === "map") {
      if (a.size !== b.size) return false;
      return [...a].every(([key, value]) =>
        b.has(key) ? same(value, b.get(key)) : [...b].some(([k, v]) => typeof k === "object" && same(key, k) && same(value, v)));
    }
    if (of === "set") {
      if (a.size !== b.size) return false;
      return [...a].every((value) => b.has(value) || [...b].some((other) => typeof other === "object" && same(value, other)));
    }
    const names = keys(a);
    return (
      (!Array.isArray(a) || a.length === b.length) &&
      names.length === keys(b).length &&
      names.every((name) => Object.hasOwn(b, name) && same(a[name], b[name]))
    );
  };

  class AssertionError extends Error {
    constructor({ message, actual, expected } = {}) {
      super(message ?? "the assertion is false");
      this.code = "ERR_ASSERTION";
      this.actual = actual;
      this.expected = expected;
    }
  }
  Object.defineProperty(AssertionError.prototype, "name", { value: "AssertionError", writable: true, configurable: true });
  const refuse = (given, otherwise, actual, expected) => {
    if (native.error(given)) throw given;
    throw new AssertionError({ message: given ?? otherwise, actual, expected });
  };
  const matches = (error, wanted) => {
    if (wanted === undefined) return true;
    if (wanted instanceof RegExp) return wanted.test(String(error));
    if (typeof wanted === "function") {
      if (wanted.prototype !== undefined && error instanceof wanted) return true;
      if (wanted === Error || Error.isPrototypeOf(wanted)) return false;
      return wanted.call({}, error) === true;
    }
    return keys(wanted).concat(native.error(wanted) ? ["message", "name"] : []).every((name) =>
      wanted[name] instanceof RegExp && typeof error?.[name] === "string"
        ? wanted[name].test(error[name])
        : equal(error?.[name], wanted[name], true));
  };
  // `assert` refuses what stands for an object elsewhere, if that is how it is set up.
  let look = () => {};
  const compared = (is_so, words) =>
    (actual, expected, message) => {
      look(actual);
      look(expected);
      if (!is_so(actual, expected)) refuse(message, `expected ${words}`, actual, expected);
    };
  const assert = (value, message) => {
    look(value);
    if (!value) refuse(message, "expected something true", value, true);
  };
  const caught = (run) => {
    try {
      run();
    } catch (error) {
      return { error };
    }
    return undefined;
  };
  const thrown = (found, wanted, message) => {
    if (typeof wanted === "string") [wanted, message] = [undefined, wanted];
    if (found === undefined) refuse(message, "expected an exception");
    if (!matches(found.error, wanted)) {
      if (wanted instanceof RegExp || typeof wanted === "object") refuse(message, "expected another exception");
      throw found.error;
    }
  };
  const awaited = async (given) => {
    try {
      await (typeof given === "function" ? given() : given);
    } catch (error) {
      return { error };
    }
    return undefined;
  };
  Object.assign(assert, {
    AssertionError,
    ok: assert,
    equal: compared((a, b) => a == b || (a !== a && b !== b), "equal values"),
    notEqual: compared((a, b) => a != b, "different values"),
    strictEqual: compared(is, "the same value"),
    notStrictEqual: compared((a, b) => !is(a, b), "another value"),
    deepEqual: compared((a, b) => equal(a, b, false), "equal values"),
    notDeepEqual: compared((a, b) => !equal(a, b, false), "different values"),
    deepStrictEqual: compared((a, b) => equal(a, b, true), "equal values"),
    notDeepStrictEqual: compared((a, b) => !equal(a, b, true), "different values"),
    match: compared((text, pattern) => typeof text === "string" && pattern.test(text), "a text that matches"),
    doesNotMatch: compared((text, pattern) => typeof text === "string" && !pattern.test(text), "a text that does not match"),
    throws: (run, wanted, message) => thrown(caught(run), wanted, message),
    doesNotThrow: (run) => void run(),
    rejects: async (given, wanted, message) => thrown(await awaited(given), wanted, message),
    doesNotReject: async (given) => void (await (typeof given === "function" ? given() : given)),
    ifError: (value) => { if (value !== null && value !== undefined) throw value; },
    fail: (message) => refuse(message, "failed"),
  });
  const strict = Object.assign((value, message) => assert(value, message), assert, {
    equal: assert.strictEqual, notEqual: assert.notStrictEqual,
    deepEqual: assert.deepStrictEqual, notDeepEqual: assert.notDeepStrictEqual,
  });
  strict.strict = assert.strict = strict;

  // A copy of plain values, as `structuredClone` makes.
  const clone = (value, made = new Map()) => {
    if (typeof value === "function" || typeof value === "symbol") throw new TypeError("a function cannot be cloned");
    if (typeof value !== "object" || value === null) return value;
    if (made.has(value)) return made.get(value);
    const of = kind(value);
    if (of === "date") return new Date(value);
    if (value instanceof RegExp) return new RegExp(value);
    if (ArrayBuffer.isView(value)) return value.slice();
    if (value instanceof ArrayBuffer) return value.slice(0);
    const copy = of === "map" ? new Map() : of === "set" ? new Set() : Array.isArray(value) ? new Array(value.length) : {};
    made.set(value, copy);
    if (of === "map") for (const [key, item] of value) copy.set(clone(key, made), clone(item, made));
    else if (of === "set") for (const item of value) copy.add(clone(item, made));
    else for (const key of keys(value)) copy[key] = clone(value[key], made);
    return copy;
  };

  // Standard input as a file, and line by line.
  const no_file = (path, what) => {
    const error = new Error(`ENOENT: no such file or directory, ${what} '${path}'`);
    error.code = "ENOENT";
    throw error;
  };
  const fs = {
    readFileSync(path, options) {
      if (path !== 0 && path !== "/dev/stdin") no_file(path, "open");
      const text = native.read();
      const encoding = typeof options === "string" ? options : options?.encoding;
      return encoding ? text : Object.assign(native.encode(text), { toString: () => text });
    },
    writeFileSync(path, text) {
      if (path !== 1 && path !== "/dev/stdout") no_file(path, "open");
      native.write(1, String(text));
    },
    writeSync(fd, text) {
      native.write(fd, String(text));
      return text.length;
    },
    existsSync: () => false,
    readdirSync: (path) => no_file(path, "scandir"),
    statSync: (path) => no_file(path, "stat"),
  };
  const readline = {
    createInterface() {
      const events = Object.create(null);
      let rest;
      let is_open = true;
      const next = () => {
        rest ??= native.read();
        if (!is_open || rest === "") return undefined;
        const end = rest.indexOf("\n");
        const line = end < 0 ? rest : rest.slice(0, end);
        rest = end < 0 ? "" : rest.slice(end + 1);
        return line.endsWith("\r") ? line.slice(0, -1) : line;
      };
      const say = (event, ...words) => { for (const run of events[event] ?? []) run(...words); };
      const face = {
        on(event, run) {
          (events[event] ??= []).push(run);
          if ((event === "line" || event === "close") && !events.begun) {
            events.begun = true;
            setTimeout(() => {
              for (let line = next(); line !== undefined; line = next()) say("line", line);
              face.close();
            }, 0);
          }
          return face;
        },
        close() {
          if (is_open) {
            is_open = false;
            say("close");
          }
        },
        question(words, ...given) {
          native.write(1, words);
          const line = next();
          if (line !== undefined) setTimeout(() => given.at(-1)(line), 0);
        },
        setPrompt() {}, prompt() {}, pause: () => face, resume: () => face,
        async *[Symbol.asyncIterator]() {
          for (let line = next(); line !== undefined; line = next()) yield line;
        },
      };
      face.once = face.addListener = face.on;
      return face;
    },
  };
  const util = {
    inspect, format,
    isDeepStrictEqual: (a, b) => equal(a, b, true),
    promisify: (run) => (...args) =>
      new Promise((resolve, reject) => run(...args, (error, value) => (error ? reject(error) : resolve(value)))),
    types: {},
  };
  const timers = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate };
  const later = {
    setTimeout: (delay, value) => new Promise((resolve) => setTimeout(resolve, delay, value)),
    setImmediate: (value) => new Promise((resolve) => setImmediate(resolve, value)),
  };

  // The primitives of karat, for scripts: the same as in an evaluator.
  const primitive = (request) => {
    const text = native.ask("primitive", JSON.stringify(request));
    if (text[0] !== "=") throw new RangeError(text.slice(1));
    return Number(text.slice(1));
  };
  const comparing = (name) => (submitted, expected, options = {}) => primitive({ primitive: name, submitted, expected, options });
  const karat = {};
  for (const name of ["exact_match", "exact_match_ratio", "numeric_tolerance", "fuzzy_string", "set_overlap"])
    karat[name] = comparing(name);
  karat.coverage_ratio = (submitted, expected) => primitive({ primitive: "coverage_ratio", submitted, expected });
  karat.time_decay = (used, limit) => primitive({ primitive: "time_decay", numbers: [used, limit] });
  karat.api_call_efficiency = (calls, optimal, max) =>
    primitive({ primitive: "api_call_efficiency", numbers: [calls, optimal, max] });

  const modules = {
    assert: { default: assert, ...assert },
    "assert/strict": { default: strict, ...strict },
    fs: { default: fs, ...fs },
    "fs/promises": { readFile: async (...given) => fs.readFileSync(...given) },
    karat: { default: karat, ...karat },
    perf_hooks: { performance },
    readline: { default: readline, ...readline },
    timers: { default: timers, ...timers },
    "timers/promises": { default: later, ...later },
    util: { default: util, ...util },
  };
  return {
    inspect, format, clone, equal, assert, AssertionError,
    module: (name) => (Object.hasOwn(modules, name) ? modules[name] : undefined),
    look_with: (with_this) => { look = with_this; },
  };
};
