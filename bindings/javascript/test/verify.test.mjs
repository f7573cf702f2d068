import assert from "node:assert/strict";
import test from "node:test";
import { readFileSync } from "node:fs";
import { Engine, KaratError, verifyReceipt, verifyRecord } from "../dist/index.js";
import * as verify from "../dist/verify.js";

const at = (path) => readFileSync(new URL(`../../../examples/${path}`, import.meta.url), "utf8");
const text = at("receipt/receipt.json");
const receipt = JSON.parse(text);
const key = at("receipt/log.key").trim();
const evidence = at("workflow/worked-example.json");
const outcomes = (checks) => Object.fromEntries(checks.map(({ name, outcome }) => [name, outcome]));
const ALL = { signature: "verified", inclusion: "verified", content: "verified", sources: "verified" };

test("a receipt of the example holds, as text, object and bytes", async () => {
  for (const given of [text, receipt, JSON.stringify(receipt, null, 2), new TextEncoder().encode(text)]) {
    const checks = await verifyReceipt(given, { key });
    assert.deepEqual(outcomes(checks), ALL);
    for (const { says } of checks) assert.ok(says.length > 0);
  }
  assert.deepEqual(outcomes(await verifyReceipt(at("receipt/sent.json"), { key: `${key}\n` })), ALL);
  assert.deepEqual(Object.keys(verify), ["verifyReceipt", "verifyRecord"]);
});

test("without a key the signature is not checked, and says so", async () => {
  for (const options of [undefined, {}, { key: "" }, { key: undefined }]) {
    const checks = await verifyReceipt(receipt, options);
    assert.deepEqual(outcomes(checks), { ...ALL, signature: "inconclusive" });
    assert.match(checks[0].says, /anyone may have signed/);
  }
});

test("another key, or none, does not hold", async () => {
  const [name, id, secret] = key.split("+");
  // The key of another log of the same name: a well-formed one.
  const other = JSON.parse(readFileSync(new URL("../../../examples/receipt/receipt.json", import.meta.url), "utf8"));
  assert.ok(other.checkpoint.startsWith(name));
  const wrong = [`${name}+${id}+${secret.slice(0, -2)}${secret.at(-2) === "A" ? "B" : "A"}=`, `other+${id}+${secret}`, "nonsense", name, `${name}+${id}`, "🐙"];
  for (const key of wrong) {
    const checks = await verifyReceipt(receipt, { key });
    assert.ok(checks.some(({ outcome }) => outcome === "failed"), key);
    assert.ok(!checks.some(({ name, outcome }) => name === "signature" && outcome === "verified"), key);
  }
  await assert.rejects(verifyRecord(receipt, { key: "nonsense" }), KaratError);
});

test("what is no receipt fails, whatever it is", async () => {
  for (const given of ["", "{", "null", "[]", "{}", "5", '"x"', {}, [], { schema: "karat/receipt/1" }, at("workflow/worked-example.json")]) {
    const checks = await verifyReceipt(given, { key });
    assert.ok(checks.every(({ outcome }) => outcome === "failed"), JSON.stringify(given).slice(0, 40));
  }
  for (const given of [null, undefined, 5, NaN, { ...receipt, index: NaN }, { ...receipt, path: undefined }]) {
    const checks = await verifyReceipt(given, { key }).catch((error) => error);
    if (checks instanceof Error) assert.ok(checks instanceof KaratError, String(checks.stack));
    else assert.ok(checks.every(({ outcome }) => outcome === "failed"));
  }
});

/** Every value in an object with the keys that lead there. */
function leaves(value, path = []) {
  if (value === null || typeof value !== "object") return [path];
  const below = Object.entries(value).flatMap(([key, part]) => leaves(part, [...path, key]));
  return path.length > 0 ? [path, ...below] : below;
}

/** Values that stand for one, none of them the same. */
function others(value) {
  const all = [null, "", 0, -1, 1, 1e15, true, "x", [], {}, ["x"]];
  if (typeof value === "string") {
    const flipped = (at) => value.slice(0, at) + (value[at] === "a" ? "b" : "a") + value.slice(at + 1);
    all.push(`${value} `, value.slice(1), value.toUpperCase(), ...[0, value.length >> 1, value.length - 1].map(flipped));
  }
  if (typeof value === "number") all.push(value + 1, -value, value + 0.5, value * 2, String(value));
  if (Array.isArray(value)) all.push(value.slice(1), [...value, ...value.slice(0, 1)], [...value].reverse());
  return all.filter((other) => JSON.stringify(other) !== JSON.stringify(value));
}

