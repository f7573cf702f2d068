import assert from "node:assert/strict";
import test from "node:test";
import { readFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { Engine, KaratError } from "../dist/index.js";
import { Module } from "../dist/module.js";

const at = (path) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const run = JSON.parse(at("examples/workflow/worked-example.json"));
const agent = { subject: "a", id: "a-1", dimensions: { accuracy: 0.9, security: 0.8, safety: 0.7, reliability: 0.95 } };
const trace = JSON.parse(at("examples/trace/finance-document.json"));

/** Returns the error of a call. */
function refused(call) {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof KaratError, String(error?.stack));
    return error;
  }
  return assert.fail("not refused");
}

test("an item is scored, as object, text and bytes, to the same bytes", async () => {
  const engine = await Engine.load("workflow");
  const text = JSON.stringify(run);
  const records = [run, text, JSON.stringify(run, null, 4), new TextEncoder().encode(text), Buffer.from(text)].map((item) => engine.score(item));
  for (const record of records) assert.equal(record.text, records[0].text);
  const [record] = records;
  assert.equal(record.score, 0.84);
  assert.equal(record.status, "scored");
  assert.equal(record.document.scorecard.id, "workflow");
  assert.equal(JSON.stringify(record), record.text, "canonical JSON, so that reading and writing gives it again");
  assert.equal(new TextDecoder().decode(record.bytes), record.text);
  assert.equal(await record.digest(), `sha256:${createHash("sha256").update(record.text).digest("hex")}`);
  assert.equal(engine.number(run), 0.84);
});

test("an item without a score has null, and its record says why", async () => {
  const engine = await Engine.load("trust@1.0.0");
  const empty = { subject: "a", id: "a-0", dimensions: {} };
  const record = engine.score(empty);
  assert.equal(record.score, null);
  assert.equal(record.status, "unscored");
  assert.equal(record.document.score, null);
  assert.equal(engine.number(empty), null);
  const workflow = await Engine.load("workflow");
  const unmetered = { ...run, result: { ...run.result, actual_cost: null } };
  const withheld = workflow.score(unmetered);
  assert.deepEqual([withheld.score, withheld.status, workflow.number(unmetered)], [null, "withheld", null]);
});

test("an explanation has the parts that add up, and the record", async () => {
  const engine = await Engine.load("workflow");
  const explained = engine.explain(run);
  const record = engine.score(run);
  assert.equal(JSON.stringify(explained.record), record.text);
  assert.equal(explained.digest, await record.digest());
  assert.equal(explained.rows.at(-1).total, 0.84);
  assert.ok(Math.abs(explained.rows.reduce((sum, { points }) => sum + points, 0) - 0.84) < 1e-12);
  assert.deepEqual(explained.missing, []);
});

test("a scorecard of one's own is loaded from its text", async () => {
  const engine = await Engine.load(at("examples/cards/task-run.toml"));
  const facts = at("examples/leaderboard/runs.csv").split("\n");
  const [names, values] = [facts[0].split(","), facts[1].split(",")];
  const item = Object.fromEntries(names.map((name, place) => [name, Number.isNaN(Number(values[place])) ? values[place] : Number(values[place])]));
  assert.equal(typeof engine.score(item).score, "number");
  const broken = at("examples/cards/task-run.toml").replace("weight", "wieght");
  const error = await Engine.load(broken).catch((error) => error);
  assert.equal(error.code, "scorecard-refused");
  assert.match(error.message, /wieght/);
  assert.ok(error.problems.length >= 1);
});

test("options name subject and task of facts", async () => {
  const card = at("examples/cards/task-run.toml");
  const plain = await Engine.load(card);
  const item = { subject: "x", model: "m", task: "t", exercise: "e", id: "1" };
  const document = (engine) => engine.score(item).document;
  const renamed = await Engine.load(card, { subjectField: "model", taskField: "exercise" });
  const found = document(renamed);
  assert.equal(found.subject, "m");
  assert.equal(found.evidence.task, "e");
  assert.equal(document(plain).subject, "x");
});

