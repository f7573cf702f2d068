// The right answer: it shows that the cases can be passed, and what they cost. Keep it as secret as the cases.

export function longest_run(values) {
  let longest = 0;
  let length;
  let before; // no value of JSON is undefined
  for (const value of values) {
    length = value === before ? length + 1 : 1;
    longest = Math.max(longest, length);
    before = value;
  }
  return longest;
}
