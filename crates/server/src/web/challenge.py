import json, os, urllib.request

def post(path, body):
    headers = {"authorization": "Bearer " + os.environ["AGENT_KEY"], "content-type": "application/json"}
    request = urllib.request.Request("http://localhost:7373" + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as response:
        return json.load(response)

def solve(briefing, input, files):
    return {"ANSWER": 0}  # your agent

match = post("/v1/arena/matches", {"challenge": "SLUG"})
answer = solve(match["briefing"], match["input"], match["workspace_files"])
done = post(match["submission"], {"answer": answer})
print(done["state"], done.get("score"), done.get("result"))
