// A scene written by hand for the tests of the explorer: y = x·x + sin x at 3, then its gradient, as draw/scene.py
// would write it.  The numbers are worked out here: 3·3 = 9, sin 3 = 0.1411, cos 3 = −0.99, 6 + cos 3 = 5.01.

const SCALAR = 0;
const value = (/** @type {string} */ short, mark = 0) => [short, `${short} in full`, "", SCALAR, mark];
const VALUES = [
  value("3"), value("9"), value("0.1411"), value("9.141"), value("1"), value("−0.99"), value("2.01"), value("5.01"),
  value("0", 1), value("nan", 2),
];
const [THREE, NINE, SINE, Y, ONE, COSINE, PART, WHOLE] = VALUES.keys();

export const payload = {
  format: 1,
  title: "y = x·x + sin x",
  error: "",
  remarks: [],
  start: 3,
  kinds: [["float32", ""]],
  values: VALUES,
  places: [["cell 3, line 1", "y = x * x + lab.sin(x)"]],
  scopes: [""],
  ops: [
    ["multiply", "×", "{0} times {1}", "\ue000 · \ue001", ["\ue001", "\ue000"]],
    ["sin", "sin", "the sine of {0}", "sin \ue000", ["cos \ue000"]],
    ["add", "+", "{0} plus {1}", "\ue000 + \ue001", ["1", "1"]],
  ],
  tensors: {
    0: ["x", "variable", THREE, -1, 0, 1],
    1: ["", "output", NINE, 0, 0, 1, "x * x"],
    2: ["", "output", SINE, 1, 0, 1, "sin(x)"],
    3: ["y", "output", Y, 2, 0, 1],
    4: ["two", "constant", THREE, -1, -1, 0],
    5: ["w", "variable", ONE, -1, -1, 1],
  },
  applications: {
    0: [0, [0, 0], [1], 0, 0, 1, "", ""],
    1: [1, [0], [2], 0, 0, 2, "", ""],
    2: [2, [1, 2], [3], 0, 0, 3, "", ""],
  },
  steps: [
    [0],
    [1],
    [2],
    [2, 0, [ONE], [[0, 1, ONE, ONE, ONE, 1, 1], [1, 2, ONE, ONE, ONE, 1, 1]]],
    [1, 0, [ONE], [[0, 0, COSINE, COSINE, COSINE, 1, 3]]],
    [0, 0, [ONE], [[0, 0, THREE, THREE, PART, 2, 3], [1, 0, THREE, THREE, WHOLE, 3, 3]]],
  ],
  phases: [[-1, 1, 3], [0, 4, 6]],
  labels: ["backward"],
  sweeps: [[[3], [ONE], [0, 5], [WHOLE, -1], 1, 0]],
  left: {},
  views: {
    "": {
      nodes: [
        ["t1", "variable", "x", "", [0], -1, [], 0, 0, 0, 60, 60],
        ["a0", "op", "×", "", [1], 0, [], 0, 100, 0, 60, 60],
        ["a1", "op", "sin", "", [2], 1, [], 0, 100, 100, 60, 60],
        ["a2", "op", "+", "y", [3], 2, [], 0, 200, 50, 60, 60],
      ],
      edges: [
        [0, 1, 0, 0, "M60 20C70 20 90 20 100 20"],
        [0, 1, 0, 1, "M60 40C70 40 90 40 100 40"],
        [0, 2, 0, 0, "M60 50C70 50 90 130 100 130"],
        [1, 3, 1, 0, "M160 30C170 30 190 70 200 70"],
        [2, 3, 2, 1, "M160 130C170 130 190 90 200 90"],
      ],
      size: [260, 160],
    },
  },
};

/** A value as the scene holds it. @param {string} short @returns {import("../../autodiff_lab/widgets/explorer/scene.js").Value} */
export function valueOf(short) {
  return { short, full: short, small: short, dtype: "float32", shape: "", mark: "" };
}

/** What must be there. @template T @param {T | null | undefined} thing @returns {T} */
export function there(thing) {
  if (thing === null || thing === undefined) throw new Error("this should be there");
  return thing;
}