test("the moment is that of the options, or of `setMoment`", async () => {
  const engine = await Engine.load("workflow", { asOf: "2026-01-31T12:00:00Z" });
  assert.equal(engine.score(run).document.as_of, "2026-01-31T12:00:00Z");
  engine.setMoment(new Date(0));
  assert.equal(engine.score(run).document.as_of, "1970-01-01T00:00:00Z");
  engine.setMoment(null);
  assert.equal(engine.score(run).document.as_of, null);
  const wrong = refused(() => engine.setMoment("yesterday"));
  assert.equal(wrong.code, "invalid-option");
  assert.match(wrong.message, /`yesterday`/);
  refused(() => engine.setMoment(new Date(NaN)));
  assert.equal(engine.score(run).document.as_of, null, "as it was");
  await assert.rejects(Engine.load("workflow", { asOf: "31 January" }), /31 January/);
  await assert.rejects(Engine.load("workflow", { asOf: new Date(NaN) }), { code: "invalid_value" });
});

test("errors have code, path and hints", async () => {
  const engine = await Engine.load("trust@1.0.0");
  const error = refused(() => engine.score({ subject: "a", dimensions: { acuracy: 0.5, safety: 2 } }));
  assert.ok(error.problems.length >= 2, "everything that is wrong");
  assert.match(error.message, /acuracy/);
  assert.match(error.path, /^\$\.dimensions/);
  assert.equal(refused(() => engine.score("{")).code, "evidence-refused");
  assert.equal(refused(() => engine.score("")).constructor, KaratError);
  const unknown = await Engine.load("trsut").catch((error) => error);
  assert.equal(unknown.code, "unknown-scorecard");
  assert.match(unknown.hint, /did you mean `trust`/);
  assert.ok(unknown.hints.length >= 2);
  const nan = refused(() => engine.score({ subject: "a", dimensions: { accuracy: NaN } }));
  assert.equal(nan.code, "invalid_value");
  assert.equal(nan.path, "$.dimensions.accuracy");
  assert.match(nan.hint, /leave the member out/);
  // What was refused changes nothing for what follows.
  assert.equal(engine.score(agent).status, "scored");
  for (const item of [null, undefined, 5, [], true, () => 1, new Map(), NaN]) refused(() => engine.score(item));
  for (const card of [null, undefined, 5, {}, []]) await assert.rejects(Engine.load(card), KaratError);
});

test("an item with bytes of a fifth of a megabyte, and characters of four bytes", async () => {
  const engine = await Engine.load("trace");
  const long = { ...trace, task: { objective: "🐙 é 中".repeat(20_000) } };
  const record = engine.score(long);
  assert.equal(record.text, engine.score(JSON.stringify(long)).text);
  assert.equal(engine.textToEmbed({ ...trace, task: { objective: "🐙 é" } }).startsWith("🐙 é"), true);
});

test("several engines, scorecards and orders do not touch each other", async () => {
  const [one, two, three] = await Promise.all([Engine.load("workflow"), Engine.load("trust@1.0.0"), Engine.load("workflow", { asOf: "2026-01-01T00:00:00Z" })]);
  const alone = [one.score(run).text, two.score(agent).text, three.score(run).text];
  assert.notEqual(alone[0], alone[2]);
  for (let round = 0; round < 50; round += 1) {
    assert.deepEqual([three.score(run).text, two.score(agent).text, one.score(run).text].reverse(), alone);
    refused(() => one.score(agent));
  }
  two.dispose();
  two.dispose();
  assert.equal(refused(() => two.score(agent)).code, "disposed");
  for (const call of [() => two.number(agent), () => two.explain(agent), () => two.setMoment(null), () => two.clearVectors(), () => two.setVector("m", [1]), () => two.textToEmbed(trace)]) {
    assert.equal(refused(call).code, "disposed");
  }
  const four = await Engine.load("trust@1.0.0");
  assert.equal(four.score(agent).text, alone[1], "in the place of the one before");
  assert.equal(one.score(run).text, alone[0]);
  assert.equal(refused(() => two.score(agent)).code, "disposed", "also when its place is taken");
});

test("many engines come and go", async () => {
  for (let round = 0; round < 40; round += 1) {
    const engine = await Engine.load("workflow");
    assert.equal(engine.number(run), 0.84);
    engine[Symbol.dispose]();
  }
});

