// Builds the package: the modules with cargo, the tables out of the scorecards, the JavaScript with tsc.
//
//   node scripts/build.mjs             everything
//   node scripts/build.mjs modules     the modules alone
//   node scripts/build.mjs script      without the modules, which must be there

import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = join(dirname(fileURLToPath(import.meta.url)), "..");
const root = join(folder, "..", "..");
const part = process.argv[2] ?? "all";

/** Each module with its features, and what it may weigh compressed, in bytes. */
const MODULES = [
  { name: "receipts", features: "", most: 70_000 },
  { name: "engine", features: "engine", most: 1_350_000 },
  { name: "answers", features: "answers", most: 2_300_000 },
];

function run(program, parameters, options = {}) {
  const done = spawnSync(program, parameters, { stdio: "inherit", ...options });
  if (done.error?.code === "ENOENT") throw new Error(`needs \`${program}\` on the path`);
  if (done.status !== 0) throw new Error(`\`${program} ${parameters.join(" ")}\` ended with ${done.status}`);
}

function modules() {
  const target = join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "wasm");
  // The same bytes in every folder.
  const registry = join(process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "registry", "src");
  const remap = [`--remap-path-prefix=${root}=karat`, `--remap-path-prefix=${registry}=registry`];
  const env = { ...process.env, CARGO_ENCODED_RUSTFLAGS: remap.join("\x1f"), CARGO_TARGET_DIR: target };
  delete env.RUSTFLAGS;
  mkdirSync(join(folder, "dist"), { recursive: true });
  for (const { name, features, most } of MODULES) {
    const parameters = ["build", "--locked", "--profile", "module", "--target", "wasm32-unknown-unknown"];
    run("cargo", [...parameters, "--package", "karat-module", "--features", features], { cwd: root, env });
    const built = join(folder, "dist", `${name}.wasm`);
    copyFileSync(join(target, "wasm32-unknown-unknown", "module", "karat_module.wasm"), built);
    // The compressor of Node does less.
    const { status, stdout } = spawnSync("gzip", ["-9", "-n"], { input: readFileSync(built), maxBuffer: 2 ** 26 });
    if (status !== 0) throw new Error("needs `gzip` on the path");
    const bytes = stdout.length;
    console.log(`${name}.wasm: ${bytes} bytes compressed, at most ${most}`);
    if (bytes > most) throw new Error(`${name}.wasm is larger than it may be`);
  }
}

function script() {
  for (const licence of ["LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(root, licence), join(folder, licence));
  run("npx", ["--no-install", "tsc"], { cwd: folder });
}

if (!["all", "modules", "script"].includes(part)) throw new Error(`unknown part \`${part}\`: expected modules or script`);
if (part !== "script") modules();
if (part !== "modules") script();
