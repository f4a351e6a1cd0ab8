/*
 * What the readers of calibration formats share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CALIBRATION_PRIV_H
#define SX_CONFIG_CALIBRATION_PRIV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rig.h"
#include "config/calibration/calibration.h"

#define SX_CALIBRATION_WHY_BYTES 256
#define SX_CALIBRATION_NAME_BYTES 48
#define SX_CALIBRATION_REASON_BYTES 512 /* of a sentence without the file's name */

/*
 * What a file says of one raw camera. Names are those that the file has, or would have, for sentences. lens
 * and d only mean something with have_d. r: rotation from the raw to the rectified camera.
 */
struct sx_calibration_camera {
	char k_name[SX_CALIBRATION_NAME_BYTES], d_name[SX_CALIBRATION_NAME_BYTES];
	bool have_k, have_d, have_r;
	double k[9], d[SX_LENS_COEFFICIENTS], r[9];
	enum sx_lens lens;
};

/* Whatever a file says: projection matrices 3x4, row by row, or single numbers; what they were made of. */
struct sx_calibration_raw {
	const char *format;
	const char *left_name, *right_name; /* of the matrices, for sentences */
	const char *projections;	    /* all that the format knows, for sentences; NULL: none */
	bool have_left, have_right, have_q, have_lines;
	double left[12], right[12], q[16];
	bool have_plain[5]; /* fx fy cx cy baseline_m */
	double plain[5];
	bool have_cx_right;
	double cx_right;
	double width, height;
	const char *pair; /* which of the file's pairs this is, for sentences; NULL: there is one */
	bool other_pair;  /* the images are of another one, which the file does not have */
	/* px by which the right principal point lies further right, in images that are rectified otherwise */
	double offset_px;
	/* raw cameras: [0] left; of a file of one camera [0] is that one. cameras: 0, 1, 2 */
	int cameras;
	struct sx_calibration_camera camera[2];
	const char *pose_name; /* what says how the cameras stand, for sentences */
	bool have_r, have_t;
	double r[9], t[3]; /* r x + t: a point of the left camera in the right one's axes */
	bool pose; /* of a file of one camera: t_bs has where it stands on the body, 4x4, row by row */
	double t_bs[16];
	/* the first thing in the raw cameras that is wrong: only told when they are needed; "": nothing */
	char fault[SX_CALIBRATION_WHY_BYTES];
};

void sx_calibration_name(char to[SX_CALIBRATION_NAME_BYTES], const char *whose, const char *name);
/* Writes a sentence and returns -EINVAL. */
int sx_calibration_refuse(char *why, size_t why_bytes, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * text: a whole file up to its 0, without a byte order mark. 0, or -EINVAL with a sentence without the
 * file's name in why; -ENOTSUP: not in this build.
 */
int sx_calibration_yaml(struct sx_calibration_raw *ret, const char *text, char *why, size_t why_bytes);
int sx_calibration_xml(struct sx_calibration_raw *ret, const char *text, char *why, size_t why_bytes);
/* Reads a format of lines. 1: read; 0: nothing in it is known; -EINVAL with a sentence. */
int sx_calibration_text(struct sx_calibration_raw *ret, const char *text,
			const struct sx_calibration_wish *wish, char *why, size_t why_bytes);
/*
 * Names files of other programs that are not read, and says what to do; NULL: it is none of them. Binary ones
 * by how they begin or, data NULL where they are too long to be read, by the end of the path.
 */
const char *sx_calibration_foreign_binary(const char *path, const char *data, size_t bytes);
const char *sx_calibration_foreign_text(const char *text);
/* Looks like YAML or JSON? */
bool sx_calibration_is_yaml(const char *text);

/*
 * r and t of raw from where both cameras stand on the body: raw->t_bs of the left one, and the right one's.
 */
int sx_calibration_between(struct sx_calibration_raw *raw, const double right[16], char *why,
			   size_t why_bytes);

/*
 * 1: fx .. baseline_m of c are those that raw says of rectified images, after all of it was checked against
 * itself; 0: raw says nothing of such. -EINVAL with a sentence. Projections in raw are divided by their
 * [2][2].
 */
int sx_calibration_project(struct sx_calibration *c, struct sx_calibration_raw *raw,
			   const struct sx_calibration_wish *wish, char *why, size_t why_bytes);
/* Numbers of a camera within what any camera has? 0, or -EINVAL with a sentence. */
int sx_calibration_check_camera(const struct sx_calibration *c, char *why, size_t why_bytes);
/* Do projections (p) and Q (q) say the same; does T, and do R1, R2 and R? Within 1 %. As above. */
int sx_calibration_agree_q(const struct sx_calibration *p, const struct sx_calibration *q,
			   const struct sx_calibration_raw *raw, const struct sx_calibration_wish *wish,
			   char *why, size_t why_bytes);
int sx_calibration_agree(const struct sx_calibration *c, const struct sx_calibration_raw *raw,
			 const struct sx_calibration_wish *wish, char *why, size_t why_bytes);

/*
 * The lens of a camera from count coefficients d and the name of its model; NULL or "": the file names none,
 * as OpenCV's do not, and the count tells. Fills lens, d and have_d. -EINVAL with a sentence.
 */
int sx_calibration_lens(struct sx_calibration_camera *camera, const char *model, const double *d, int count,
			char *why, size_t why_bytes);

/*
 * Decides whether images are raw, and makes c->rig if they are to be rectified: c->rectify. projected: fx ..
 * and baseline_m (0: not known) of c are the file's; otherwise they come from here. -EINVAL with a sentence.
 */
int sx_calibration_rectify(struct sx_calibration *c, const struct sx_calibration_raw *raw, bool projected,
			   const struct sx_calibration_wish *wish, char *why, size_t why_bytes);

#endif
