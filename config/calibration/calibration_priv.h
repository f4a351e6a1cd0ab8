/*
 * Declarations shared by the readers of calibration formats.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CALIBRATION_PRIV_H
#define SX_CONFIG_CALIBRATION_PRIV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rig.h"
#include "base/why.h"
#include "config/calibration/calibration.h"

#define SX_CALIBRATION_NAME_BYTES 48

/*
 * One raw camera of a file. k_name, d_name: names of the matrices in the file, for messages; set even if the
 * file lacks them. lens and d are valid only if have_d. r: rotation from the raw to the rectified camera.
 */
struct sx_calibration_camera {
	char k_name[SX_CALIBRATION_NAME_BYTES], d_name[SX_CALIBRATION_NAME_BYTES];
	bool have_k, have_d, have_r;
	double k[9], d[SX_LENS_COEFFICIENTS], r[9];
	enum sx_lens lens;
};

/*
 * Content of a file: projection matrices 3x4, row by row, or single numbers, and the values from which they
 * were computed.
 */
struct sx_calibration_raw {
	const char *format;
	const char *left_name, *right_name; /* names of the matrices, for messages */
	/* names of all projections of the format, for messages; NULL: none */
	const char *projections;
	bool have_left, have_right, have_q, have_lines;
	double left[12], right[12], q[16];
	bool have_plain[5]; /* fx fy cx cy baseline_m */
	double plain[5];
	bool have_cx_right;
	double cx_right;
	double width, height;
	const char *pair; /* pair of the file that was used, for messages; NULL: the file has one pair */
	bool other_pair;  /* the images come from another pair, which is not in the file */
	/*
	 * Distance, px, by which the right principal point lies further right, in images that are otherwise
	 * rectified.
	 */
	double offset_px;
	/*
	 * Raw cameras: camera[0] is the left one, or the only one of a file of one camera. cameras: 0, 1 or
	 * 2.
	 */
	int cameras;
	struct sx_calibration_camera camera[2];
	const char *pose_name; /* name of the pose between the cameras in the file, for messages */
	bool have_r, have_t;
	double r[9], t[3]; /* r x + t: point x of the left camera in the axes of the right camera */
	bool pose;	   /* file of one camera: t_bs is its pose on the body, 4x4, row by row */
	double t_bs[16];
	char file
		[2]
		[64]; /* the cameras are in these files, named from the folder of this file; "": in this file */
	/* First fault of the raw cameras. It is reported only if they are needed. "": none. */
	struct sx_why fault;
};

void sx_calibration_name(char to[SX_CALIBRATION_NAME_BYTES], const char *whose, const char *name);
/* Writes a message and returns -EINVAL. */
int sx_calibration_refuse(struct sx_why *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Read a whole file. text: its content, with a final 0, without a byte order mark. Return 0; -EINVAL with a
 * message in why, without the file's name; -ENOTSUP: this build cannot read the format.
 */
int sx_calibration_yaml(struct sx_calibration_raw *ret, const char *text, struct sx_why *why);
int sx_calibration_xml(struct sx_calibration_raw *ret, const char *text, struct sx_why *why);
/* Reads a format of lines. 1: read; 0: the text has no known content; -EINVAL with a message. */
int sx_calibration_text(struct sx_calibration_raw *ret, const char *text,
			const struct sx_calibration_wish *wish, struct sx_why *why);
/*
 * Return the name of a foreign file format and advice for the user; NULL: no such format. Binary files are
 * recognised by their first bytes, or by the end of the path if data is NULL because the file is too long to
 * be read.
 */
const char *sx_calibration_foreign_binary(const char *path, const char *data, size_t bytes);
const char *sx_calibration_foreign_text(const char *text);
/* Returns true if the text looks like YAML or JSON. */
bool sx_calibration_is_yaml(const char *text);

/* Computes r and t of raw from the poses of both cameras on the body: raw->t_bs (left) and `right`. */
int sx_calibration_between(struct sx_calibration_raw *raw, const double right[16], struct sx_why *why);

/*
 * Takes fx .. baseline_m of rectified images from raw into c, after checking the values of raw against each
 * other. Returns 1: done; 0: raw has no projection; -EINVAL with a message. Divides the projections in raw by
 * their [2][2].
 */
int sx_calibration_project(struct sx_calibration *c, struct sx_calibration_raw *raw,
			   const struct sx_calibration_wish *wish, struct sx_why *why);
/* Checks that the numbers of a camera are plausible. Returns 0, or -EINVAL with a message. */
int sx_calibration_check_camera(const struct sx_calibration *c, struct sx_why *why);
/*
 * Check within 1 % that projections (p) and Q (q) agree, and that T agrees, and R1, R2 and R. Return 0, or
 * -EINVAL with a message.
 */
int sx_calibration_agree_q(const struct sx_calibration *p, const struct sx_calibration *q,
			   const struct sx_calibration_raw *raw, const struct sx_calibration_wish *wish,
			   struct sx_why *why);
int sx_calibration_agree(const struct sx_calibration *c, const struct sx_calibration_raw *raw,
			 const struct sx_calibration_wish *wish, struct sx_why *why);

/*
 * Sets lens, d and have_d of a camera from `count` coefficients d and the name of the lens model. model NULL
 * or "": the file has no name, as with OpenCV, and count selects the model. Returns 0, or -EINVAL with a
 * message.
 */
int sx_calibration_lens(struct sx_calibration_camera *camera, const char *model, const double *d, int count,
			struct sx_why *why);

/*
 * Decides whether the images are raw, and sets c->rectify and c->rig if they must be rectified. projected: fx
 * .. and baseline_m (0: not known) of c come from the file; otherwise this function sets them. Returns 0, or
 * -EINVAL with a message.
 */
int sx_calibration_rectify(struct sx_calibration *c, const struct sx_calibration_raw *raw, bool projected,
			   const struct sx_calibration_wish *wish, struct sx_why *why);

#endif
