/** The grids on which numbers live, as in the engine: a score has the same bits here and there. */

/** Units of a weight, a threshold or points in one. */
export const MILLION = 1e6;
/** Units of a reading in one. */
export const BILLION = 1e9;
/** Units of a score in one. */
export const UNITS = 1e15;

/** Rounds to the nearest whole number, ties to even; exact for 0 <= x < 2^51. */
export function round(x: number): number {
  const twoTo52 = 4_503_599_627_370_496;
  return x + twoTo52 - twoTo52;
}

/** A constant of a scorecard as whole millionths. */
export function millionths(decimal: number): number {
  return Math.round(decimal * MILLION);
}

/** Rounds a fraction to a whole number, ties to even; both are not negative, the second is above 0. */
export function roundRatio(numerator: bigint, denominator: bigint): bigint {
  const [whole, rest] = [numerator / denominator, numerator % denominator];
  const isUp = 2n * rest > denominator || (2n * rest === denominator && whole % 2n === 1n);
  return isUp ? whole + 1n : whole;
}

/** The decimal places that weights are added with. */
export const PLACES = 18;

/** Returns the shortest decimal of a number, which is what was written, in whole units of 1e-18; cut off after that. */
export function decimal(number: number): bigint {
  const [digits = "0", exponent = "0"] = Math.abs(number).toString().split("e");
  const [whole = "0", fraction = ""] = digits.split(".");
  const shift = PLACES - fraction.length + Number(exponent);
  const all = BigInt(whole + fraction);
  const units = shift >= 0 ? all * 10n ** BigInt(shift) : all / 10n ** BigInt(-shift);
  return number < 0 ? -units : units;
}

/** Returns a number of whole units of 1e-18 as text: `0.999`. */
export function plain(units: bigint): string {
  const text = (units < 0n ? -units : units).toString().padStart(PLACES + 1, "0");
  const fraction = text.slice(-PLACES).replace(/0+$/, "");
  return `${units < 0n ? "-" : ""}${text.slice(0, -PLACES)}${fraction === "" ? "" : `.${fraction}`}`;
}

/** Returns the greatest common divisor of whole numbers; 1 where they are all 0. */
export function commonUnit(numbers: readonly number[]): number {
  const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
  return numbers.reduce(gcd, 0) || 1;
}
