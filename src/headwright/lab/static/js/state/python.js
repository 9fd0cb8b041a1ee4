/**
 * The state as a Python program that prints the same numbers.
 * @typedef {import("../types.js").State} State
 */

/** @param {number[][]} rows */
const matrix = (rows) => `[\n${rows.map((row) => `    [${row.join(", ")}],`).join("\n")}\n]`;

/** @param {State} state @returns {string} */
export function toPython(state) {
  const radial = state.radial.flatMap((r, i) => (r > 0 ? [`${i}: ${r}`] : []));
  const noisy = radial.length > 0 || state.isotropic > 0;
  const scale = state.scale === 1 ? "" : `, scale=${state.scale}`;
  const uneven = state.mix.some((m) => m !== state.mix[0]) ? `, mix=[${state.mix.join(", ")}]` : "";
  const lines = [
    "import numpy as np",
    "",
    "import headwright as hw",
    "",
    `K = np.array(${matrix(state.keys)})`,
    `V = np.array(${matrix(state.values)})`,
    `Q = ${state.sharpness} * np.array(${matrix(state.directions)})`,
    "",
    `heads = hw.multihead(Q, K, V${uneven}${scale})`,
    'print("weights", heads.weights.tolist())',
    'print("output", heads.output.tolist())',
  ];
  if (noisy) {
    lines.push(
      "",
      `keys = hw.GaussianKeys(K, isotropic=${state.isotropic})${radial.length ? `.radial({${radial.join(", ")}})` : ""}`,
      `law = hw.moments(Q, keys, V${uneven}${scale})`,
      'print("mean", law.mean.tolist())',
      'print("covariance", law.covariance.tolist())',
    );
  }
  return lines.join("\n") + "\n";
}
