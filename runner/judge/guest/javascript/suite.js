// The side of the tests in a hidden suite, where the submission is a stand-in. The other side is in `answers.js`.

(native, is_answered, library) => {
  "use strict";
  const values = native.values()(native);
  const numbers = new WeakMap();
  const classes = new Map();
  const known_errors = { AggregateError, Error, EvalError, InternalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
  const symbols = { iterator: Symbol.iterator, primitive: Symbol.toPrimitive, instance: Symbol.hasInstance };

  // Returns the class of the tests' side for an exception of the submission: the last name is the language's.
  const class_of = (kinds, known) => {
    const base = Object.hasOwn(known_errors, known) ? known_errors[known] : Error;
    const names = kinds.map(String).filter((name) => name !== known);
    let made = base;
    for (const name of names.reverse()) {
      const key = JSON.stringify([known, name, made.name]);
      if (!classes.has(key)) {
        const parent = made;
        const next = { [name]: class extends parent {} }[name];
        Object.defineProperty(next.prototype, "name", { value: name, writable: true, configurable: true });
        classes.set(key, next);
      }
      made = classes.get(key);
    }
    return made;
  };
  const error_of = (packed) => {
    if (packed.thrown) return unpack(packed.thrown);
    const Kind = class_of(packed.kinds, packed.known);
    const error = Kind === AggregateError ? new AggregateError([], String(packed.words)) : new Kind(String(packed.words));
    return values.set(error, packed.members, unpack);
  };
  const unpack = (packed) => values.unpacked(packed, of_there);
  // Returns what stands for something of the submission.
  const of_there = (kind, content, packed) => {
    switch (kind) {
      case "resolved": return Promise.resolve(unpack(content));
      case "rejected": return Promise.reject(error_of(content));
      case "waiting": return new Promise(() => {});
      case "error": {
        const error = error_of(content);
        if (typeof error === "object") numbers.set(error, packed.object);
        return error;
      }
      case "exception": {
        const kinds = content.map(String);
        const made = class_of(kinds, kinds.at(-1));
        numbers.set(made, packed.object);
        return made;
      }
      default: return stand({ object: Number(content) }, packed.sort === "function");
    }
  };
  const pack = (value, depth = 0) => {
    const is_one = (typeof value === "object" && value !== null) || typeof value === "function";
    if (is_one && numbers.has(value)) return { object: numbers.get(value) };
    if (depth > 50) throw new TypeError("what is handed to the submission is nested too deep");
    const inner = (item) => pack(item, depth + 1);
    const kind = is_one && typeof value === "object" ? native.kind(value) : "";
    const packed = values.packed(value, kind, inner);
    if (packed !== undefined) return packed;
    if (kind === "object") return { members: Object.keys(value).map((name) => [name, inner(value[name])]) };
    throw new TypeError("a function or an object of a class cannot be handed to the submission: only plain values, and what came from there");
  };
  const ask = (question) => {
    const text = native.ask("submission", JSON.stringify(question));
    const content = JSON.parse(text.slice(1));
    if (text[0] === "=") return unpack(content);
    throw error_of(content);
  };

  // Something of the submission: a function, a class or an object there.
  const stand = (where, is_function) => {
    const target = is_function ? function () {} : {};
    const from = (does, more) => ask({ does, ...where, ...more });
    const face = new Proxy(target, {
      get(_, name) {
        if (name === symbols.iterator)
          return function* () {
            const there = from("iterate");
            for (;;) {
              const { done, value } = ask({ does: "next", object: numbers.get(there) });
              if (done) return value;
              yield value;
            }
          };
        // An object that is compared or reckoned with would answer for itself, and another time otherwise.
        if (name === symbols.primitive)
          return (hint) => {
            if (hint !== "string") throw new TypeError("an object of the submission is no number: call a method that returns one");
            return from("text");
          };
        if (name === symbols.instance) return (value) => from("instance", { args: [pack(value)] });
        if (typeof name === "symbol" || (name === "then" && !is_function)) return undefined;
        if (name === "prototype" && is_function) return target.prototype;
        return from("get", { name: { value: name } });
      },
      set(_, name, value) {
        if (typeof name === "symbol") return false;
        return from("set", { name: { value: name }, args: [pack(value)] });
      },
      has: () => { throw new TypeError("ask for what an object of the submission returns, not for what it has"); },
      apply: (_, self, args) => from("call", { args: [pack(self), ...args.map((item) => pack(item))] }),
      construct: (_, args) => from("new", { args: args.map((item) => pack(item)) }),
      ownKeys: () => { throw new TypeError("ask for what an object of the submission returns, not for what it consists of"); },
      getPrototypeOf: () => { throw new TypeError("an object of the submission is not one of the tests: compare values that it returns"); },
      defineProperty: () => false,
      deleteProperty: () => false,
    });
    if ("object" in where) numbers.set(face, where.object);
    stands.add(face);
    return face;
  };
  const stands = new WeakSet();
  library.look_with((value) => {
    if (stands.has(value)) throw new TypeError("an object of the submission cannot be compared: compare values that it returns");
  });

  // Tests by their names, as `node:test` has them.
  const found = [];
  let group = { names: [], before: [], after: [], once: [], last: [] };
  const given = (name, options, run) => {
    if (typeof name === "function") return { name: name.name || "test", options: {}, run: name };
    return typeof options === "function" ? { name, options: {}, run: options } : { name, options: options ?? {}, run };
  };
  const test = (...words) => {
    const { name, options, run } = given(...words);
    const is_left_out = options.skip || options.todo || run === undefined;
    found.push({ name: [...group.names, String(name)].join(" > "), run: is_left_out ? undefined : run, group });
  };
  const describe = (...words) => {
    const { name, options, run } = given(...words);
    const outer = group;
    const { before, after, once, last } = outer;
    group = { names: [...outer.names, String(name)], before: [...before], after: [...after], once: [...once], last: [...last] };
    try {
      if (!options.skip && !options.todo) run?.();
    } finally {
      group = outer;
    }
  };
  for (const kind of [test, describe]) {
    kind.skip = (name, ...rest) => test(name, { skip: true }, rest.at(-1));
    kind.todo = kind.skip;
    kind.only = kind;
  }
  const hook = (list, at) => (run) => void group[list][at](run);
  const module = {
    test, it: test, describe, suite: describe,
    beforeEach: hook("before", "push"), afterEach: hook("after", "unshift"),
    before: hook("once", "push"), after: hook("last", "unshift"),
  };
  Object.assign(test, module);
  module.default = test;

  return {
    module,
    stand_in: (file) => (name) => {
      if (is_answered) return ask({ does: "export", file, name });
      const early = () => { throw new Error("the submission is asked while the suite is loaded: do it in a test"); };
      return new Proxy(function () {}, { get: early, apply: early, construct: early, has: early, ownKeys: early });
    },
    names: () => found.map(({ name }) => name),
    is_failure: (error) => error instanceof library.AssertionError,
    run(name) {
      const { run, group } = found.find((it) => it.name === name) ?? {};
      if (group === undefined) return undefined;
      if (run === undefined) return "skip";
      const context = { name, diagnostic() {}, skip: () => { context.is_skipped = true; } };
      return (async () => {
        for (const step of [...group.once, ...group.before]) await step();
        let failure;
        try {
          await run(context);
        } catch (error) {
          failure = { error };
        }
        for (const step of [...group.after, ...group.last]) await step();
        if (failure) throw failure.error;
        return context.is_skipped ? "skip" : "pass";
      })();
    },
  };
};
