// The surroundings of a submission, in its own realm: console, timers, `require`, and just as much of `process` as programs use.

(native, files) => {
  "use strict";
  const { write } = native;
  const { hasOwn, defineProperty, create, keys } = Object;
  const define = (name, value) =>
    defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });

  let library;
  const lib = () => (library ??= native.library()(native, { require: (name) => require_from("", name) }));

  const is_simple = (value) =>
    typeof value === "boolean" || value === undefined || value === null || (typeof value === "number" && !Object.is(value, -0));

  // Words of a line: what is no object needs nothing of the library.
  const line = (values) => {
    let text = "";
    for (let at = 0; at < values.length; at++) {
      const value = values[at];
      const is_plain = typeof value === "string" ? values.length === 1 || !value.includes("%") : is_simple(value);
      if (!is_plain) return lib().format(...values);
      text += (at ? " " : "") + value;
    }
    return text;
  };

  let indent = "";
  const printer = (file) =>
    function (...values) {
      const text = line(values);
      write(file, (indent ? indent + text.split("\n").join("\n" + indent) : text) + "\n");
    };
  const counts = create(null);
  const log = printer(1);
  const error = printer(2);
  define("console", {
    log, info: log, debug: log, error, warn: error, trace: error,
    dir: (value) => log(value),
    table: (value) => log(value),
    assert: (is_so, ...words) => is_so || error("Assertion failed", ...words),
    count: (label = "default") => log(`${label}: ${(counts[label] = (counts[label] ?? 0) + 1)}`),
    countReset: (label = "default") => void delete counts[label],
    group: (...words) => { if (words.length) log(...words); indent += "  "; },
    groupEnd: () => { indent = indent.slice(2); },
    time: () => {}, timeEnd: () => {}, timeLog: () => {},
  });

  // Timers: time passes only when there is nothing else to do.
  let timers = [];
  let last_timer = 0;
  const add = (run, delay, args, again) => {
    if (typeof run !== "function") throw new TypeError("a timer needs a function");
    const wait = delay >= 1 && delay <= 2147483647 ? Math.trunc(delay) : 1;
    const timer = { id: ++last_timer, when: native.now() + wait, run, args, again: again ? wait : 0 };
    insert(timer);
    return timer.id;
  };
  const insert = (timer) => {
    let at = timers.length;
    while (at > 0 && timers[at - 1].when > timer.when) at--;
    timers.splice(at, 0, timer);
  };
  const clear = (id) => { timers = timers.filter((timer) => timer.id !== id); };
  define("setTimeout", (run, delay, ...args) => add(run, delay, args, false));
  define("setInterval", (run, delay, ...args) => add(run, delay, args, true));
  define("setImmediate", (run, ...args) => add(run, 0, args, false));
  for (const name of ["clearTimeout", "clearInterval", "clearImmediate"]) define(name, clear);
  const next_timer = () => {
    const timer = timers.shift();
    if (timer === undefined) return false;
    native.sleep(timer.when - native.now());
    if (timer.again) insert({ ...timer, when: native.now() + timer.again });
    timer.run(...timer.args);
    return true;
  };

  define("performance", { now: () => native.now(), timeOrigin: 1767225600000 });
  define("structuredClone", (value) => lib().clone(value));
  define("TextEncoder", class TextEncoder {
    get encoding() { return "utf-8"; }
    encode(text = "") { return native.encode(String(text)); }
  });
  define("TextDecoder", class TextDecoder {
    get encoding() { return "utf-8"; }
    decode(bytes = new Uint8Array()) {
      if (ArrayBuffer.isView(bytes)) bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      return native.decode(bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes));
    }
  });
  define("crypto", {
    getRandomValues(array) {
      const bytes = native.bytes(array.byteLength);
      new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(bytes);
      return array;
    },
    randomUUID() {
      const bytes = native.bytes(16);
      bytes[6] = (bytes[6] & 15) | 64;
      bytes[8] = (bytes[8] & 63) | 128;
      const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
      return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    },
  });
  define("global", globalThis);

  // Standard input comes all at once, when it is listened to.
  const listeners = create(null);
  const stdin = {
    fd: 0,
    isTTY: false,
    setEncoding() { return stdin; },
    resume() { return stdin; },
    pause() { return stdin; },
    on(event, run) {
      (listeners[event] ??= []).push(run);
      if (["data", "end", "readable"].includes(event) && !listeners.begun) {
        listeners.begun = true;
        setTimeout(() => {
          const text = native.read();
          stdin.left = text;
          if (text) for (const run of listeners.data ?? []) run(text);
          for (const run of listeners.readable ?? []) run();
          for (const run of [...(listeners.end ?? []), ...(listeners.close ?? [])]) run();
        }, 0);
      }
      return stdin;
    },
    read() {
      const text = stdin.left || null;
      stdin.left = "";
      return text;
    },
    async *[Symbol.asyncIterator]() {
      const text = native.read();
      if (text) yield text;
    },
  };
  stdin.once = stdin.addListener = stdin.on;
  const stream = (fd) => ({
    fd,
    isTTY: false,
    write(text, ...rest) {
      write(fd, typeof text === "string" ? text : native.decode(text));
      for (const done of rest) if (typeof done === "function") queueMicrotask(done);
      return true;
    },
    end(text) { if (text !== undefined) write(fd, String(text)); },
    on() { return this; },
    once() { return this; },
  });
  const process = {
    argv: ["node", "solution.js"], env: {}, platform: "karat", pid: 1, exitCode: undefined, stdin,
    version: "v0.0.0", versions: {}, execArgv: [],
    stdout: stream(1), stderr: stream(2),
    exit: (status) => native.exit(Number(status ?? process.exitCode ?? 0) || 0),
    cwd: () => "/", uptime: () => native.now() / 1000,
    nextTick: (run, ...args) => queueMicrotask(() => run(...args)),
    memoryUsage: () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0 }),
    hrtime: Object.assign(
      (since = [0, 0]) => {
        const now = native.now() / 1000;
        const seconds = Math.floor(now) - since[0];
        const nano = Math.round((now % 1) * 1e9) - since[1];
        return nano < 0 ? [seconds - 1, nano + 1e9] : [seconds, nano];
      },
      { bigint: () => BigInt(Math.round(native.now() * 1e6)) },
    ),
    on() { return process; },
    once() { return process; },
    emitWarning() {},
  };
  define("process", process);

  // Files: those of the submission, and the modules of the library.
  const loaded = create(null);
  const extra = create(null);
  const built_in = (name) => {
    const short = name.startsWith("node:") ? name.slice(5) : name;
    if (hasOwn(extra, short)) return extra[short];
    if (short === "process") return { default: process, ...process };
    return lib().module(short);
  };
  const resolved = (from, name) => {
    const parts = from.split("/").slice(0, -1);
    for (const part of name.split("/")) {
      if (part === "..") parts.pop();
      else if (part !== "." && part !== "") parts.push(part);
    }
    return parts.join("/");
  };
  const found = (path) =>
    [path, path + ".js", path + ".cjs", path + ".mjs", path + ".json", path + "/index.js"].find((it) => hasOwn(files, it));
  const require_from = (from, name) => {
    if (!/^\.{0,2}\//.test(name) && name !== "." && name !== "..") {
      const known = built_in(name);
      if (known === undefined) throw new Error("Cannot find module '" + name + "'");
      return known.default ?? known;
    }
    const file = found(resolved(from, name));
    if (file === undefined) throw new Error("Cannot find module '" + name + "'");
    return load_file(file).exports;
  };
  const load_file = (file) => {
    if (file in loaded) return loaded[file];
    const module = (loaded[file] = { id: file, filename: file, exports: {}, loaded: false });
    if (file.endsWith(".json")) module.exports = JSON.parse(files[file]);
    else if (file.endsWith(".mjs")) throw new Error("require() of a module: import '" + file + "' instead");
    else {
      const require = (name) => require_from(file, name);
      const run = native.script(file, wrapped(file));
      run.call(module.exports, module.exports, require, module, file, "/");
      module.loaded = true;
    }
    return module;
  };
  const wrapped = (file) => "(function (exports, require, module, __filename, __dirname) {" + text_of(file) + "\n})";
  const text_of = (file) => files[file].replace(/^\ufeff/, "").replace(/^#!.*/, "");

  return {
    next_timer,
    status: () => (process.exitCode === undefined || Number(process.exitCode) === 0 ? 0 : 1),

    // Loads a file as a script, with its functions as globals; one that is none has its `source` returned.
    open(file, is_main) {
      if (file in loaded) return loaded[file];
      const source = text_of(file);
      if (file.endsWith(".mjs")) return { source };
      if (!is_main) {
        try {
          return load_file(file);
        } catch (error) {
          delete loaded[file];
          if (native.is_script(file, wrapped(file))) throw error;
          return { source };
        }
      }
      const module = { id: ".", filename: file, exports: {}, loaded: false };
      const require = (name) => require_from(file, name);
      require.main = module;
      define("module", module);
      define("exports", module.exports);
      define("require", require);
      define("__filename", file);
      define("__dirname", "/");
      loaded[file] = module;
      try {
        native.script(file, source);
      } catch (error) {
        if (native.was_script() || file.endsWith(".cjs")) throw error;
        for (const name of ["module", "exports", "require", "__filename", "__dirname"]) delete globalThis[name];
        delete loaded[file];
        return { source };
      }
      return module;
    },
    keep(file, namespace) { loaded[file] = { exports: namespace, is_module: true }; },

    // What a module is: its source, or its exports.
    load(name) {
      if (hasOwn(files, name)) {
        if (name in loaded && !loaded[name].is_module) {
          const { exports } = loaded[name];
          return { default: exports, ...exports };
        }
        if (name.endsWith(".json")) return { default: JSON.parse(files[name]) };
        const source = text_of(name);
        if (name.endsWith(".cjs") || (name.endsWith(".js") && native.is_script(name, wrapped(name)))) {
          const { exports } = load_file(name);
          return { default: exports, ...exports };
        }
        return source;
      }
      const known = built_in(name);
      if (known === undefined) throw new Error("Cannot find module '" + name + "'");
      return known;
    },

    // The submission as the other side of a suite.
    serve: (opened) => native.answers()(native, opened),

    // Makes the surroundings of a suite.
    suite(names, is_answered) {
      const suite = native.suite()(native, is_answered, lib());
      extra.test = suite.module;
      for (const name of names) extra[name] = suite.stand_in(name);
      return suite;
    },
  };
};
