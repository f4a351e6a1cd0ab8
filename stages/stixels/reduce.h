/*
 * Column reduction: converts the disparity map to stixel columns, a few pixels wide and one row high,
 * transposed so that a column lies in one stretch of memory (hernandez-juarez 2017, section 4;
 * docs/develop/algorithm.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_REDUCE_H
#define SX_STAGES_STIXELS_REDUCE_H

#include "base/image.h"
#include "base/scores.h"
#include "stages/params/params.h"

/*
 * Returns the number of stixel columns of an image. All are whole: pixels that remain at the right border are
 * not used.
 */
static inline int sx_reduce_columns(int width, int width_px)
{
	return width / width_px;
}

/*
 * Reduces a map to cells of one row. disparity: U16 Q4, W x H. confidence: U8 of the same size, or NULL.
 * columns: U16 Q4, H wide and floor(W / width_px) high: row u is stixel column u, index 0 the image bottom.
 * columns_confidence: U8, same shape; not touched without confidence.
 *
 * A cell is invalid if less than half of its pixels are valid. MEDIAN: the upper median of the valid pixels.
 * MEAN: their mean, rounded half up. Confidence: mean over all pixels of the cell, rounded half up; invalid
 * pixels count as 0. width_px 1..32. Thread: any; allocates nothing.
 */
void sx_reduce(const struct sx_image *disparity, const struct sx_image *confidence, int width_px,
	       enum sx_reduction how, struct sx_image *columns, struct sx_image *columns_confidence);

/*
 * Reduces a map to cells that are cell_height rows high: columns are floor(H / cell_height) wide, row 0 is
 * the lowest cell, and image rows that remain at the top are not used. Median, mean and share are those of
 * all pixels of a cell. cell_height 1..32.
 */
void sx_reduce_cells(const struct sx_image *disparity, const struct sx_image *confidence, int width_px,
		     int cell_height, enum sx_reduction how, struct sx_image *columns,
		     struct sx_image *columns_confidence);

/*
 * Computes the class scores of cells: U8, (rows * classes) wide and one row per stixel column: [v][class],
 * mean over the pixels of the cell, rounded half up. image_width, image_height: size of the image, px.
 */
void sx_reduce_scores(const struct sx_scores *scores, int image_width, int image_height, int width_px,
		      int cell_height, struct sx_image *columns);

#endif
