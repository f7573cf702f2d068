/** Weights on trial: a slider beside each field, and the ranking while it moves, computed in this browser. */

import type { Module } from "../src/module.js";
import { element, engine, text, words } from "./dom.js";

/** A cell: what it is, its text, the address of its link or the length of its bar. */
type Cell = readonly [what: string, text: string, more: string];

interface Ranking {
  /** Why there is none. */
  readonly refused?: string;
  readonly sentence: readonly (readonly [isStrong: boolean, text: string])[];
  readonly ranking: readonly (readonly Cell[])[];
  readonly shares: readonly (readonly Cell[])[];
}

function cell([what, says, more]: Cell): HTMLElement {
  switch (what) {
    case "name": {
      const name = more.startsWith("/") ? element("a", { href: more }, says) : says;
      return element("th", { class: "name", scope: "row" }, element("span", {}, name));
    }
    case "share":
      return element("td", { class: "number" }, says, bar(more));
    case "":
      return element("td", {}, says);
    default:
      return element("td", { class: what }, says);
  }
}

function bar(width: string): SVGElement {
  const make = (name: string): SVGElement => document.createElementNS("http://www.w3.org/2000/svg", name) as SVGElement;
  const [drawn, part] = [make("svg"), make("rect")];
  drawn.setAttribute("class", "share");
  drawn.setAttribute("aria-hidden", "true");
  part.setAttribute("width", width);
  part.setAttribute("height", "3");
  drawn.append(part);
  return drawn;
}

/** Writes rows into a table whose rows others know: they stay, with other cells, in the order of the ranking. */
function fill(table: HTMLTableElement, rows: readonly (readonly Cell[])[]): void {
  for (const [at, row] of [...(table.tBodies[0]?.rows ?? [])].entries()) row.replaceChildren(...(rows[at] ?? []).map(cell));
  table.classList.remove("sorted");
  for (const head of table.querySelectorAll("[aria-sort]")) head.removeAttribute("aria-sort");
}

/** Puts a sentence above the tables, which are there if they follow from it. */
function say(place: HTMLElement, isCare: boolean, ...sentence: (Node | string)[]): void {
  const [says, ...others] = [...place.children] as HTMLElement[];
  for (const other of others) other.hidden = isCare;
  says?.classList.toggle("care", isCare);
  says?.replaceChildren(...sentence);
}

function draw(place: HTMLElement, { refused, sentence, ranking, shares }: Ranking): void {
  if (refused !== undefined) {
    say(place, true, `There is no ranking under these weights: ${refused}.`);
    return;
  }
  say(place, false, ...sentence.map(([isStrong, part]) => (isStrong ? element("b", { dir: "auto" }, part) : part)));
  const tables = place.querySelectorAll("table");
  [ranking, shares].forEach((rows, at) => tables[at] && fill(tables[at], rows));
  // A search for rows goes on with the new ones.
  for (const field of place.querySelectorAll(".filter input")) field.dispatchEvent(new Event("input"));
}

function listen(form: HTMLFormElement, place: HTMLElement): void {
  const fields = [...form.querySelectorAll<HTMLInputElement>("input[type=number]")];
  let given: Promise<readonly [Module, string]> | undefined;
  let [waiting, isBroken] = [0, false];
  const load = (): Promise<readonly [Module, string]> =>
    (given ??= Promise.all([engine(), text(form.dataset["whatIf"] ?? "")]).catch((error: unknown) => {
      given = undefined;
      throw error;
    }));
  const show = async (): Promise<void> => {
    const asked = Object.fromEntries(fields.map((field) => [field.name, field.value]));
    const query = `?${new URLSearchParams(asked).toString()}`;
    const loaded = await load().catch((error: unknown) => words(error));
    isBroken = typeof loaded === "string";
    if (typeof loaded === "string") {
      say(place, true, `This browser does not compute it: ${loaded}. The button below the weights asks the server.`);
    } else {
      const [module, values] = loaded;
      isBroken = module.call("what_if", `{"asked":${JSON.stringify(asked)},"given":${values}}`) !== 1;
      if (isBroken) say(place, true, `${module.error().message}. The button below the weights asks the server.`);
      else draw(place, JSON.parse(module.text()) as Ranking);
      history.replaceState(null, "", query);
    }
    place.removeAttribute("aria-busy");
  };
  const run = (): void => void show().catch((error: unknown) => say(place, true, words(error)));
  const soon = (): void => {
    clearTimeout(waiting);
    place.setAttribute("aria-busy", "true");
    waiting = window.setTimeout(run, 30);
  };
  for (const field of fields) {
    const top = Number(field.dataset["top"]);
    const label = `${field.labels?.[0]?.textContent ?? ""}, slider`;
    const slider = element("input", { type: "range", min: "0", max: String(top), step: String(top / 200), "aria-label": label });
    slider.value = field.value;
    slider.addEventListener("input", () => {
      field.value = slider.value;
      soon();
    });
    field.addEventListener("input", () => {
      slider.value = field.value;
      soon();
    });
    field.after(slider);
  }
  // It is there when the first weight moves.
  form.addEventListener("focusin", () => void load().catch(() => undefined), { once: true });
  form.addEventListener("submit", (event) => {
    if (isBroken) return;
    event.preventDefault();
    run();
  });
}

/** Finds the form on the page. */
export function start(): void {
  const place = document.getElementById("what-if-result");
  const form = document.querySelector<HTMLFormElement>("form[data-what-if]");
  if (form !== null && place?.querySelector("table")) listen(form, place);
}
