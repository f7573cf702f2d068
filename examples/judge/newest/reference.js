// The highest version that a range allows.

const read = (text) => text.split(".").map(Number);

const order = (a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];

// The first version beyond what a caret allows.
function ceiling([major, minor, patch]) {
  if (major > 0) return [major + 1, 0, 0];
  if (minor > 0) return [0, minor + 1, 0];
  return [0, 0, patch + 1];
}

function holds(condition, version) {
  if (condition === "*") return true;
  if (condition.endsWith("x")) {
    const head = condition.split(".").slice(0, -1).map(Number);
    return head.every((number, at) => version[at] === number);
  }
  const [, sign, text] = /^(>=|<=|>|<|~|\^)?(.*)$/.exec(condition);
  const bound = read(text);
  const found = order(version, bound);
  switch (sign) {
    case ">": return found > 0;
    case ">=": return found >= 0;
    case "<": return found < 0;
    case "<=": return found <= 0;
    case "~": return found >= 0 && order(version, [bound[0], bound[1] + 1, 0]) < 0;
    case "^": return found >= 0 && order(version, ceiling(bound)) < 0;
    default: return found === 0;
  }
}

function allows(range, version) {
  return range.split("||").some((part) => part.trim().split(/\s+/).every((condition) => holds(condition, version)));
}

export function newest(versions, range) {
  let best = null;
  for (const text of versions) {
    const version = read(text);
    if (allows(range, version) && (best === null || order(version, read(best)) > 0)) best = text;
  }
  return best ?? "none";
}
