// Runs a Python program under WASI: node wasi.mjs WASM LIBRARY PACKAGES PROGRAM.
// LIBRARY is the folder of python315.zip, PACKAGES a folder
// from which it imports, and in which the program lies.

import { readFileSync } from "node:fs";
import { WASI } from "node:wasi";

const [wasm, library, packages, program] = process.argv.slice(2);
const start = "import runpy, sys; sys.path.append('/packages'); runpy.run_path('/packages/' + sys.argv[1], run_name='__main__')";
const wasi = new WASI({
  version: "preview1",
  args: ["/usr/local/bin/python.wasm", "-c", start, program],
  env: { TMPDIR: "/tmp", HOME: "/tmp", PYTHONTZPATH: "" },
  preopens: { "/usr/local/lib": library, "/packages": packages, "/tmp": packages },
  returnOnExit: true,
});
const module = await WebAssembly.compile(readFileSync(wasm));
const imports = { ...wasi.getImportObject(), host: { call: () => -1 } };
const instance = await WebAssembly.instantiate(module, imports);
wasi.initialize(instance);
process.exitCode = instance.exports.run();
