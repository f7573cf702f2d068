/** Scores for AI agents that anyone can check: everything of the parts of the package. */

export * from "./arena.js";
export * from "./engine.js";
export { KaratError, type KaratErrorOptions, type Problem } from "./error.js";
export { init, type ModuleSource, type Sources } from "./module.js";
export * from "./trace.js";
export * from "./trust.js";
export * from "./verify.js";
export * from "./workflow.js";
// Both documents have a composite score: the market's keeps its name.
export { compositeScore } from "./trust.js";
export { compositeScore as workflowScore } from "./workflow.js";
