/** Elements out of texts, which stay texts, and the engine of the page. */

import { engineModule, type Module } from "../src/module.js";

/** Makes an element; what is put into it as a string is text. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...content: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

/** Says in a place of the page that something did not work. */
export function care(place: Element, says: string): void {
  place.replaceChildren(element("p", { class: "care" }, says));
}

/** Returns the words of an error. */
export function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns a text with what is in backticks as code. */
export function told(text: string): readonly (string | Node)[] {
  return text.split("`").map((part, at) => (at % 2 === 1 ? element("code", {}, part) : part));
}

/** Gets a text of this server. */
export async function text(address: string): Promise<string> {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`the server answers ${answer.status} for ${address}`);
  return answer.text();
}

// Only while the script runs for the first time is it the current one.
const address = document.currentScript?.dataset["engine"];
let loading: Promise<Module> | undefined;

/** Loads the engine at its first use: out of the page, or from the address that the page names. */
export function engine(): Promise<Module> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(): Promise<Module> {
  const packed = document.getElementById("engine")?.textContent;
  if (packed) engineModule.from(await unpacked(packed));
  else if (address !== undefined) engineModule.from(new URL(address, location.href));
  return engineModule.load();
}

function unpacked(packed: string): Promise<ArrayBuffer> {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}
