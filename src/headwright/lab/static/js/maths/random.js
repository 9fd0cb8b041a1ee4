/** Seeded normal numbers (sfc32 and Box-Muller): the same seed draws the same cloud on every machine. */

/** @param {number} seed @returns {() => number} uniform in (0, 1) */
export function uniform(seed) {
  let [a, b, c, d] = [0x9e3779b9, 0x243f6a88, 0xb7e15162, seed | 0];
  const next = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t;
    c |= 0;
    return ((t >>> 0) + 0.5) / 4294967296;
  };
  for (let i = 0; i < 15; i++) next();
  return next;
}

/** @param {number} seed @param {number} count @returns {Float64Array} */
export function normals(seed, count) {
  const draw = uniform(seed);
  const out = new Float64Array(count + (count % 2));
  for (let i = 0; i < count; i += 2) {
    const radius = Math.sqrt(-2 * Math.log(draw()));
    const angle = 2 * Math.PI * draw();
    out[i] = radius * Math.cos(angle);
    out[i + 1] = radius * Math.sin(angle);
  }
  return out.subarray(0, count);
}