test("vectors: what an embedder made is compared with what came before", async () => {
  const engine = await Engine.observing("trace");
  const novelty = (id, vector, model = "m") => {
    engine.setVector(model, vector);
    const { document } = engine.score({ ...trace, id: `kp:trace:${id}` });
    return [document.dimensions.find(({ key }) => key === "novelty").reading, document.grading.novelty.basis];
  };
  assert.deepEqual(novelty("a", [1, 0, 0]), [0.5, "nothing_earlier"]);
  assert.deepEqual(novelty("b", [0, 1, 0]), [1, "compared"]);
  assert.deepEqual(novelty("c", [1, 0, 0]), [0, "compared"]);
  assert.deepEqual(novelty("a", [0, 1, 0]), [0, "compared"], "an id that came before is an observation again");
  assert.deepEqual(novelty("e", [0, 0, 0]), [0.5, "zero_vector"]);
  engine.clearVectors();
  assert.deepEqual(novelty("f", [1, 0, 0]), [0.5, "nothing_earlier"]);
  for (const vector of [null, [], [NaN], [1, Infinity], [1e39], ["x"], new Float32Array(0)]) {
    assert.equal(refused(() => engine.setVector("m", vector)).code, "invalid_value");
  }
  const identity = await Engine.load("trace");
  const again = () => {
    identity.setVector("m", [1, 0]);
    return identity.score(trace).document.dimensions.find(({ key }) => key === "novelty").reading;
  };
  assert.deepEqual([again(), again()], [0.5, 0.5], "an engine keeps identity: the same trace is scored again");
});

test("a vector counts for one item, also if that is refused", async () => {
  const engine = await Engine.observing("trace");
  engine.setVector("m", [1, 0]);
  refused(() => engine.score({ ...trace, steps: [] }));
  assert.equal(engine.score(trace).document.grading.novelty.basis, "no_embedder");
});

test("a failure inside drops the instance, and the next call works", async () => {
  const engine = await Engine.load("workflow", { asOf: "2026-01-31T12:00:00Z" });
  const other = await Engine.load("trust@1.0.0");
  const before = [engine.score(run).text, other.score(agent).text];
  // The stack is used up, so that the module runs out of it, or the walk before it.
  const errors = new Set();
  const down = (left) => {
    if (left > 0) return down(left - 1);
    return engine.score(JSON.stringify(run));
  };
  for (let depth = 6_000; depth < 16_000; depth += 37) {
    try {
      down(depth);
    } catch (error) {
      errors.add(error.code ?? error.name);
    }
  }
  assert.ok(errors.has("internal"), `the stack was used up elsewhere: ${[...errors]}`);
  for (const name of errors) assert.ok(["internal", "RangeError"].includes(name), name);
  assert.deepEqual([engine.score(run).text, other.score(agent).text], before, "moment and scorecards are as they were");
});

test("a trap is an internal error, once", async () => {
  const { Instance } = WebAssembly;
  let isArmed = false;
  const trap = new Instance(new WebAssembly.Module(new Uint8Array([
    0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 8, 1, 4, 116, 114, 97, 112, 0, 0, 10, 5, 1, 3, 0, 0, 11,
  ]))).exports.trap;
  assert.throws(trap, WebAssembly.RuntimeError);
  WebAssembly.Instance = class {
    constructor(...given) {
      const { exports } = new Instance(...given);
      const score = (handle) => {
        if (isArmed) trap();
        return exports.score(handle);
      };
      return { exports: { ...exports, score } };
    }
  };
  try {
    const module = new Module(await WebAssembly.compile(readFileSync(new URL("../dist/engine.wasm", import.meta.url))));
    const opened = () => module.call("open", JSON.stringify({ card: "workflow", observes: false, subject_field: null, task_field: null }));
    const handle = opened();
    assert.equal(module.call("score", JSON.stringify(run), handle), 1);
    assert.equal(module.generation, 1);
    isArmed = true;
    const error = refused(() => module.call("score", "{}", handle));
    assert.deepEqual([error.code, error.cause instanceof WebAssembly.RuntimeError], ["internal", true]);
    assert.match(error.hint, /please report it/);
    isArmed = false;
    assert.equal(module.call("score", JSON.stringify(run), handle), 0, "its engines are gone");
    assert.match(module.error().message, /disposed/);
    assert.equal(module.generation, 2);
    assert.equal(module.call("score", JSON.stringify(run), opened()), 1);
  } finally {
    WebAssembly.Instance = Instance;
  }
});

test("a member that throws or changes while it is read", async () => {
  const engine = await Engine.load("trust@1.0.0");
  const thrown = refused(() => engine.score({ subject: "a", get dimensions() { throw new Error("no"); } }));
  assert.equal(thrown.path, "$.dimensions");
  const nested = await Engine.load("workflow");
  const item = { subject: "a", id: "a-1", get dimensions() { nested.score(run); return agent.dimensions; } };
  assert.equal(engine.score(item).text, engine.score(agent).text, "scored inside, scored outside");
});
