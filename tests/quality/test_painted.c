/*
 * Tests scores of painted stixels on cases small enough to count by hand, and the noisy class scores.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/why.h"
#include "tests/quality/painted.h"
#include "tests/quality/persons.h"

#define W 8
#define H 20

struct fixture {
	float disparity[W * H];
	uint8_t kind[W * H], label[W * H];
	struct sx_scene_truth t;
	struct stixel stixels[6];
	uint32_t offsets[3];
	struct stixel_list list;
};

/*
 * Two columns of 4 px: road with 40 px at the bottom and 2 px less each row, an object (car) at 20 px, sky.
 * The stixels equal the truth.
 */
static void init(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	for (int i = 0; i < W * H; i++) {
		int y = i / W;

		f->kind[i] = y >= 10 ? STIXEL_GROUND : y >= 5 ? STIXEL_OBJECT : STIXEL_SKY;
		f->label[i] = y >= 10 ? 0 : y >= 5 ? 13 : 10;
		f->disparity[i] = y >= 10 ? 40 - 2 * (float)(H - 1 - y) : y >= 5 ? 20 : 0;
	}
	f->t = (struct sx_scene_truth){
		.width = W, .height = H, .disparity = f->disparity, .kind = f->kind, .label = f->label};
	for (int u = 0; u < 2; u++) {
		struct stixel *s = &f->stixels[3 * u];

		s[0] = (struct stixel){.column = (uint16_t)u,
				       .row_top = 10,
				       .row_bottom = H - 1,
				       .kind = STIXEL_GROUND,
				       .disparity_q7 = 40 * 128,
				       .slope_q14 = -32768};
		s[1] = (struct stixel){.column = (uint16_t)u,
				       .row_top = 5,
				       .row_bottom = 9,
				       .kind = STIXEL_OBJECT,
				       .label = 13,
				       .disparity_q7 = 20 * 128};
		s[2] = (struct stixel){
			.column = (uint16_t)u, .row_bottom = 4, .kind = STIXEL_SKY, .label = 10};
		f->offsets[u + 1] = 3 * (uint32_t)u + 3;
	}
	f->list = (struct stixel_list){f->stixels, f->offsets};
}

static struct painted_score score(const struct fixture *f)
{
	struct painted_score s = {0};

	score_painted(&s, &f->t, 4, 0, 1, &f->list);
	return s;
}

static void test_truth_is_right(void **state)
{
	struct fixture f;
	struct painted_score s;

	init(&f);
	s = score(&f);
	for (int k = 0; k < QUALITY_KINDS; k++) {
		assert_int_equal(s.truth[k], k ? 40 : 80);
		assert_int_equal(s.wrong[k], 0);
		assert_int_equal(s.called[k][k], s.truth[k]);
	}
}

static void test_each_fault_counts_once(void **state)
{
	struct fixture f;
	struct painted_score s;

	init(&f);
	f.stixels[0].slope_q14 = 0;	      /* 40 px everywhere: only the lowest two rows are within 3 px */
	f.stixels[1].disparity_q7 = 24 * 128; /* 4 px off */
	f.stixels[2].kind = STIXEL_OBJECT;
	f.stixels[2].disparity_q7 = 3 * 128; /* called an object, but its disparity is near enough to 0 */
	f.stixels[4].kind = STIXEL_UNKNOWN;
	f.stixels[5].row_top = 1; /* a row without a stixel is not scored */
	s = score(&f);
	assert_int_equal(s.wrong[STIXEL_GROUND], 8 * 4);
	assert_int_equal(s.wrong[STIXEL_OBJECT], 5 * 4 + 5 * 4);
	assert_int_equal(s.wrong[STIXEL_SKY], 0);
	assert_int_equal(s.truth[STIXEL_SKY], 36);
	assert_int_equal(s.called[STIXEL_OBJECT][STIXEL_OBJECT], 20);
	assert_int_equal(s.called[STIXEL_SKY][STIXEL_OBJECT], 20);
	assert_int_equal(s.called[STIXEL_SKY][STIXEL_SKY], 16);
}

static void test_labels_are_counted(void **state)
{
	struct label_score stixels = {0}, input = {0};
	struct noisy_scores n;
	struct fixture f;

	init(&f);
	assert_int_equal(noisy_scores_init(&n, W, H), 0);
	/* the input has road everywhere, because equal scores give the first class */
	f.stixels[1].label = 2; /* building: wrong class, right kind */
	score_labels(&stixels, &input, &f.t, 4, 0, 1, &f.list, &n.scores);
	assert_true(class_score_iou(&stixels.kinds) == 1);
	/* intersection over union: car 1/2, road and sky 1 */
	assert_float_equal(class_score_iou(&stixels.classes), 2.5 / 3, 1e-12);
	/* intersection over union: road 80 of 160 */
	assert_float_equal(class_score_iou(&input.classes), 0.5 / 3, 1e-12);
	assert_float_equal(class_score_iou(&input.kinds), 0.5 / 3, 1e-12);
	noisy_scores_finish(&n);
}

