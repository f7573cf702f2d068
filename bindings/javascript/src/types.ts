/** The types of the trace document, under its names. */

import { TRACE } from "./tables.js";

/** The address of the schema as the published package has it. */
export const KP_CONTEXT = "https://openknowledgepulse.org/schema/v1";

/** The addresses that the schema goes by: that of the published package, and that of the document's example. */
export type KnowledgePulseContext = typeof KP_CONTEXT | "https://knowledgepulse.dev/schema/v1";

/** A domain with weights of its own; any other has those of `default`. */
export type TaskDomain = "default" | "finance" | "code" | "medical" | "customer_service";

/** The weights of the four dimensions; they sum to 1 (scoring document of traces, "Scoring Interface"). */
export interface ScoringWeights {
  /** wC. */
  complexity: number;
  /** wN. */
  novelty: number;
  /** wD. */
  toolDiversity: number;
  /** wO. */
  outcomeConfidence: number;
}

/** The weights of each domain ("Domain-Specific Weight Profiles"). A trace of any other domain is scored with those of `default`. */
export const DOMAIN_WEIGHTS = Object.fromEntries(
  Object.entries(TRACE.weights).map(([domain, { complexity, novelty, tool_diversity: toolDiversity, outcome_confidence: outcomeConfidence }]) => {
    return [domain, { complexity, novelty, toolDiversity, outcomeConfidence }];
  }),
) as unknown as Readonly<Record<TaskDomain, Readonly<ScoringWeights>>>;

/** One step of a trace. */
export interface ReasoningTraceStep {
  /** A whole number, 0 or more. */
  step_id: number;
  type: "thought" | "tool_call" | "observation" | "error_recovery";
  content?: string;
  /** Tools are told apart by their name. */
  tool?: { name: string; mcp_server?: string };
  input?: Record<string, unknown>;
  output_summary?: string;
  /** Milliseconds, 0 or more. */
  latency_ms?: number;
}

/** The reasoning of an agent on one task, step by step. */
export interface ReasoningTrace {
  "@context": KnowledgePulseContext;
  "@type": "ReasoningTrace";
  /** Begins with `kp:trace:`. */
  id: string;
  metadata: {
    /** RFC 3339, in UTC. */
    created_at: string;
    agent_id?: string;
    framework?: string;
    /** Selects the weights. */
    task_domain?: TaskDomain | (string & {});
    success: boolean;
    /** 0 to 1; the score does not depend on it. */
    quality_score: number;
    visibility: "private" | "org" | "network";
    privacy_level: "aggregated" | "federated" | "private";
    validated_by?: string[];
  };
  task: { objective: string; input_schema?: Record<string, unknown> };
  /** At least one. */
  steps: ReasoningTraceStep[];
  outcome: {
    result_summary: string;
    /** 0 to 1. */
    confidence: number;
  };
  source_skill?: string;
  knowledge_graph_delta?: {
    entities: { name: string; type: string }[];
    relationships: { fact: string; valid_from: string }[];
  };
}
