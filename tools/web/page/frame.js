// Decodes a frame that came: its stixels, free space and picture.
// SPDX-License-Identifier: Apache-2.0
import {readFrame, readFree} from "./wire.js";

// set: as of Assembler. ground: which image lies below the stixels. Adds parsed and picture (an ImageBitmap, or null) to
// the set, and returns it.
export async function decode(set, ground) {
  const bytes = ground === "left" ? set.left : ground === "disparity" ? set.disparity : null;
  set.parsed = readFrame(set.frame);
  set.parsed.free = set.free && readFree(set.free);
  set.parsed.scale = set.scale;
  set.picture = bytes ? await createImageBitmap(new Blob([bytes], {type: ground === "left" ? "image/jpeg" : "image/png"})) : null;
  return set;
}
