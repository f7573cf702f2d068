// Runs a program that was compiled for WASI, with the current folder as all that it sees: node scripts/wasi.mjs PROGRAM [ARGUMENT...]

import { readFile } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { WASI } from "node:wasi";

// The interface is what this is about; that Node calls it experimental is no news to anyone who reads the output.
process.removeAllListeners("warning");
const [program, ...args] = process.argv.slice(2);
if (program === undefined) {
  console.error("usage: node scripts/wasi.mjs PROGRAM [ARGUMENT...]");
  process.exit(2);
}
const preopens = Object.fromEntries([[".", "."], ...args.filter(isAbsolute).map((path) => [path, path])]);
const wasi = new WASI({ version: "preview1", args: [program, ...args], env: {}, preopens });
const module = await WebAssembly.compile(await readFile(program));
process.exitCode = wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));
