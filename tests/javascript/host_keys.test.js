// Whose keys are whose, without a browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import { belongsToHost } from "../../autodiff_lab/widgets/host.js";

const PLAIN = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };

test("everything with a modifier belongs to the host, and so does Shift+Enter", () => {
  for (const modifier of ["ctrlKey", "metaKey", "altKey"]) {
    for (const key of ["s", "ArrowRight", "Enter", "Escape"]) {
      assert.ok(belongsToHost({ ...PLAIN, key, [modifier]: true }), `${modifier} ${key}`);
    }
  }
  assert.ok(belongsToHost({ ...PLAIN, key: "Enter", shiftKey: true }));
});

test("a modifier alone belongs to the host, whose shortcut it may begin", () => {
  for (const key of ["Control", "Meta", "Alt", "Shift"]) assert.ok(belongsToHost({ ...PLAIN, key }));
});

test("plain keys and capitals stay", () => {
  for (const key of ["ArrowRight", "Home", " ", "Enter", "Escape", "d", "/", "?"]) {
    assert.ok(!belongsToHost({ ...PLAIN, key }), key);
  }
  assert.ok(!belongsToHost({ ...PLAIN, key: "F", shiftKey: true }));
  assert.ok(!belongsToHost({ ...PLAIN, key: "ArrowRight", shiftKey: true }));
});
