// The error function, the normal distribution and the gamma functions for one number.

import { fn } from "./twins.js";

const BEYOND = [
  8.635681414307825e-09, 7.124245030572795e-08, -8.42551957399924e-08, -5.840747551910045e-07, 3.0307407103093377e-07,
  3.4525197016153044e-06, -7.012462973163499e-07, -2.00929833045886e-05, 4.9387975342434404e-06,
  0.00012509749095168397, -0.00010515741491655, -0.0007798319787670749, 0.0018886900308933137, 0.002529391787416037,
  -0.023770514892453878, 0.06830802734557402, -0.11927366341637591, 0.12964515870271817, -0.04756229435343384,
  -0.13562110612458084, 1.2530080582697296,
];
const ROOT_PI = 1.7724538509055160273;

/** Σ of the series of erf, which converges quickly below one half. @param {number} x */
function erfNear(x) {
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-18 * Math.abs(sum); n += 1) {
    term *= -x * x / n;
    sum += term / (2 * n + 1);
  }
  return (2 / ROOT_PI) * sum;
}

/** erfc from one half on, from x and from what x² is as two numbers. @param {number} x @param {number} high @param {number} low */
function erfcBeyond(x, high, low) {
  const t = (x - 3) / (x + 3);
  return Math.exp(-high) * (1 - low) * BEYOND.reduce((sum, factor) => sum * t + factor) / (1 + 2 * x);
}

/** What rounding takes from x², exactly. @param {number} x */
function squareRest(x) {
  const split = x * 134217729;
  const head = split - (split - x);
  const tail = x - head;
  return head * head - x * x + 2 * head * tail + tail * tail;
}

/** @param {number} x */
function erfc(x) {
  const size = Math.min(Math.abs(x), 28);
  if (size < 0.5) return 1 - erfNear(x);
  const beyond = erfcBeyond(size, size * size, squareRest(size));
  return x < 0 ? 2 - beyond : beyond;
}

fn("erf", (x) => (Math.abs(x) < 0.5 ? (x === 0 ? x : erfNear(x)) : x < 0 ? erfc(-x) - 1 : 1 - erfc(x)));
fn("erfc", erfc);
fn("normal_cdf", (x) => {
  const size = Math.min(Math.abs(x), 40);
  const scaled = size * Math.SQRT1_2;
  if (scaled < 0.5) return 0.5 + 0.5 * erfNear(x * Math.SQRT1_2);
  const beyond = erfcBeyond(scaled, size * size / 2, squareRest(size) / 2) / 2;
  return Number.isNaN(x) ? x : x < 0 ? beyond : 1 - beyond;
});

/** Coefficients of Stirling's series: Bernoulli numbers B_2n over 2n(2n - 1). */
const STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156];
/** The same over 2n, of its derivative. */
const DIGAMMA = [1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12];
const TRIGAMMA = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6];

/** ln |Γ(x)|: shifted up to where Stirling's series is exact. @param {number} x @returns {number} */
function lgamma(x) {
  if (x <= 0) return Number.isInteger(x) || x === -Infinity ? Infinity : Math.log(Math.PI / Math.abs(Math.sin(Math.PI * x))) - lgamma(1 - x);
  if (x === 1 || x === 2) return 0;
  let product = 1;
  let z = x;
  for (; z < 12; z += 1) product *= z;
  const series = STIRLING.reduceRight((sum, factor) => sum / (z * z) + factor, 0) / z;
  return z === Infinity ? z : (z - 0.5) * Math.log(z) - z + 0.91893853320467274178 + series - Math.log(product);
}

/** The derivative of lgamma. @param {number} x @returns {number} */
function digamma(x) {
  if (x <= 0 && Number.isInteger(x)) return x === 0 ? -Infinity / (1 / x > 0 ? 1 : -1) : NaN;
  if (x < 0) return digamma(1 - x) - Math.PI / Math.tan(Math.PI * x);
  let sum = 0;
  let z = x;
  for (; z < 12; z += 1) sum -= 1 / z;
  return sum + Math.log(z) - 0.5 / z - DIGAMMA.reduceRight((series, factor) => series / (z * z) + factor, 0) / (z * z);
}

/** The derivative of digamma. @param {number} x @returns {number} */
function trigamma(x) {
  if (x <= 0 && (Number.isInteger(x) || x === -Infinity)) return Infinity;
  if (x < 0) return (Math.PI / Math.sin(Math.PI * x)) ** 2 - trigamma(1 - x);
  let sum = 0;
  let z = x;
  for (; z < 12; z += 1) sum += 1 / (z * z);
  return sum + 1 / z + 0.5 / (z * z) + TRIGAMMA.reduceRight((series, factor) => series / (z * z) + factor, 0) / z ** 3;
}

fn("lgamma", lgamma);
fn("digamma", digamma);
fn("trigamma", trigamma);
