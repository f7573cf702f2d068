/** Receipts, checked in this browser. */

import type { Outcome, Verification } from "../src/verify.js";
import { care, element, engine, text, told, words } from "./dom.js";

/** A receipt with what it is checked with; all are texts. */
interface Asked {
  readonly name: string;
  readonly text: string;
  readonly key: string | null;
  readonly rotation?: readonly string[];
  readonly witness?: readonly string[];
  readonly evidence: string | null;
  readonly card_text: string | null;
}

/** What a verification has besides status and checks. */
interface Entry {
  readonly entry?: { readonly index: number; readonly kind: string; readonly moment: string; readonly subject?: string };
  readonly log?: { readonly name: string; readonly size: number };
}

const OUTCOMES: Readonly<Record<Outcome, string>> = {
  verified: "✓ verified",
  failed: "✗ failed",
  inconclusive: "? not checked",
  skipped: "· skipped",
};

const STATUSES: Readonly<Record<Verification["status"], string>> = {
  verified: "Verified",
  consistent: "Consistent, not verified",
  failed: "Verification failed",
};

const DAY = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });
let tables = 0;

/** Checks a receipt and returns what was found; `origin` says where the key is from. */
async function found(asked: Asked, origin: string): Promise<readonly Node[]> {
  const module = await engine();
  if (module.call("verify", JSON.stringify(asked)) !== 1) {
    const { message } = module.error();
    if (asked.card_text === null) throw new Error(message);
    // The log can be checked without a scorecard that cannot be used.
    return [...(await found({ ...asked, card_text: null }, origin)), element("p", { class: "care" }, message)];
  }
  const answer = JSON.parse(module.text()) as Verification & Entry;
  const lines = [answer.entry == null ? "This is not the receipt of a log: no one has signed it." : about(answer), asked.key === null ? "Without the key of the log, anyone may have signed." : origin];
  const said = lines.filter((line) => line !== "").map((line) => element("p", {}, line));
  return [element("h3", {}, `${STATUSES[answer.status]}: ${asked.name}`), ...said, table(answer, asked.name)];
}

function about({ entry, log }: Entry): string {
  if (entry === undefined) return "";
  const what = entry.subject === undefined ? entry.kind : `${entry.kind} of ${entry.subject}`;
  const where = log === undefined ? "a log" : `the log ${log.name}, of ${log.size}`;
  return `It says that it is the ${what}, entry ${entry.index} of ${where}, handed in on ${DAY.format(new Date(entry.moment))} UTC.`;
}

function table(answer: Verification, of: string): HTMLElement {
  const id = `verify-table-${(tables += 1)}`;
  const heads = ["outcome", "check", "finding"].map((name) =>
    element("th", name === "check" ? { scope: "col", class: "name" } : { scope: "col" }, name),
  );
  const rows = answer.checks.map(({ name, outcome, says, details = [] }) => {
    const mark = element("td", outcome === "failed" ? { class: "care" } : {}, OUTCOMES[outcome]);
    const notes = details.map((line) => element("small", {}, ...told(line)));
    const head = element("th", { scope: "row", class: "name" }, element("span", {}, name), ...notes);
    return element("tr", {}, mark, head, element("td", {}, ...told(says)));
  });
  const caption = element("caption", {}, element("span", { id }, `The checks of ${of}, made in this browser`));
  const whole = element("table", {}, caption, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows));
  return element("div", { class: "box", role: "region", "aria-labelledby": id, tabindex: "0" }, whole);
}

/** Shows in `place` what was found, or why nothing could be. */
async function show(place: Element, asking: () => Promise<readonly [Asked, string]>): Promise<void> {
  place.setAttribute("aria-busy", "true");
  place.replaceChildren(element("p", {}, "Checking …"));
  try {
    place.replaceChildren(...(await found(...(await asking()))));
  } catch (error) {
    care(place, `Nothing was checked: ${words(error)}`);
  }
  place.removeAttribute("aria-busy");
}

function value(form: HTMLFormElement, name: string): string | null {
  const field = form.elements.namedItem(name);
  const given = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement ? field.value : "";
  return given.trim() === "" ? null : given;
}

async function asked(form: HTMLFormElement, offered: HTMLButtonElement | null): Promise<readonly [Asked, string]> {
  const file = form.querySelector<HTMLInputElement>("input[type=file]")?.files?.[0];
  const receipt = file === undefined ? value(form, "text") : await file.text();
  if (receipt === null) throw new Error("choose the file of a receipt, or paste its text");
  const key = value(form, "key")?.trim() ?? null;
  const isOffered = offered !== null && key === offered.dataset["key"];
  const origin = isOffered ? (offered.dataset["proves"] ?? "") : "The key is the one that you gave.";
  const name = file?.name ?? "the receipt";
  return [{ name, text: receipt, key, evidence: value(form, "evidence"), card_text: value(form, "card_text") }, origin];
}

/** Shows the form for receipts, and checks what it has. */
function listen(form: HTMLFormElement, place: Element): void {
  const offered = form.querySelector<HTMLButtonElement>("button[data-key]");
  form.hidden = false;
  offered?.addEventListener("click", () => {
    const field = form.querySelector<HTMLInputElement>("input[name=key]");
    if (field !== null) field.value = offered.dataset["key"] ?? "";
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void show(place, () => asked(form, offered));
  });
}

/** Checks the record of a page: its receipt, evidence and scorecard come from the server. */
function offer(button: HTMLButtonElement, place: Element): void {
  const { check, evidence, card, key } = button.dataset;
  const file = async (address: string | undefined): Promise<string | null> => (address === undefined ? null : text(address));
  button.hidden = false;
  button.addEventListener("click", () => {
    void show(place, async () => {
      const [receipt, item, card_text] = await Promise.all([file(check), file(evidence), file(card)]);
      const given = { name: "the record", text: receipt ?? "", key: key ?? null, evidence: item, card_text };
      return [given, "The key came from this server, so it proves nothing about this server."];
    });
  });
}

/** Finds forms, buttons and receipts on the page. */
export async function start(): Promise<void> {
  for (const instead of document.querySelectorAll<HTMLElement>("[data-without-script]")) instead.hidden = true;
  const place = document.getElementById("verify-result");
  if (place !== null) {
    for (const form of document.querySelectorAll<HTMLFormElement>("form[data-verify]")) listen(form, place);
    for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-check]")) offer(button, place);
  }
  const given = document.getElementById("given")?.textContent;
  const list = document.getElementById("verify-given");
  if (!given || list === null) return;
  for (const one of JSON.parse(given) as readonly Asked[]) {
    const part = element("div");
    list.append(part);
    await show(part, async () => [one, "The key came with this file, so it proves nothing about the author of the file."]);
  }
}
