// A project into which the package is installed from its archive, for tests.

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const folder = fileURLToPath(new URL("../..", import.meta.url));
export const bin = (name) => join(folder, "node_modules", ".bin", name);

/** Runs a program and returns what it prints; if it fails, the error says what it printed. */
export function run(program, parameters, options = {}) {
  try {
    return execFileSync(program, parameters, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 26, ...options });
  } catch (error) {
    throw new Error(`${program} ${parameters.join(" ")}: ${error.message}\n${error.stdout}`);
  }
}

/** Packs the package as it is built, and installs the archive in an empty project, under its own name and others. */
export function installed(...names) {
  const project = mkdtempSync(join(tmpdir(), "karat-project-"));
  const [packed] = JSON.parse(run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", project], { cwd: folder }));
  const file = `file:${packed.filename}`;
  const dependencies = Object.fromEntries(["karat", ...names].map((name) => [name, file]));
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "project", private: true, type: "module", dependencies }));
  run("npm", ["install", "--offline", "--no-audit", "--no-fund"], { cwd: project });
  return { project, packed };
}

/** Copies files of this folder into a project. */
export function copy(from, project) {
  cpSync(join(folder, from), project, { recursive: true, filter: (path) => !/package\.json$|\/out$/.test(path) });
}

/** The other runtimes, from npm; null for one that cannot be had or does not run. */
export function runtimes() {
  const place = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "karat-ci", "runtimes");
  mkdirSync(place, { recursive: true });
  const found = (name) => {
    const path = join(place, "node_modules", ".bin", name);
    try {
      return existsSync(path) && run(path, ["--version"], { timeout: 120_000 }) !== "" ? path : null;
    } catch {
      return null;
    }
  };
  if (found("deno") === null || found("bun") === null) {
    writeFileSync(join(place, "package.json"), '{"private": true}');
    try {
      run("npm", ["install", "--no-save", "--no-audit", "--no-fund", "deno@2.9.6", "bun@1.4.5"], { cwd: place, timeout: 300_000 });
    } catch (error) {
      console.error(`cannot install deno and bun: ${error.message.split("\n")[0]}`);
    }
  }
  return { deno: found("deno"), bun: found("bun") };
}
