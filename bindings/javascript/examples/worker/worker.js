// The worker: a module like any other. In a project of your own the import is `from "karat"`.

import { Engine } from "../../dist/index.js";

addEventListener("message", async ({ data: { traces, dimensions } }) => {
  const engine = await Engine.observing("trace", { asOf: new Date() });
  const began = performance.now();
  let [sum, compared] = [0, 0];
  for (let at = 0; at < traces; at += 1) {
    // In place of a model that reads the text of the trace.
    engine.setVector("random", Float32Array.from({ length: dimensions }, () => Math.random() - 0.5));
    if (at < traces - 1) {
      sum += engine.number(trace(at));
    } else {
      const { document, score } = engine.score(trace(at));
      sum += score;
      compared = document.grading.novelty.compared;
    }
    if ((at + 1) % 100 === 0) postMessage({ scored: at + 1, milliseconds: performance.now() - began, mean: sum / (at + 1), compared });
  }
});

function trace(at) {
  return {
    "@context": "https://openknowledgepulse.org/schema/v1",
    "@type": "ReasoningTrace",
    id: `kp:trace:${at}`,
    metadata: {
      created_at: "2026-01-31T12:00:00Z",
      task_domain: ["code", "finance", "medical"][at % 3],
      success: true,
      quality_score: 0,
      visibility: "network",
      privacy_level: "aggregated",
    },
    task: { objective: `Task ${at}` },
    steps: [
      { step_id: 0, type: "thought", content: "Which tools are there?" },
      { step_id: 1, type: "tool_call", tool: { name: "search" } },
      { step_id: 2, type: "tool_call", tool: { name: "read" } },
      { step_id: 3, type: "observation", content: "Found it" },
    ],
    outcome: { result_summary: "Found", confidence: (at % 100) / 100 },
  };
}