function changed(document, path, value) {
  const copy = structuredClone(document);
  let place = copy;
  for (const key of path.slice(0, -1)) place = place[key];
  if (value === undefined && Array.isArray(place)) place.splice(Number(path.at(-1)), 1);
  else if (value === undefined) delete place[path.at(-1)];
  else place[path.at(-1)] = value;
  return copy;
}

test("a receipt that is changed anywhere is not verified", async () => {
  let count = 0;
  for (const path of leaves(receipt)) {
    const before = path.reduce((value, key) => value[key], receipt);
    for (const value of [...others(before), undefined]) {
      const checks = await verifyReceipt(changed(receipt, path, value), { key });
      // The same receipt in other words: a member that is null may be left out.
      const isSame = (before === null && value === undefined) || (path[0] === "entry" && value === undefined && before === null);
      if (!isSame) assert.ok(checks.some(({ outcome }) => outcome === "failed"), `${path.join(".")} = ${JSON.stringify(value)}: ${JSON.stringify(checks)}`);
      count += 1;
    }
  }
  assert.ok(count > 300, String(count));
  for (const extra of [{ more: 1 }, { schema: "karat/receipt/2" }]) {
    const checks = await verifyReceipt({ ...receipt, ...extra }, { key });
    assert.ok(checks.some(({ outcome }) => outcome === "failed"), JSON.stringify(extra));
  }
});

test("each character of what is kept counts", async () => {
  const { content, checkpoint } = receipt;
  const flip = (text, at) => text.slice(0, at) + (text[at] === "0" ? "1" : "0") + text.slice(at + 1);
  for (let at = 0; at < content.length; at += 7) {
    assert.equal(outcomes(await verifyReceipt({ ...receipt, content: flip(content, at) }, { key })).content, "failed");
  }
  for (let at = 0; at < checkpoint.length; at += 1) {
    const checks = await verifyReceipt({ ...receipt, checkpoint: flip(checkpoint, at) }, { key });
    assert.ok(checks.some(({ outcome }) => outcome === "failed"), `checkpoint[${at}]`);
  }
});

test("a record is computed again, with and without its evidence", async () => {
  const engine = await Engine.load("workflow");
  const record = engine.score(evidence);
  const alone = await verifyRecord(record.text);
  // Of the facts in the record, that is: whose they are, it cannot say.
  assert.deepEqual([alone.status, outcomes(alone.checks)], ["consistent", { signature: "inconclusive", scorecard: "verified", score: "verified", evidence: "skipped" }]);
  const whole = await verifyRecord(record.document, { evidence });
  assert.equal(whole.checks.find(({ name }) => name === "evidence").outcome, "verified");
  assert.deepEqual(await verifyRecord(record.document, { evidence: JSON.parse(evidence) }), whole);
  const other = await verifyRecord(record.text, { evidence: at("workflow/closed-gate.json") });
  assert.equal(other.status, "failed");
  assert.equal(other.checks.find(({ name }) => name === "evidence").outcome, "failed");
  for (const [path, value] of [[["score", "exact"], 0.9], [["score", "published"], 0.9], [["facts", "output_quality"], 0.9], [["scorecard", "digest"], `sha256:${"0".repeat(64)}`], [["coverage"], 0.5], [["dimensions", "0", "reading"], 1]]) {
    assert.equal((await verifyRecord(changed(record.document, path, value))).status, "failed", path.join("."));
  }
  for (const given of ["", "{", {}, "[]", at("workflow/worked-example.json")]) {
    const found = await verifyRecord(given).catch((error) => error);
    assert.ok(found instanceof KaratError || found.status === "failed", JSON.stringify(given).slice(0, 40));
  }
});

test("a receipt with the score computed again", async () => {
  const found = await verifyRecord(receipt, { key, evidence });
  assert.equal(found.status, "verified");
  assert.deepEqual(found.checks.map(({ outcome }) => outcome).filter((outcome) => outcome === "failed"), []);
  assert.equal((await verifyRecord(text, { evidence })).status, "consistent", "without the key");
  const forged = structuredClone(receipt);
  forged.content = forged.content.replace('"composite":0.84', '"composite":0.94');
  assert.equal((await verifyRecord(forged, { key })).status, "failed");
});

test("a record of a scorecard of one's own", async () => {
  const card = readFileSync(new URL("../../../examples/cards/test-report.toml", import.meta.url), "utf8");
  const engine = await Engine.load(card);
  const item = at("tests/reports.jsonl").split("\n")[0];
  const record = engine.score(item);
  const found = await verifyRecord(record.text, { card, evidence: item });
  assert.equal(found.checks.find(({ name }) => name === "score").outcome, "verified");
  const without = await verifyRecord(record.text);
  assert.notEqual(without.status, "verified");
  assert.equal((await verifyRecord(record.text, { card: card.replace("0.80", "0.70").replace("0.10", "0.20") })).status, "failed");
});
