// Requests of the judge, in a realm that no submission reaches. What is called `native` is in `guest.c`.

(native) => {
  // The surroundings are made before a request comes: until then nothing is counted.
  const files = Object.create(null);
  const prelude = native.prelude(files);

  const take_files = (request) => {
    for (const name of Object.keys(request.files)) files[name] = request.files[name];
  };

  const take_file = (request) => {
    files[request.file] = request.source;
  };

  const is_source = (name) => /\.(js|mjs|cjs)$/.test(name);

  // Returns the file that a submission begins with.
  const main_of = () => {
    for (const stem of ["solution", "main", "index"])
      for (const end of [".js", ".mjs", ".cjs"]) if (stem + end in files) return stem + end;
    const sources = Object.keys(files).filter(is_source);
    return sources.length === 1 ? sources[0] : undefined;
  };

  // Names an exception by the error of the language that it is, or is made from.
  const reason = (error) => {
    const name = native.error(error);
    return name ? "!exception: " + name : "!exception";
  };

  // Carries out what waits: promises first, then the next timer, until nothing waits or `is_over`.
  const wait = (is_over) => {
    do native.jobs();
    while (!is_over() && prelude.next_timer());
  };

  // Returns what comes of a value, which may be a promise.
  const settled = (value) => {
    const state = () => native.state(value);
    if (state() < 0) return value;
    wait(() => state() > 0);
    if (state() === 0) throw PENDING;
    const result = native.result(value);
    if (state() === 2) throw result;
    return result;
  };
  const PENDING = Object.freeze({});

  const said = (error) => (error === PENDING ? "!never settled" : reason(error));

  // Loads a file of the submission, or of the challenge.
  const open = (name, is_main) => {
    const found = prelude.open(name, is_main);
    if (!("source" in found)) return found;
    const [namespace, done] = native.module(name, found.source);
    settled(done);
    prelude.keep(name, namespace);
    return { exports: namespace, is_module: true };
  };

  // Returns a function of the submission: of its main file, or of the file that the name begins with.
  const function_of = (path) => {
    const names = path.split(".");
    const [head] = names;
    const main = main_of();
    if (names.length > 1) {
      const file = [".js", ".mjs", ".cjs"].map((end) => head + end).find((name) => name in files);
      if (file !== undefined && file !== main) {
        names.shift();
        return member_of(open(file, false), names);
      }
    }
    return member_of(open(main, true), names);
  };

  const member_of = (found, names) => {
    let { exports } = found;
    const is_object = (value) => (typeof value === "object" && value !== null) || typeof value === "function";
    const [first] = names;
    let self;
    let value;
    if (is_object(exports) && first in exports) value = exports[first];
    else if (found.is_module && is_object(exports.default) && first in exports.default) {
      self = exports.default;
      value = self[first];
    } else if (typeof exports === "function" && names.length === 1) value = exports;
    else if (found.is_module && typeof exports.default === "function" && names.length === 1) value = exports.default;
    else if (!found.is_module && /^[A-Za-z_$][\w$]*$/.test(first))
      value = native.script("karat:name", "typeof " + first + " === 'undefined' ? undefined : " + first);
    if (self === undefined && !found.is_module) self = is_object(exports) && first in exports ? exports : undefined;
    for (const name of names.slice(1)) {
      if (value === undefined || value === null) return undefined;
      self = value;
      value = value[name];
    }
    return typeof value === "function" ? { self, value } : undefined;
  };

  const json_of = (value) => {
    let text;
    try {
      text = native.text(value);
    } catch (error) {
      // Without memory it is the instance that ends, and not what it returned.
      return native.error(error) === "InternalError" ? reason(error) : "!no JSON";
    }
    return text === undefined ? "!no JSON" : "=" + text;
  };

  const call = (request) => {
    take_files(request);
    if (main_of() === undefined && !request.function.includes(".")) return "!no such file";
    const args = request.args;
    const length = args.length;
    const list = [];
    for (let at = 0; at < length; at++) list.push(args[at]);
    let result;
    try {
      const found = function_of(request.function);
      if (found === undefined) return "!no such function";
      result = settled(Reflect.apply(found.value, found.self, list));
    } catch (error) {
      return said(error);
    }
    return json_of(result);
  };

  const program = (request) => {
    take_files(request);
    const main = main_of();
    if (main === undefined) return "!no such file";
    try {
      open(main, true);
      wait(() => native.unseen() !== undefined);
      const unseen = native.unseen();
      if (unseen !== undefined) return said(native.result(unseen));
      return prelude.status() === 0 ? "=0" : "!exit: 1";
    } catch (error) {
      return said(error);
    }
  };

  // The submission as the other side of a suite.
  let answers;
  const open_all = (request) => {
    take_files(request);
    const opened = Object.create(null);
    try {
      for (const name of Object.keys(files)) if (is_source(name)) opened[name] = open(name, name === main_of());
    } catch (error) {
      return said(error);
    }
    const wait_for = prelude.serve(opened);
    answers = (question) => {
      let value;
      try {
        value = wait_for.asked(question);
        return wait_for.answer(value, (promise) => wait(() => native.state(promise) > 0));
      } catch (error) {
        return wait_for.raised(error);
      }
    };
    return "=null";
  };

  // Returns the line of a file of the challenge that an exception names.
  const line_of = (error, file) => {
    let stack = "";
    try {
      stack = String(error.stack);
    } catch {}
    for (const line of stack.split("\n")) {
      const at = line.lastIndexOf(file + ":");
      if (at >= 0) return parseInt(line.slice(at + file.length + 1), 10) || 0;
    }
    return 0;
  };

  const fault = (error, file) => {
    if (error === PENDING) return "?0:a promise that is never settled";
    let words = "";
    try {
      words = String(error);
    } catch {}
    return "?" + line_of(error, file) + ":" + words.replace(/\s+/g, " ").slice(0, 500);
  };

  // Loads a suite; the files of the submission are stand-ins there.
  const load_suite = (request, is_answered) => {
    take_file(request);
    const suite = prelude.suite(request.modules, is_answered);
    open(request.file, true);
    return suite;
  };

  const names = (request) => {
    try {
      return "=" + JSON.stringify([...load_suite(request, false).names()]);
    } catch (error) {
      return fault(error, request.file);
    }
  };

  const test = (request) => {
    let suite;
    try {
      suite = load_suite(request, true);
      const found = suite.run(request.name);
      return found === undefined ? '="missing"' : '="' + settled(found) + '"';
    } catch (error) {
      return suite?.is_failure(error) ? '="fail"' : said(error);
    }
  };

  const script = (request) => {
    const { file } = request;
    const { answer, truth, match } = request;
    let result;
    try {
      take_file(request);
      const found = function_of("evaluate");
      if (found === undefined) return "?0:no function `evaluate`";
      result = settled(Reflect.apply(found.value, found.self, [answer, truth, match]));
    } catch (error) {
      return fault(error, file);
    }
    const json = json_of(result);
    return json[0] === "=" ? json : "?0:`evaluate` returned what has no JSON form";
  };

  const kinds = { call, program, open: open_all, names, test, script };

  return (text) => {
    try {
      const request = native.parse(text);
      if (request.kind === "serve") return answers(request.question);
      native.seed(request.seed);
      return kinds[request.kind](request);
    } catch (error) {
      return reason(error);
    }
  };
};
