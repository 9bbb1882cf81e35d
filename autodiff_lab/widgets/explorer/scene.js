// The payload of draw/scene.py read into objects: its tables of short rows get the names of their columns back.
// The two files change together.  Pure: no DOM, so that node can test it.

/** @typedef {"" | "zero" | "nan" | "inf"} Mark */
/**
 * @typedef {{ short: string, full: string, small: string, dtype: string, shape: string, mark: Mark,
 *   cells?: (number | string)[], bars?: number[] }} Value `cells` where `full` was cut, `bars` of a histogram
 */
/** @typedef {{ where: string, line: string }} Place */
/** @typedef {{ name: string, symbol: string, sentence: string, formula: string, locals: string[] }} Op */
/**
 * @typedef {{ number: number, name: string, named: boolean, kind: string, value: Value, application: number,
 *   place: Place | null, tracked: boolean, there: number, of: number }} Tensor `of`: what a gradient belongs to
 */
/**
 * @typedef {{ index: number, op: Op, inputs: number[], outputs: number[], place: Place | null, scope: string,
 *   born: number, error: string, params: string, of: string, root: number }} Application
 */
/**
 * @typedef {{ position: number, input: number, local: Value | null, outgoing: Value, total: Value, arrived: number,
 *   expected: number, summed: number[] }} Flow `summed` are the axes over which the rule's result was summed
 */
/** @typedef {{ remark: number, sweep: number, tensor: number, application: number }} Cut where a gradient is lost */
/**
 * @typedef {{ application: number, sweep: number, within: number, tangent: boolean, incoming: (Value | null)[],
 *   flows: Flow[] }} Step `within` is the backward pass whose rules ran this op; -1 for ops of the program
 */
/**
 * @typedef {{ targets: number[], seeds: Value[], sources: number[], results: (Value | null)[], finished: boolean,
 *   place: Place | null, first: number, last: number, tangent: boolean,
 *   carried: { tensor: number, value: Value }[] }} Sweep
 */
/**
 * @typedef {{ at: number, key: string, kind: string, label: string, name: string, tensors: number[],
 *   application: number, members: number[], outside: boolean, x: number, y: number, width: number, height: number,
 *   turns: string[], series: Series[], times: number }} Box
 */
/** @typedef {{ kind: string, name: string, heights: (number | null)[], tensors: number[] }} Series heights from 0 to 100, one a turn; the tensors if the box shows them */
/** @typedef {{ source: number, target: number, tensor: number, position: number, path: string, kind: string }} Edge */
/** @typedef {{ path: string, why: string, boxes: Box[], edges: Edge[], width: number, height: number, down: boolean }} View */
/** @typedef {{ sweep: number, first: number, last: number, label: string }} Phase */
/**
 * @typedef {{ title: string, error: string, remarks: string[], start: number, last: number, steps: Step[], sweeps: Sweep[],
 *   tensors: Map<number, Tensor>, applications: Map<number, Application>, views: Map<string, View>, phases: Phase[], labels: string[], held: number[],
 *   left: Map<number, { how: string, place: Place | null }>, homes: Map<number, Step[]>,
 *   source: { name: string, lines: { number: number, text: string, place: Place | null }[] }[], loops: string[][], cuts: Cut[], frames: Record<string, string[]>, measures: Record<string, Record<string, number>> }} Scene
 */

const MARKS = /** @type {Mark[]} */ (["", "zero", "nan", "inf"]);

/**
 * The payload as Python made it; a notebook keeps a long one packed.
 * @param {any} payload
 * @returns {Promise<any>}
 */
