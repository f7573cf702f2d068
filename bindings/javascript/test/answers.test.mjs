import assert from "node:assert/strict";
import test from "node:test";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { KaratError, compare, gate, grid, judges, leaderboard, rate, tasks, trend } from "../dist/index.js";

const program = process.env.KARAT;
const root = fileURLToPath(new URL("../../..", import.meta.url));
const at = (path) => readFileSync(join(root, path), "utf8");
const named = (...paths) => Object.fromEntries(paths.map((path) => [path, at(path)]));

/** What the program prints with `--format json`; statuses of gates are answers too. */
function told(parameters, folder = root) {
  assert.ok(program, "KARAT is not set: give the path of the program, as in KARAT=target/release/karat npm test");
  try {
    return execFileSync(program, [...parameters, "--format", "json"], { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    if (typeof error.status === "number" && error.stdout !== "") return error.stdout;
    throw error;
  }
}

function same(answer, printed) {
  assert.deepEqual(answer, JSON.parse(printed));
  assert.match(answer.schema, /^karat\//);
}

const RUNS = "examples/leaderboard/runs.csv";
const CARD = "examples/cards/task-run.toml";
const card = at(CARD);

test("the program is there", () => {
  assert.ok(program, "KARAT is not set: give the path of the program, as in KARAT=target/release/karat npm test");
});

test("a leaderboard is that of the program", async () => {
  same(await leaderboard(named(RUNS), { card, level: 0.9 }), told(["leaderboard", "--card", CARD, "--level", "0.9", RUNS]));
  same(
    await leaderboard(named(RUNS), { card, attempts: 3, robustness: true, draws: 100, seed: 7 }),
    told(["leaderboard", "--card", CARD, "--attempts", "3", "--robustness", "--draws", "100", "--seed", "7", RUNS]),
  );
  same(
    await leaderboard(named(RUNS), { card, by: "thrift", group_by: "domain", method: "means", where: ["domain!=none"] }),
    told(["leaderboard", "--card", CARD, "--by", "thrift", "--group-by", "domain", "--method", "means", "--where", "domain!=none", RUNS]),
  );
});

test("items may be objects, lines, or files", async () => {
  const agents = [
    { subject: "a", id: "1", dimensions: { accuracy: 0.9, security: 0.9 } },
    { subject: "b", id: "2", dimensions: { accuracy: 0.7, security: 0.9 } },
    { subject: "c", id: "3", dimensions: { accuracy: 0.8, security: 0.2 } },
  ];
  const settings = { card: "trust@1.0.0", method: "census" };
  const found = await leaderboard(agents, settings);
  const text = agents.map((agent) => JSON.stringify(agent)).join("\n");
  assert.deepEqual(await leaderboard(text, settings), found);
  assert.deepEqual(await leaderboard({ "items.jsonl": text }, settings), found);
  assert.equal(found.leaderboards[0].rows[0].subject, "a");
  const folder = mkdtempSync(join(tmpdir(), "karat-answers-"));
  writeFileSync(join(folder, "items.jsonl"), text);
  same(found, told(["leaderboard", "--card", "trust@1.0.0", "--method", "census", "items.jsonl"], folder));
  rmSync(folder, { recursive: true });
});

test("a comparison is that of the program", async () => {
  same(await compare(named(RUNS), { card, first: "heron", second: "kite", level: 0.9 }), told(["compare", "heron", "kite", "--card", CARD, "--level", "0.9", RUNS]));
  const [base, next] = ["examples/compare/base.csv", "examples/compare/new.csv"];
  same(
    await compare(named(base, next), { card, first: base, second: next, fail_if_worse: 2, strict: true }),
    told(["compare", base, next, "--card", CARD, "--fail-if-worse", "2", "--strict"]),
  );
});

test("ratings are those of the program", async () => {
  for (const system of ["elo", "glicko2", "weng-lin", "bradley-terry"]) {
    same(await rate(named("examples/matches/season.csv"), { system }), told(["rate", "--system", system, "examples/matches/season.csv"]));
  }
  same(
    await rate(named("examples/matches/votes.jsonl"), { system: "bradley-terry", judge: "judge", bootstrap: true, resamples: 50, component: "largest" }),
    told(["rate", "--system", "bradley-terry", "--judge", "judge", "--bootstrap", "--resamples", "50", "--component", "largest", "examples/matches/votes.jsonl"]),
  );
  same(await rate(named("examples/matches/arena.csv"), { system: "elo", arena: true }), told(["rate", "--system", "elo", "--arena", "examples/matches/arena.csv"]));
});

test("judges, tasks, runs over time and side by side are those of the program", async () => {
  const [judged, labels, nightly] = ["examples/cards/judged.toml", "examples/labels/answers.jsonl", "examples/nightly/runs.csv"];
  same(
    await judges(named(labels), { card: at(judged), label: "human", verdict: "judge", bias_by: ["length"] }),
    told(["judges", "--card", judged, "--label", "human", "--verdict", "judge", "--bias-by", "length", labels]),
  );
  same(await tasks(named("examples/tasks/runs.csv"), { card, rate: 0.1 }), told(["tasks", "--card", CARD, "--rate", "0.1", "examples/tasks/runs.csv"]));
  same(await trend(named(nightly), { card, run: "day", baseline: 5 }), told(["trend", "--card", CARD, "--run", "day", "--baseline", "5", nightly]));
  same(await grid(named(RUNS), { card, subject: ["kite", "heron"] }), told(["grid", "--card", CARD, "-s", "kite", "-s", "heron", RUNS]));
});

test("a gate is that of the project", async () => {
  const project = (name) => at(`examples/project/${name}`);
  const settings = { subject: "$.agent.name", task: "case", gate: { fail_under: 40, fail_if_worse: 5 } };
  const run = { "runs.jsonl": project("runs.jsonl") };
  const folder = mkdtempSync(join(tmpdir(), "karat-gate-"));
  for (const name of ["runs.jsonl", "baseline.jsonl", "scorecard.toml"]) writeFileSync(join(folder, name), project(name));
  const toml = (gate, more = "") => {
    writeFileSync(join(folder, "karat.toml"), `card = "scorecard.toml"\ninputs = ["runs.jsonl"]\nsubject = "$.agent.name"\ntask = "case"\n${more}[gate]\n${gate}`);
    return told(["check"], folder);
  };
  const passed = await gate(run, { ...settings, card: project("scorecard.toml"), gate: { fail_under: 40 } });
  same(passed, toml("fail_under = 40\n"));
  const failed = await gate(run, { ...settings, card: project("scorecard.toml"), gate: { fail_under: 99, on: "low" } });
  same(failed, toml('fail_under = 99\non = "low"\n'));
  assert.deepEqual([passed.status, failed.status].map((status) => status === 0), [true, false]);
  const beside = await gate(run, { ...settings, card: project("scorecard.toml") }, { "baseline.jsonl": project("baseline.jsonl") });
  assert.match(JSON.stringify(beside), /baseline/);
  rmSync(folder, { recursive: true });
});

test("what is wrong is refused by name", async () => {
  const rejects = async (promise, code, message) => {
    const error = await promise.then(() => assert.fail("not refused"), (error) => error);
    assert.ok(error instanceof KaratError, String(error.stack));
    assert.equal(error.code, code);
    assert.match(error.message, message);
  };
  await rejects(leaderboard(named(RUNS), { card, attemps: 3 }), "invalid-option", /attemps/);
  await rejects(leaderboard(named(RUNS), { card: "nope" }), "unknown-scorecard", /nope/);
  await rejects(leaderboard([{ subject: "a", dimensions: { accuracy: NaN } }], { card: "trust@1.0.0" }), "invalid_value", /^\$\[0\]\.dimensions\.accuracy: found NaN/);
  await rejects(compare(named(RUNS), { card, first: "heron", second: "heron" }), "invalid-option", /itself/);
  await rejects(rate(named("examples/matches/season.csv"), { system: "chess" }), "invalid-option", /system/);
  for (const items of [null, undefined, 5, [], {}, "", "{", { "x.jsonl": 5 }, [null], [5]]) {
    const error = await leaderboard(items, { card }).then(() => assert.fail(`not refused: ${JSON.stringify(items)}`), (error) => error);
    assert.ok(error instanceof KaratError, `${JSON.stringify(items)}: ${error.stack}`);
  }
});
