// Runs smoke.py in the browser: CPython as a WebAssembly module, with the package's files in memory.

import { ConsoleStdout, Directory, File, OpenFile, PreopenDirectory, WASI } from "./shim/index.js";

const START = "import runpy, sys; sys.path.append('/packages'); runpy.run_path('/packages/smoke.py', run_name='__main__')";
const bytes = async (name) => new Uint8Array(await (await fetch(name)).arrayBuffer());

/** Make folders in memory of a table of texts by path. */
function foldersOf(texts) {
  const top = new Map();
  for (const [path, text] of Object.entries(texts)) {
    const parts = path.split("/");
    const name = parts.pop();
    let here = top;
    for (const part of parts) {
      if (!here.has(part)) here.set(part, new Directory(new Map()));
      here = here.get(part).contents;
    }
    here.set(name, new File(new TextEncoder().encode(text)));
  }
  return top;
}

async function run() {
  const said = (text) => postMessage({ text: `${text}\n` });
  const begin = performance.now();
  const [module, library, packages] = await Promise.all([
    WebAssembly.compileStreaming(fetch("python.wasm")), bytes("python315.zip"), (await fetch("packages.json")).json(),
  ]);
  said(`compiled in ${Math.round(performance.now() - begin)} ms`);
  const wasi = new WASI(["/usr/local/bin/python.wasm", "-c", START], ["TMPDIR=/tmp", "HOME=/tmp", "PYTHONTZPATH="], [
    new OpenFile(new File([])),
    ConsoleStdout.lineBuffered(said),
    ConsoleStdout.lineBuffered(said),
    new PreopenDirectory("/usr/local/lib", new Map([["python315.zip", new File(library)]])),
    new PreopenDirectory("/packages", foldersOf(packages)),
    new PreopenDirectory("/tmp", new Map()),
  ]);
  const instance = await WebAssembly.instantiate(module, {
    wasi_snapshot_preview1: new Proxy(wasi.wasiImport, { get: (all, name) => all[name] ?? (() => 52) }), // 52: ENOSYS
    host: { call: () => -1 },
  });
  wasi.inst = instance;
  instance.exports._initialize();
  return instance.exports.run();
}

run().then(
  (status) => postMessage({ text: "", status: String(status) }),
  (error) => postMessage({ text: String(error.stack ?? error), status: "failed" }),
);
