/**
 * The folders: `maths/` computes, `state/` is what the page is in and how that is written, `drawing/` shows it,
 * `panels/` are the things around the pictures, `opening/` is what newcomers see first. Beside this file: one script
 * per page, and what all pages share.
 *
 * The words of the lab, as types. Axis letters as in Python: n keys, d key dimension, v value dimension,
 * h heads, s samples. A query is its direction times the sharpness: q_h = sharpness * directions[h].
 *
 * @typedef {number[]} Vector
 * @typedef {number[][]} Matrix
 *
 * @typedef {Object} State           everything the page shows; the URL hash is this object, written short
 * @property {string} preset         the preset it started from
 * @property {string[]} names        n letters
 * @property {Matrix} keys           n x d
 * @property {Matrix} values         n x v
 * @property {Matrix} directions     h x d
 * @property {Vector} mix            h shares of the heads in the output
 * @property {number} sharpness      beta
 * @property {number} scale          factor on the scores
 * @property {number} isotropic      variance added to every coordinate of every key
 * @property {Vector} radial         n variances along each key's own mean
 * @property {number} seed           of the sampled cloud
 * @property {number} samples        how many
 * @property {number} focus          the key whose weight the histogram shows
 * @property {boolean} compare       one head beside several
 * @property {number} station        the card that is open; 0 for none
 *
 * @typedef {Object} Cloud           s draws of the noisy keys, seen through the heads
 * @property {number} samples
 * @property {Float64Array} outputs  s x 2, the mixed output (first two coordinates)
 * @property {Float64Array} focus    h x s, weight of the focused key in each head
 * @property {Float64Array} mixed    s, mixed weight of the focused key
 * @property {Float64Array} errors   s, squared distance of the mixed weights from the target
 *
 * @typedef {Object} Model           all that follows from a state in one frame
 * @property {State} state
 * @property {Matrix} queries        h x d
 * @property {Matrix} logits         h x n
 * @property {Matrix} weights        h x n
 * @property {Vector} mixed          n, the heads' weights, mixed
 * @property {Matrix} outputs        h x v
 * @property {Vector} output         v
 * @property {Cloud | null} cloud    null without noise
 * @property {boolean} settled      not in the middle of a drag: what is only read aloud is brought up to date
 * @property {Model | null} single   the same state seen by one head whose query is the sum of all
 *
 * @typedef {Object} Goal            one condition of a station
 * @property {string} measure
 * @property {string=} key
 * @property {number=} head
 * @property {number=} above
 * @property {number=} below
 *
 * @typedef {Object} Station
 * @property {number} number
 * @property {string} title
 * @property {string} goal           in words
 * @property {string} state          in the language of the URL hash
 * @property {string} fragment       where its text is
 * @property {Goal[]} conditions
 *
 * @typedef {Object} Moments         the engine's exact answer
 * @property {Vector} mean
 * @property {Matrix} covariance
 * @property {Vector} weights_mean
 * @property {number} error
 * @property {string} method
 * @property {string} status
 * @property {string=} message
 */
export {};
