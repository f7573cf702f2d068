// Not of the document: where its names come from.
import { ADAPTIVE_WEIGHTS_OVERRIDE as OVERRIDE, DIMENSION_WEIGHTS, EFFECTIVE_DIMENSION_WEIGHTS as OURS } from "karat";
const ADAPTIVE_WEIGHTS_OVERRIDE = OVERRIDE as Partial<typeof DIMENSION_WEIGHTS> | null;

const _WEIGHT_SUM = (Object.values(DIMENSION_WEIGHTS) as number[]).reduce((a, b) => a + b, 0);
if (Math.abs(_WEIGHT_SUM - 1.0) > 0.001) {
throw new Error(`Score weights must sum to 1.0, got ${_WEIGHT_SUM.toFixed(4)}`);
}

export const EFFECTIVE_DIMENSION_WEIGHTS: typeof DIMENSION_WEIGHTS = (() => {
if (ADAPTIVE_WEIGHTS_OVERRIDE === null) return DIMENSION_WEIGHTS;
const merged = { ...DIMENSION_WEIGHTS, ...ADAPTIVE_WEIGHTS_OVERRIDE } as typeof DIMENSION_WEIGHTS;
const mergedSum = (Object.values(merged) as number[]).reduce((a, b) => a + b, 0);
if (Math.abs(mergedSum - 1.0) > 0.001) {
console.warn(`[scoring] Adaptive weights override rejected: merged sum = ${mergedSum.toFixed(6)}...`);
return DIMENSION_WEIGHTS;
}
return merged;
})();

// Not of the document: that ours are the same.
export const isSame: boolean = EFFECTIVE_DIMENSION_WEIGHTS === OURS;
