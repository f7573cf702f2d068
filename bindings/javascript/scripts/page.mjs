// Makes what karat-browser has: the script of the pages, and the module that it loads.
//
//   node scripts/page.mjs              both; the module is the one in dist/
//   node scripts/page.mjs script       the script alone
//   node scripts/page.mjs script FILE  the script, into another file

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const folder = join(dirname(fileURLToPath(import.meta.url)), "..");
const crate = join(folder, "..", "..", "crates", "browser");
const [part = "all", file = join(crate, "page.js")] = process.argv.slice(2);
if (!["all", "script"].includes(part)) throw new Error(`unknown part \`${part}\`: expected script`);

const checked = spawnSync("npx", ["--no-install", "tsc", "--project", "pages"], { cwd: folder, stdio: "inherit" });
if (checked.status !== 0) process.exit(1);
const { outputFiles } = await build({
  entryPoints: [join(folder, "pages", "main.ts")],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  // Where the module is says the page.
  define: { "import.meta.url": '""' },
  write: false,
  logLevel: "warning",
});
const text = outputFiles[0].text;
for (const refused of ["innerHTML", "eval(", "</script", "new Function"]) {
  if (text.includes(refused)) throw new Error(`the script of the pages has \`${refused}\``);
}
writeFileSync(file, text);
console.log(`page.js: ${text.length} bytes`);

if (part === "all") {
  // No name and no time are in it, so the same module gives the same bytes. The compressor of Node does less.
  const module = readFileSync(join(folder, "dist", "engine.wasm"));
  const { status, stdout } = spawnSync("gzip", ["-9", "-n"], { input: module, maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error("needs `gzip` on the path");
  writeFileSync(join(crate, "engine.wasm.gz"), stdout);
  console.log(`engine.wasm.gz: ${stdout.length} bytes`);
}
