// Not of the document: what it takes for granted.
import { evaluateValue } from "@knowledgepulse/sdk";
import type { ReasoningTrace } from "@knowledgepulse/sdk";
import { trace as example } from "./finance.js";
function createTrace({ task_domain }: { task_domain: string }): ReasoningTrace {
  return { ...example, metadata: { ...example.metadata, task_domain } };
}
export const scores: Record<string, number> = {};

// Same trace structure, different task_domain values
const domains = ["default", "finance", "code", "medical", "customer_service"];
for (const domain of domains) {
const trace = createTrace({ task_domain: domain });
const score = await evaluateValue(trace);
console.log(`${domain}: ${score.toFixed(3)}`);
scores[domain] = score; // Not of the document.
}
