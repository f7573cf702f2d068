interface ScoringWeights {
complexity: number;
novelty: number;
toolDiversity: number;
outcomeConfidence: number;
}

// Not of the document: that the package's type is the same one, and its function what the document declares.
import type { ReasoningTrace, ScoringWeights as Ours } from "@knowledgepulse/sdk";
import { DOMAIN_WEIGHTS, evaluateValue as ours } from "@knowledgepulse/sdk";
declare function evaluateValue(trace: ReasoningTrace): Promise<number>;
export const weights: Record<string, ScoringWeights> = DOMAIN_WEIGHTS;
export const back: Ours = weights["finance"] as ScoringWeights;
export const same: typeof evaluateValue = ours;
