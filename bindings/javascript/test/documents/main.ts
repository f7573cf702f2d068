// Runs the snippets, and prints what they give as JSON for the test.
import { evaluate } from "@knowledgepulse/sdk";
import { CHALLENGE_DIMENSIONS } from "./arena.js";
import { cache } from "./cache.js";
import { score, trace } from "./finance.js";
import { back } from "./interface.js";
import { scores } from "./profiles.js";
import { overridden } from "./rules.js";
import { EFFECTIVE_DIMENSION_WEIGHTS, isSame } from "./trust.js";
import { partial, window } from "./workflow.js";

const { document } = await evaluate(trace);
const composite = document["composite"] as number;
console.log(
  JSON.stringify({
    dimensions: CHALLENGE_DIMENSIONS,
    cache: [cache.maxElements, cache.dimensions, cache.ttlMs, cache.size],
    score,
    profile: document["profile"],
    novelty: (document["grading"] as { novelty: { basis: string } }).novelty.basis,
    overridden: overridden(composite, trace),
    weights: back,
    scores,
    effective: EFFECTIVE_DIMENSION_WEIGHTS,
    isSame,
    partial,
    window: [window.size, window.mean],
  }),
);
