// The document has formulas and a table, no program: its example in the names of the package.
import { compositeScore, RollingWindow } from "karat/workflow";

export const partial = compositeScore({
  output_quality_score: 1,
  steps_completed: 3, // "If a 4-step workflow completes 3 steps before a hard failure, completion_ratio = 0.75"
  total_steps_in_dag: 4,
  actual_tao: 0.01,
  max_budget_tao: 0.05,
  actual_seconds: 2,
  max_latency_seconds: 10,
  actual_retries: 2,
  declared_retry_budget: 2, // "Declared retries are free"
  timeouts: 0,
  hard_failures: 1,
});
export const window = new RollingWindow();
for (let task = 0; task < 250; task += 1) window.add(task < 150 ? 0 : partial.score);
