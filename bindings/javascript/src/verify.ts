/** Receipts and records, checked here: nothing is asked of a server. */

import { ScoreRecord } from "./engine.js";
import { cardOf, known } from "./given.js";
import { engineModule, receiptsModule } from "./module.js";
import { toJson } from "./walk.js";

/** The result of a check. */
export type Outcome = "verified" | "failed" | "inconclusive" | "skipped";

/** A check, and what it found. */
export interface Check {
  /** `signature`, `inclusion`, `content`, `sources`, `scorecard`, `score` or `evidence`. */
  readonly name: string;
  readonly outcome: Outcome;
  readonly says: string;
  readonly details?: readonly string[];
}

/** The document that `karat verify --format json` prints. */
export interface Verification {
  readonly schema: string;
  readonly status: "verified" | "consistent" | "failed";
  readonly checks: readonly Check[];
  readonly [member: string]: unknown;
}

/** What a receipt is checked with. */
export interface VerifyOptions {
  /** The public key of the log, from a source that is not the one of the receipt. Without it the signature is not checked. */
  key?: string;
}

/** What a record is checked with. */
export interface RecordOptions {
  /** The item that was scored. */
  evidence?: object | string;
  /** The text of the scorecard, if it is not a released one. */
  card?: string;
}

const NAMES = ["signature", "inclusion", "content", "sources"] as const;
const HOLDS = {
  signature: "the key signed the head of the log",
  inclusion: "it is an entry of that log",
  content: "it is the one that was kept",
  sources: "its evidence is the one that was kept with it",
} as const;

/**
 * Checks that a log has what a receipt says: signature, inclusion, content and sources. The score is not computed again, so that a
 * small module is enough; `verifyRecord` does that.
 *
 * @returns a check for each; one called `receipt` if it is none
 * @throws {KaratError} if the module cannot be loaded
 */
export async function verifyReceipt(receipt: string | object, options: VerifyOptions = {}): Promise<Check[]> {
  known(options, ["key"]);
  const encoder = new TextEncoder();
  const [key, text] = [encoder.encode(options.key ?? ""), encoder.encode(toJson(receipt))];
  const module = await receiptsModule.load();
  const input = new Uint8Array(key.length + text.length);
  input.set(key);
  input.set(text, key.length);
  const lines = module.call("verify_receipt", input, key.length);
  const found = module.text().split("\n");
  if (lines === 1) return [{ name: "receipt", outcome: "failed", says: found[0] ?? "" }];
  return NAMES.map((name, at) => {
    const problem = found[at] ?? "";
    if (problem === "?") {
      return { name, outcome: "inconclusive", says: "not checked: without the key of the log, anyone may have signed" };
    }
    return problem === "" ? { name, outcome: "verified", says: HOLDS[name] } : { name, outcome: "failed", says: problem };
  });
}

/**
 * Checks a record, or the receipt of one: scorecard, score, and the evidence if it is given. The score is computed again from the
 * facts in the record.
 *
 * @throws {KaratError} if the key is none, or the module cannot be loaded
 */
export async function verifyRecord(
  record: string | object,
  options: RecordOptions & VerifyOptions = {},
): Promise<Verification> {
  const { key, evidence, card } = known(options, ["key", "evidence", "card"]);
  const asked = toJson({
    text: record instanceof ScoreRecord ? record.text : toJson(record),
    name: "",
    key: key ?? null,
    evidence: evidence === undefined ? null : toJson(evidence),
    card_text: (card ?? null) === null ? null : cardOf(card, "options.card", "the text of a scorecard"),
  });
  const module = await engineModule.load();
  if (module.call("verify", asked) !== 1) throw module.error();
  return JSON.parse(module.text()) as Verification;
}
