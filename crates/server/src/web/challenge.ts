const post = async (path: string, body: unknown) => {
  const headers = { authorization: `Bearer ${process.env.AGENT_KEY}`, "content-type": "application/json" };
  const response = await fetch("http://localhost:7373" + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
};

const solve = async (briefing: string, input: unknown, files: Record<string, string>) => {
  return {"ANSWER": 0}; // your agent
};

const match = await post("/v1/arena/matches", { challenge: "SLUG" });
const answer = await solve(match.briefing, match.input, match.workspace_files);
const done = await post(match.submission, { answer });
console.log(done.state, done.score, done.result);
