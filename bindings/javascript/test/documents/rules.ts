// The conditions of the document, as they are printed, beside what karat makes of the same trace.
import type { ReasoningTrace } from "@knowledgepulse/sdk";

export function overridden(composite: number, { steps, metadata }: ReasoningTrace): number {
  let score = composite;
  const errorRecovery = steps.filter(({ type }) => type === "error_recovery").length;
  const uniqueTools = new Set(steps.flatMap(({ tool }) => (tool === undefined ? [] : [tool.name]))).size;
  const only = steps[0];
  if (steps.length === 1 && only !== undefined && only.type === "thought") score = 0.1; // `steps[0].type` in the document
if (errorRecovery > 2 && metadata.success) score = Math.min(1.0, score + 0.1);
if (uniqueTools <= 1 && steps.some(s => s.tool)) score = Math.max(0.0, score - 0.1);
  return score;
}
