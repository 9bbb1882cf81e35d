// A page carries long text as base64 of its gzip; this reads it again.

/** @param {Element | null} holder @returns {Promise<string>} */
export function unpacked(holder) {
  const packed = Uint8Array.from(atob(holder?.textContent ?? ""), character => character.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