export async function unpack(payload) {
  if (!payload.packed) return payload;
  return new Response(new Blob([payload.packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

/**
 * Read the payload.
 * @param {any} payload what `draw.scene.scene` returned
 * @returns {Scene}
 */
export function decode(payload) {
  /** @type {Value[]} */
  const values = payload.values.map((/** @type {any[]} */ [short, full, small, kind, mark, cells, bars]) => ({
    short, full: full || short, small: small || short, dtype: payload.kinds[kind][0], shape: payload.kinds[kind][1],
    mark: MARKS[mark], cells: cells?.length ? cells : undefined, bars,
  }));
  /** @type {Place[]} */
  const places = payload.places.map((/** @type {string[]} */ [where, line]) => ({ where, line }));
  const value = (/** @type {number} */ at) => (at < 0 ? null : values[at]);
  const place = (/** @type {number} */ at) => (at < 0 ? null : places[at]);
  const steps = payload.steps.map((/** @type {any[]} */ row) => decodeStep(row, value, payload.sweeps));
  const sweeps = payload.sweeps.map((/** @type {any[]} */ row, /** @type {number} */ at) => {
    const visits = steps.flatMap((/** @type {Step} */ step, /** @type {number} */ k) => (step.sweep === at ? [k + 1] : []));
    const [targets, seeds, sources, results, finished, where, carried = [], tangent = 0] = row;
    return {
      targets, sources, finished: Boolean(finished), place: place(where),
      seeds: seeds.map(value), results: results.map(value), tangent: Boolean(tangent),
      carried: carried.map((/** @type {number[]} */ [tensor, at]) => ({ tensor, value: values[at] })),
      first: visits[0] ?? steps.length + 1, last: visits[visits.length - 1] ?? steps.length,
    };
  });
  const applications = decodeApplications(payload, place);
  const tensors = decodeTensors(payload, values, place);
  const phases = payload.phases.map((/** @type {number[]} */ [sweep, first, last]) => (
    { sweep, first, last, label: payload.labels[sweep] ?? "forward" }));
  for (const { sweep, first, last } of phases) for (const step of steps.slice(first - 1, last)) if (step.sweep < 0) step.within = sweep;
  /** @type {Map<number, Step[]>} the steps of each application */
  const homes = new Map(steps.map((/** @type {Step} */ step) => [step.application, []]));
  for (const step of steps) homes.get(step.application)?.push(step);
  const left = numbered(payload.left, ([how, where]) => ({ how, place: place(where) }));
  return {
    title: payload.title, error: payload.error, remarks: payload.remarks, start: payload.start, last: steps.length, steps, sweeps, tensors,
    applications, left, labels: payload.labels, held: payload.held ?? [], phases, homes,
    views: new Map(Object.entries(payload.views).map(([path, view]) => [path, decodeView(path, view)])),
    loops: payload.loops ?? [], source: (payload.source ?? []).map((/** @type {any[]} */ [name, lines]) => ({
      name, lines: lines.map((/** @type {any[]} */ [number, indent, text]) => ({
        number, text: " ".repeat(indent) + (typeof text === "number" ? places[text].line : text), place: typeof text === "number" ? places[text] : null,
      })),
    })), measures: payload.measures ?? {}, frames: payload.frames ?? {},
    cuts: (payload.cuts ?? []).map((/** @type {number[]} */ [remark, sweep, tensor, application]) => ({ remark, sweep, tensor, application })),
  };
}

/**
 * @param {any[]} row
 * @param {(at: number) => any} value
 * @param {any[][]} sweeps
 * @returns {Step}
 */
function decodeStep([application, sweep = -1, incoming = [], flows = []], value, sweeps) {
  return {
    application, sweep, within: -1, tangent: Boolean(sweeps[sweep]?.[7]), incoming: incoming.map(value),
    flows: flows.map((/** @type {any[]} */ [position, input, local, outgoing, total, arrived, expected, summed = []]) => ({
      position, input, local: value(local), outgoing: value(outgoing), total: value(total), arrived, expected, summed,
    })),
  };
}

/**
 * @param {any} payload
 * @param {(at: number) => Place | null} place
 * @returns {Map<number, Application>}
 */
function decodeApplications(payload, place) {
  const ops = payload.ops.map((/** @type {any[]} */ [name, symbol, sentence, formula, locals]) => (
    { name, symbol, sentence, formula, locals }));
  return numbered(payload.applications, ([op, inputs, outputs, where, scope, born, error, params, of = "", root = -1], index) => ({
    index, op: ops[op], inputs, outputs, place: place(where), scope: payload.scopes[scope], born, error, params, of, root,
  }));
}

/**
 * @param {any} payload
 * @param {Value[]} values
 * @param {(at: number) => Place | null} place
 * @returns {Map<number, Tensor>}
 */
function decodeTensors(payload, values, place) {
  return numbered(payload.tensors, ([name, kind, value, application, where, tracked, said = "", there = 0, of = -1], number) => ({
    number, name: name || said, named: Boolean(name), kind, value: values[value], application,
    place: place(where), tracked: Boolean(tracked), there, of,
  }));
}

/** A table of rows by number. @template T @param {Record<string, any[]>} table @param {(row: any[], number: number) => T} read @returns {Map<number, T>} */
function numbered(table, read) {
  return new Map(Object.entries(table).map(([key, row]) => [Number(key), read(row, Number(key))]));
}

/**
 * @param {string} path
 * @param {any} view
 * @returns {View}
 */
function decodeView(path, view) {
  if (view.why !== undefined) return { path, why: view.why, boxes: [], edges: [], width: 0, height: 0, down: false };
  const boxes = view.nodes.map((/** @type {any[]} */ row, /** @type {number} */ at) => {
    const [key, kind, label, name, tensors, application, members, outside, x, y, width, height, more = 1] = row;
    const [turns = [], ...curves] = Array.isArray(more) ? more : [];
    const series = curves.map((/** @type {any[]} */ [of, called, heights, each = []]) => ({ kind: of, name: called, heights, tensors: each }));
    return {
      at, key, kind, label, name, tensors, application, members, outside: Boolean(outside), x, y, width, height,
      turns, series, times: Array.isArray(more) ? 1 : more,
    };
  });
  const edges = view.edges.map((/** @type {any[]} */ [source, target, tensor, position, line, kind = "value"]) => (
    { source, target, tensor, position, path: line, kind }));
  return { path, why: "", boxes, edges, width: view.size[0], height: view.size[1], down: Boolean(view.down) };
}

/** The turn of a loop in which a scope lies, or else the first. @param {string[]} turns @param {string} scope */
export const turnWith = (turns, scope) => turns.find((turn) => isInside(scope, turn)) ?? turns[0];

/**
 * The turn of a loop that a scope is, or lies in; of loops inside each other, the innermost.
 * @param {Scene} scene
 * @param {string} path
 */
export function turnOf(scene, path) {
  let found = null;
  for (const turns of scene.loops) {
    const at = turns.findIndex((turn) => isInside(path, turn));
    if (at >= 0 && turns[at].length > (found?.path.length ?? -1)) found = { turns, at, path: turns[at] };
  }
  return found;
}

/** @param {string} path @param {string} within */
export const isInside = (path, within) => !within || path === within || path.startsWith(`${within}/`);

/** The steps in a scope, counted from 1. @param {Scene} scene @param {string} path */
export function stepsIn(scene, path) {
  return scene.steps.flatMap((step, at) => (isInside(scene.applications.get(step.application)?.scope ?? "", path) ? [at + 1] : []));
}