/* Scores of whole areas are wrong together: where a pixel is wrong, the one 8 px beside it mostly is, too. */
static void test_areas_are_wrong_together(void **state)
{
	struct sx_scene_params p = {"street", 2, 640, 240};
	long wrong = 0, both = 0, other = 0, pixels = p.width * p.height;
	struct noisy_scores n;
	struct sx_scene_truth t;
	struct sx_scene *scene;
	struct sx_why why;

	assert_int_equal(sx_scene_create(&scene, &p, &why), 0);
	assert_int_equal(sx_scene_truth_init(&t, scene), 0);
	assert_int_equal(noisy_scores_init(&n, p.width, p.height), 0);
	sx_scene_truth(scene, 3, &t);
	noisy_scores_make(&n, QUALITY_AREAS, &t, 7);
	for (int i = 0; i < pixels; i++) {
		const uint8_t *at = n.data + i;
		int total = 0;

		for (int k = 0; k < QUALITY_CLASSES; k++) {
			total += at[(size_t)k * n.scores.plane_bytes];
			assert_true(at[(size_t)k * n.scores.plane_bytes] <=
				    at[n.label[i] * n.scores.plane_bytes]);
		}
		assert_true(total > 255 - 2 * QUALITY_CLASSES && total <= 255);
		if (n.label[i] == t.label[i])
			continue;
		wrong++;
		other += class_kind(n.label[i]) != class_kind(t.label[i]);
		both += i % p.width >= 8 && n.label[i - 8] != t.label[i - 8];
	}
	assert_true(wrong > pixels / 10 && wrong < pixels / 3);
	assert_true(other > wrong / 10 && other < wrong / 2);
	assert_true(both > 7 * wrong / 10);
	noisy_scores_finish(&n);
	sx_scene_truth_finish(&t);
	sx_scene_destroy(scene);
}

static void test_persons(void **state)
{
	struct person_score s = {0};
	uint16_t object[W * H] = {0};
	struct fixture f;

	init(&f);
	f.t.object = object;
	f.t.camera.fx = 20 * 30;
	f.t.camera.baseline_m = 1; /* 30 m away */
	for (int i = 0; i < W * H; i++)
		if (f.kind[i] == STIXEL_OBJECT) {
			f.label[i] = 11;
			object[i] = 3;
		}
	for (int gone = 0; gone < 4; gone++) {
		if (gone == 1)
			f.stixels[1].label = 11;
		if (gone == 2)
			f.stixels[1].disparity_q7 = 24 * 128; /* half of the pixels are covered, no more */
		if (gone == 3)
			f.stixels[4].kind = STIXEL_GROUND;
		assert_int_equal(score_persons(&s, &f.t, 4, 0, 1, &f.list), 0);
		assert_int_equal(s.asked[2], gone + 1);
		assert_int_equal(s.detected[2], gone < 2 ? gone + 1 : 2);
		assert_int_equal(s.touched[2], gone < 3 ? gone + 1 : 3);
		assert_int_equal(s.named[2], 0); /* one column of two is not more than half */
	}
	f.stixels[4].label = 11;
	assert_int_equal(score_persons(&s, &f.t, 4, 0, 1, &f.list), 0);
	assert_int_equal(s.named[2], 1);
	assert_int_equal(score_persons(&s, &f.t, 4, 0, 0, &f.list), 0); /* 20 pixels are too few */
	assert_int_equal(s.asked[0] + s.asked[1] + s.asked[2] + s.asked[3], 5);
	assert_true(judge_persons(&s, 40) && !judge_persons(&s, 41));
}

/*
 * Scores are mostly right, with wrong places, have the stated certainty, and are the same for the same seed.
 */
static void test_noise_is_noise(void **state)
{
	struct sx_scene_params p = {"street", 2, 320, 160};
	struct noisy_scores n;
	struct sx_scene_truth t;
	struct sx_scene *scene;
	long wrong = 0, sure = 0, same = 0;
	uint8_t first[320];
	struct sx_why why;

	assert_int_equal(sx_scene_create(&scene, &p, &why), 0);
	assert_int_equal(sx_scene_truth_init(&t, scene), 0);
	assert_int_equal(noisy_scores_init(&n, p.width, p.height), 0);
	sx_scene_truth(scene, 3, &t);
	noisy_scores_make(&n, QUALITY_PATCHES, &t, 7);
	for (int i = 0; i < p.width * p.height; i++) {
		int total = 0, most = 0;

		for (int k = 0; k < QUALITY_CLASSES; k++) {
			int v = n.data[(size_t)k * n.scores.plane_bytes + (size_t)i];

			total += v;
			most = v > most ? v : most;
		}
		assert_true(total > 255 - QUALITY_CLASSES && total <= 255);
		assert_true(most >= 101 && most <= 230);
		sure += most;
		wrong += n.label[i] != t.label[i];
	}
	assert_true(wrong > p.width * p.height / 30 && wrong < p.width * p.height / 5);
	assert_true(sure / (p.width * p.height) > 140 && sure / (p.width * p.height) < 190);
	memcpy(first, n.label + 40 * 320, sizeof(first));
	noisy_scores_make(&n, QUALITY_PATCHES, &t, 7);
	assert_memory_equal(first, n.label + 40 * 320, sizeof(first));
	noisy_scores_make(&n, QUALITY_PATCHES, &t, 8);
	for (int x = 0; x < 320; x++)
		same += first[x] == n.label[40 * 320 + x];
	assert_true(same < 320);
	noisy_scores_finish(&n);
	sx_scene_truth_finish(&t);
	sx_scene_destroy(scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truth_is_right),
		cmocka_unit_test(test_each_fault_counts_once),
		cmocka_unit_test(test_labels_are_counted),
		cmocka_unit_test(test_noise_is_noise),
		cmocka_unit_test(test_areas_are_wrong_together),
		cmocka_unit_test(test_persons),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
