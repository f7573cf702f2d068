import assert from "node:assert/strict";
import test from "node:test";
import { runInNewContext } from "node:vm";
import { KaratError } from "../dist/error.js";
import { toJson } from "../dist/walk.js";

function refused(value, path, found) {
  assert.throws(
    () => toJson(value),
    (error) => {
      assert.ok(error instanceof KaratError, String(error));
      assert.equal(error.code, "invalid_value");
      assert.equal(error.path, path);
      assert.match(error.message, found);
      assert.ok(error.message.startsWith(`${path}: `));
      assert.deepEqual(error.problems.map((problem) => problem.path), [path]);
      return true;
    },
  );
}

test("what JSON can say is written as JSON.stringify writes it", () => {
  const values = [
    null, true, false, 0, 1.5, -2e-7, 1e-300, 0.1 + 0.2, 2 ** 53 - 1, {}, [], [[]], { a: [] }, { a: { b: [1, "x", null] } },
    { "": 1, "a b": 2, '"': 3, "\u0000": 4, "\u2028": 5, é: 6, 1: 7, "😀": "😀" },
    { text: 'a "quoted" \\ line\nwith\ttabs\u0007 and 日本語' },
    JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}'),
    Object.assign(Object.create(null), { a: 1 }),
  ];
  for (const value of values) assert.equal(toJson(value), JSON.stringify(value));
});

test("minus zero is zero, and members keep their order", () => {
  assert.equal(toJson({ b: -0, a: [-0] }), '{"b":0,"a":[0]}');
});

test("a text or bytes as the whole value are JSON already", () => {
  assert.equal(toJson('{"a": NaN}'), '{"a": NaN}');
  assert.equal(toJson(new TextEncoder().encode('{"a": "é"}')), '{"a": "é"}');
  assert.equal(toJson(Buffer.from('{"a": 1}')), '{"a": 1}');
  refused(new Uint8Array([0x22, 0xff, 0x22]), "$", /bytes that are not UTF-8/);
  refused('{"a": "\ud800"}', "$", /lone surrogate/);
});

test("numbers that JSON has no word for are refused where they are", () => {
  refused({ steps: [{}, {}, {}, { content: NaN }] }, "$.steps[3].content", /found NaN, expected a finite number; leave the member out/);
  refused({ a: Infinity }, "$.a", /Infinity/);
  refused([-Infinity], "$[0]", /-Infinity/);
  refused({ a: 10n }, "$.a", /BigInt 10/);
  refused({ a: 2 ** 53 }, "$.a", /9007199254740992, expected a whole number within 2\^53/);
  refused({ a: -1e300 }, "$.a", /-1e\+300/);
});

test("what JSON.stringify leaves out in silence is refused", () => {
  refused({ a: undefined }, "$.a", /`undefined`, expected a value; leave the member out, or give null/);
  refused([1, undefined], "$[1]", /`undefined`/);
  refused({ a: () => 1 }, "$.a", /a function/);
  refused({ a: Symbol("x") }, "$.a", /a symbol/);
  refused({ a: 1, [Symbol("hidden")]: 2 }, "$", /the member Symbol\(hidden\)/);
  refused({ list: [1, , 3] }, "$.list[1]", /a hole/);
  refused({ list: new Array(1e9) }, "$.list[0]", /a hole/);
  refused(undefined, "$", /`undefined`/);
});

test("lone surrogates are refused in texts and in keys", () => {
  refused({ a: "x\ud800" }, "$.a", /lone surrogate/);
  refused({ "\udc00": 1 }, '$["\\udc00"]', /lone surrogate/);
  assert.equal(toJson({ a: "\ud83d\ude00" }), '{"a":"😀"}');
});

test("objects that are not plain are refused by name, with what to do", () => {
  class Item {}
  const cases = [
    [new Date(0), /a `Date`.*toISOString\(\)/], [new Map(), /a `Map`.*Object\.fromEntries/], [new Set(), /a `Set`.*Array\.from/],
    [new Item(), /a `Item`/], [new Float32Array(2), /a `Float32Array`.*Array\.from/], [new Uint8Array(2), /a `Uint8Array`/],
    [new Number(1), /a `Number`.*valueOf/], [new (class List extends Array {})(), /a `List`/], [Object.create({ a: 1 }), /./],
    [Promise.resolve(), /await/], [/x/, /a `RegExp`/], [new Error("x"), /a `Error`/],
  ];
  for (const [value, found] of cases) refused({ at: value }, "$.at", found);
});

test("toJSON is not called", () => {
  refused({ a: { toJSON: () => 1 } }, "$.a.toJSON", /`toJSON`, which is not called/);
  assert.equal(toJson({ toJSON: 1 }), '{"toJSON":1}');
  Object.prototype.toJSON = () => assert.fail("called");
  try {
    assert.equal(toJson({ a: 1 }), '{"a":1}');
  } finally {
    delete Object.prototype.toJSON;
  }
});

test("a getter that throws is refused where it is, with its own error as the cause", () => {
  const thrown = new Error("not today");
  const value = { list: [{ get price() { throw thrown; } }] };
  assert.throws(() => toJson(value), (error) => {
    assert.equal(error.path, "$.list[0].price");
    assert.match(error.message, /throws when it is read: Error: not today/);
    assert.equal(error.cause, thrown);
    return true;
  });
  let reads = 0;
  assert.equal(toJson({ get once() { reads += 1; return reads; } }), '{"once":1}');
  assert.equal(reads, 1, "what was checked is what is written");
  refused(new Proxy({}, { ownKeys() { throw new Error("no"); } }), "$", /Error: no/);
});

test("cycles and depth end the walk", () => {
  const cycle = { a: { b: [] } };
  cycle.a.b.push(cycle.a);
  refused(cycle, "$.a.b[0]", /a cycle back to \$\.a,/);
  const shared = { x: 1 };
  assert.equal(toJson({ a: shared, b: shared }), '{"a":{"x":1},"b":{"x":1}}');
  const nested = (levels) => {
    let value = 1;
    for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
    return value;
  };
  assert.equal(toJson(nested(128)), JSON.stringify(nested(128)));
  assert.throws(() => toJson(nested(129)), /one more level, expected at most 128/);
  assert.throws(() => toJson(nested(10_000)), /at most 128 levels/);
});

test("plain objects of another realm are plain", () => {
  assert.equal(toJson(runInNewContext("({ a: [1, { b: 'x' }] })")), '{"a":[1,{"b":"x"}]}');
  assert.throws(() => toJson({ a: runInNewContext("new Date(0)") }), /a `Date`/);
});

test("paths are those of the engine, and bounded", () => {
  refused({ "@context": { "a-b": { "c d": { é1: NaN } } } }, '$.@context.a-b["c d"].é1', /NaN/);
  assert.throws(() => toJson({ ["x".repeat(1e6)]: NaN }), (error) => error.path.length < 120);
  assert.throws(() => toJson({ a: NaN }, "$[7]"), (error) => error.path === "$[7].a");
});

test("an error of the engine is read with all it says", () => {
  const json = '{"code":"evidence-refused","message":"item is refused","place":"a:1","problems":[{"path":"$.x","detail":"found 2, expected 1"}],"hints":["do it"]}';
  const error = KaratError.of(json);
  assert.deepEqual([error.code, error.path, error.hint, error.hints], ["evidence-refused", "$.x", "do it", ["do it"]]);
  assert.equal(error.message, "a:1: item is refused\n  $.x: found 2, expected 1\n  do it");
  assert.equal(error.problems.length, 1);
  assert.equal(KaratError.of("boom").code, "internal");
});
