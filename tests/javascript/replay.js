// Runs recorded programs again under node, for tests/widgets/test_running.py: cases come as JSON on standard input, one
// a line, and what the page computes goes out in the same order.

import { createInterface } from "node:readline";

import {} from "../../autodiff_lab/widgets/running/families.js";
import { Program } from "../../autodiff_lab/widgets/running/program.js";

for await (const line of createInterface({ input: process.stdin })) {
  const { running, changes } = JSON.parse(line);
  const { tensors } = running;
  const program = new Program(running);
  const runs = changes.map((/** @type {Record<string, any>} */ change) => {
    const given = new Program({ ...running, tensors: tensors.map((/** @type {any[]} */ [kind, ...found], /** @type {number} */ at) => (
      change[at] === undefined ? [kind, ...found] : [kind, change[at]])) }).recorded;
    const outcome = program.run(new Map(Object.keys(change).map((at) => [Number(at), /** @type {any} */ (given[Number(at)])])));
    return {
      missing: Object.fromEntries(outcome.missing),
      values: outcome.values.map((value) => value && Buffer.from(value.data.buffer).toString("base64")),
      baseline: program.baseline().values.map((value) => value && Buffer.from(value.data.buffer).toString("base64")),
    };
  });
  console.log(JSON.stringify(runs));
}
