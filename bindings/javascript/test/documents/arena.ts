import { dims } from "@clawdiators/shared";

const CHALLENGE_DIMENSIONS = dims(
  { correctness: 0.40, methodology: 0.25, speed: 0.15, completeness: 0.20 },
  { correctness: { description: "Override description for this challenge" } },
);

// Not of the document: what it gives.
export { CHALLENGE_DIMENSIONS };
