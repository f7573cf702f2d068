// A server of files and a browser, for tests.

import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm", ".json": "application/json" };

/** Serves a folder; `policy` says which content policy a path has. */
export async function serve(folder, policy = () => "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'unsafe-inline'") {
  const asked = [];
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
    asked.push(path);
    const file = join(folder, path.endsWith("/") ? `${path}index.html` : path);
    if (path.includes("..") || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end("no such file");
      return;
    }
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream", "content-security-policy": policy(path) });
    createReadStream(file).pipe(response);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { address: `http://127.0.0.1:${server.address().port}`, asked, close: () => server.close() };
}

const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

/** Starts Chromium, or returns null where there is none. */
export async function browser() {
  const executablePath = process.env.KARAT_CHROMIUM ?? "/usr/bin/chromium";
  if (!existsSync(executablePath)) return null;
  const { chromium } = await import("playwright-core");
  return chromium.launch({ executablePath, args: FLAGS });
}
