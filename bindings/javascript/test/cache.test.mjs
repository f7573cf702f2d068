import assert from "node:assert/strict";
import test from "node:test";
import { readFileSync } from "node:fs";
import { VectorCache } from "../dist/cache.js";

const EAST = [1, 0], NORTH = [0, 1], NORTH_EAST = [0.6, 0.8];
const cache = (maxElements, ttlMs = Infinity, dimensions = 2) => new VectorCache({ maxElements, dimensions, ttlMs });

test("the settings of the document", () => {
  const defaults = new VectorCache();
  assert.deepEqual([defaults.maxElements, defaults.dimensions, defaults.ttlMs, defaults.size], [1000, 384, 3_600_000, 0]);
  assert.throws(() => new VectorCache({ maxElements: -1, dimensions: 0, ttlMs: NaN }), (error) => {
    assert.equal(error.code, "invalid_value");
    assert.deepEqual(error.problems.map((problem) => problem.path), ["maxElements", "dimensions", "ttlMs"]);
    return true;
  });
  assert.throws(() => new VectorCache({ dimensions: 65_537 }), /1 to 65536/);
});

test("an empty cache has nothing to be similar to", () => {
  const empty = cache(3);
  assert.equal(empty.maxCosineSimilarity(EAST, 0), 0);
  empty.add(NORTH, 0);
  assert.equal(empty.maxCosineSimilarity(EAST, 0), 0, "as one that is at right angles: `size` tells them apart");
  assert.equal(empty.size, 1);
});

test("the oldest goes at capacity", () => {
  const two = cache(2);
  two.add(EAST, 0);
  two.add(NORTH, 0);
  assert.equal(two.maxCosineSimilarity(EAST, 0), 1);
  two.add(NORTH, 0);
  assert.equal(two.size, 2);
  assert.equal(two.maxCosineSimilarity(EAST, 0), 0);
  const none = cache(0);
  none.add(EAST, 0);
  assert.equal(none.size, 0);
});

test("many vectors pass through a small cache", () => {
  const three = cache(3, Infinity, 1);
  for (let at = 1; at <= 10_000; at += 1) three.add([at % 2 === 0 ? -1 : 1], at);
  assert.equal(three.size, 3);
  three.clear();
  assert.deepEqual([three.size, three.maxCosineSimilarity([1], 0)], [0, 0], "the newest moment is forgotten too");
});

test("a vector lives until its last millisecond", () => {
  const short = cache(5, 100);
  short.add(EAST, 0);
  short.add(NORTH, 60);
  assert.equal(short.maxCosineSimilarity(EAST, 99), 1);
  assert.equal(short.maxCosineSimilarity(EAST, 100), 0);
  assert.equal(short.size, 1);
  short.evictExpired(159);
  assert.equal(short.size, 1);
  short.evictExpired(160);
  assert.equal(short.size, 0);
  const none = cache(5, 0);
  none.add(EAST, 0);
  assert.equal(none.size, 0, "a time to live of 0 keeps none");
});

test("a clock that steps back stands still", () => {
  const stepped = cache(5, 100);
  stepped.add(EAST, 1000);
  stepped.add(NORTH, 500);
  assert.equal(stepped.size, 2);
  stepped.evictExpired(0);
  assert.equal(stepped.size, 2);
  stepped.evictExpired(1099);
  assert.equal(stepped.size, 2, "the second counts as of 1000");
  stepped.evictExpired(1100);
  assert.equal(stepped.size, 0);
  assert.throws(() => stepped.add(EAST, NaN), /now: found `NaN`/);
});

test("the clock is that of the program where no moment is given", (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: 1_000_000 });
  const hour = new VectorCache({ dimensions: 2 });
  hour.add(EAST);
  context.mock.timers.tick(3_599_999);
  assert.equal(hour.maxCosineSimilarity(EAST), 1);
  context.mock.timers.tick(1);
  assert.equal(hour.maxCosineSimilarity(EAST), 0);
});

test("vectors of zeros have no direction", () => {
  const zeros = cache(5);
  zeros.add([0, -0], 0);
  assert.equal(zeros.size, 1);
  assert.equal(zeros.maxCosineSimilarity(EAST, 0), 0);
  zeros.add([-1, 0], 0);
  assert.equal(zeros.maxCosineSimilarity(EAST, 0), 0);
  assert.equal(zeros.maxCosineSimilarity([0, 0], 0), 0);
});

test("cosines are those of the engine", () => {
  const one = cache(5);
  one.add(EAST, 0);
  assert.equal(one.maxCosineSimilarity([-1, 0], 0), -1);
  assert.equal(one.maxCosineSimilarity(NORTH_EAST, 0), Math.fround(0.6) / Math.sqrt(Math.fround(0.6) ** 2 + Math.fround(0.8) ** 2));
  const steep = cache(5, Infinity, 3);
  steep.add([-1e30, 2e30, -3e30], 0);
  const similarity = steep.maxCosineSimilarity([-1e30, 2e30, -3e30], 0);
  assert.ok(similarity > 1 && similarity < 1 + 1e-15, "one rounding step above 1");
});

test("vectors that do not fit are refused, and the cache is as it was", () => {
  const three = cache(5, Infinity, 3);
  three.add(new Float64Array([1, 2, 3]), 0);
  assert.throws(() => three.add([1, 2], 0), { message: "Expected 3 dimensions, got 2", code: "invalid_value" });
  assert.throws(() => three.maxCosineSimilarity([1, 2, 3, 4], 0), { message: "Expected 3 dimensions, got 4" });
  assert.throws(() => three.add("abc", 0), /got a text/);
  assert.throws(() => three.add(null, 0), /got no vector/);
  assert.throws(() => three.add([1, NaN, 3], 0), /\$\[1\]: found `NaN`, expected a number that 32 bits can hold/);
  assert.throws(() => three.add([1, 2, 1e39], 0), /\$\[2\]/);
  assert.throws(() => three.add([1, "2", 3], 0), /\$\[1\]: found `"2"`/);
  assert.equal(three.size, 1);
  const given = new Float32Array([1, 0, 0]);
  three.add(given, 0);
  given.fill(0);
  assert.equal(three.maxCosineSimilarity([1, 0, 0], 0), 1, "what was added is a copy");
});

test("the cases of the vectors", () => {
  const lines = readFileSync(new URL("../../../vectors/trace.jsonl", import.meta.url), "utf8").trim().split("\n");
  let count = 0;
  for (const { id, fn, input, expected } of lines.map((line) => JSON.parse(line))) {
    if (fn !== "cache") continue;
    const tested = cache(input.max_elements, input.ttl_ms ?? Infinity, input.dimensions);
    let now = 0;
    input.ops.forEach((step, at) => {
      const { similarity, size, error } = expected.results[at];
      if (error !== undefined) {
        assert.throws(() => (step.op === "add" ? tested.add(step.vector, now) : tested.maxCosineSimilarity(step.vector, now)), /Expected/);
        return;
      }
      if (step.op === "advance") tested.evictExpired((now += step.ms));
      else if (step.op === "add") tested.add(step.vector, now);
      else if (step.op === "query") assert.ok(Math.abs(tested.maxCosineSimilarity(step.vector, now) - similarity) < 2e-9, id);
      else tested[step.op === "clear" ? "clear" : "evictExpired"](now);
      assert.equal(tested.size, size, id);
    });
    count += 1;
  }
  assert.equal(count, 24);
});
