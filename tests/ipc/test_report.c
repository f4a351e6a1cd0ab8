/*
 * Tests the status documents: escaping, unknown metrics, limits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "ipc/http/status.h"
#include "ipc/report.h"

static struct sx_report example(void)
{
	struct sx_report r;

	sx_report_init(&r);
	r.instance = "a\"b\\c\nd\x01";
	r.version = "1";
	r.state = "running";
	r.epoch = UINT64_MAX;
	sx_report_real(&r, SX_METRIC_FPS_10S, INFINITY);
	r.source.cameras = 1;
	r.source.camera[0] = (struct sx_report_camera){
		.side = "both", .path = "x\xff\xc3\xa9", .count = {[SX_CAMERA_ERRORS] = -1}};
	r.spans[0].name = "capture_to_publish";
	r.span_count = 1;
	r.stages[0] = (struct sx_report_latency){
		.name = "sgm",
		.start = {.n = 3, .p50_ns = 1234567, .p90_ns = 2000000, .p99_ns = 1, .max_ns = 1000000007},
		.last_10s = {.n = 1, .p50_ns = 5},
		.sum_ns = 3000000001};
	r.stage_count = 1;
	return r;
}

static void json_escapes_and_nulls(void **state)
{
	struct sx_report r = example();
	char data[8192];
	struct sx_text t;

	sx_text_init(&t, data, sizeof(data));
	sx_report_json(&r, &t);
	assert_false(t.cut);
	assert_non_null(strstr(data, "\"instance\":\"a\\\"b\\\\c\\u000ad\\u0001\""));
	assert_non_null(strstr(data, "\"path\":\"x\\ufffd\xc3\xa9\""));
	assert_non_null(strstr(data, "\"fps\":{\"last_1s\":null,\"last_10s\":null}"));
	assert_non_null(strstr(data, "\"errors\":null"));
	assert_non_null(strstr(data, "\"epoch\":\"ffffffffffffffff\""));
	assert_non_null(strstr(
		data,
		"\"capture_to_publish\":{\"p50\":null,\"p90\":null,\"p99\":null,\"max\":null,\"n\":0}"));
	assert_non_null(strstr(
		data,
		"\"sgm\":{\"p50\":1234.567,\"p90\":2000.000,\"p99\":0.001,\"max\":1000000.007,\"n\":3}"));
	assert_null(strstr(data, ",,"));
	assert_null(strstr(data, "nan"));
}

/* Ten years after the start, metrics that keep growing still show single units. */
static void reals_of_old_age(void **state)
{
	struct sx_report r = example();
	char data[16384];
	struct sx_text t;

	r.power.source[0] = 'x';
	sx_report_real(&r, SX_METRIC_UPTIME, 315576001.25);
	sx_report_real(&r, SX_METRIC_ENERGY_JOULES, 12345678901.5);
	sx_report_real(&r, SX_METRIC_ENERGY_SECONDS, 999999.4);
	sx_report_real(&r, SX_METRIC_POWER_WATTS, 1e300);
	sx_report_count(&r, SX_METRIC_ENERGY_FRAMES, 9467280001);
	sx_text_init(&t, data, sizeof(data));
	sx_report_json(&r, &t);
	assert_non_null(strstr(data, "\"uptime_s\":315576001,"));
	assert_non_null(strstr(data, "{\"joules\":12345678902,\"seconds\":999999,\"frames\":9467280001,"));
	assert_non_null(strstr(data, "\"watts\":1e+300,"));
	sx_text_init(&t, data, sizeof(data));
	sx_report_metrics(&r, &t);
	assert_non_null(strstr(data, "stixeld_uptime_seconds 315576001\n"));
	assert_non_null(strstr(data, "stixeld_energy_joules_total 12345678901.5\n"));
}

/* A document that does not fit is cut between two writes, stays a C string, and is marked, at any size. */
static void every_size(const struct sx_report *r)
{
	char data[16384];
	struct sx_text t;
	size_t whole;

	sx_text_init(&t, data, sizeof(data));
	sx_report_json(r, &t);
	whole = t.used;
	for (size_t bytes = 1; bytes < whole + 8; bytes++) {
		char *exact = malloc(bytes); /* on the heap, so that the sanitizer sees a byte too many */

		assert_non_null(exact);
		sx_text_init(&t, exact, bytes);
		sx_report_json(r, &t);
		assert_int_equal(t.cut, bytes <= whole);
		assert_true(t.used < bytes);
		assert_int_equal(strlen(exact), t.used);
		sx_text_init(&t, exact, bytes);
		sx_report_metrics(r, &t);
		assert_int_equal(strlen(exact), t.used);
		free(exact);
	}
}

static void every_size_is_bounded(void **state)
{
	struct sx_report r = example();

	every_size(&r);
}

/* Counts of each camera's images and of their drops are in both forms, and only if there are cameras. */
static void drops_by_side_and_reason(void **state)
{
	const struct sx_report_camera camera = {
		.path = "/dev/a",
		.format = "YUYV",
		.count = {[SX_CAMERA_CAPTURED] = 100, [SX_CAMERA_ERRORS] = 3, [SX_CAMERA_GAPS] = 2},
		.drops = 2,
		.dropped = {{"short", 3}, {"unpaired", 0}},
		.odds = 2,
		.odd_jpeg = {{"padding", 7}, {"header_bytes", 0}},
	};
	struct sx_report r = example();
	char data[16384];
	struct sx_text t;

	sx_text_init(&t, data, sizeof(data));
	sx_report_json(&r, &t);
	assert_non_null(strstr(data, "\"reconnects\":0}]")); /* no "dropped" */
	assert_non_null(strstr(data, "\"stamp\":null"));
	sx_text_init(&t, data, sizeof(data));
	sx_report_metrics(&r, &t);
	assert_null(strstr(data, "stixeld_camera_dropped"));
	assert_null(strstr(data, "stixeld_camera_odd_jpeg"));

	r.source.cameras = 2;
	r.source.camera[0] = r.source.camera[1] = camera;
	r.source.camera[0].side = "left";
	r.source.camera[1].side = "right";
	r.source.camera[1].dropped[1].images = INT64_MAX;
	r.source.stamp = "end of frame";
	sx_text_init(&t, data, sizeof(data));
	sx_report_json(&r, &t);
	assert_false(t.cut);
	assert_non_null(strstr(data, "\"stamp\":\"end of frame\""));
	assert_non_null(strstr(data, "\"side\":\"left\",\"path\":\"/dev/a\",\"format\":\"YUYV\""));
	assert_non_null(strstr(data, "\"dropped\":{\"short\":3,\"unpaired\":0},"
				     "\"odd_jpeg\":{\"padding\":7,\"header_bytes\":0}}"));
	assert_non_null(strstr(data, "\"dropped\":{\"short\":3,\"unpaired\":9223372036854775807}"));
	sx_text_init(&t, data, sizeof(data));
	sx_report_metrics(&r, &t);
	assert_false(t.cut);
	assert_non_null(strstr(data, "# TYPE stixeld_camera_dropped counter\n"));
	assert_non_null(strstr(data, "stixeld_camera_dropped_total{side=\"left\",reason=\"short\"} 3\n"));
	assert_non_null(strstr(data, "stixeld_camera_dropped_total{side=\"right\",reason=\"unpaired\"} "
				     "9223372036854775807\n"));
	assert_non_null(strstr(data, "# TYPE stixeld_camera_odd_jpeg counter\n"));
	assert_non_null(strstr(data, "stixeld_camera_odd_jpeg_total{side=\"right\",kind=\"padding\"} 7\n"));
	every_size(&r);
}

/* Lists of configuration files and overrides, with quotes and with a text that does not fit. */
static void files_and_overrides(void **state)
{
	static char text[24000];
	const char *overrides[2] = {"source.path=a \"b\"", text};
	struct sx_report r = example();
	static char data[65536];
	struct sx_text t;

	snprintf(r.config.files, sizeof(r.config.files), "/etc/a.conf\n/etc/a.conf.d/b c.conf\n");
	r.config.folder = "/";
	r.config.overrides = overrides;
	r.config.override_count = 2;
	memset(text, 'x', 16000);
	sx_text_init(&t, data, sizeof(data));
	sx_report_json(&r, &t);
	assert_non_null(strstr(data, "\"config\":{\"folder\":\"/\",\"files\":[\"/etc/a.conf\","
				     "\"/etc/a.conf.d/b c.conf\"],\"overrides\":"
				     "[\"source.path=a \\\"b\\\"\",\"xxx"));
	memset(text, 'x', sizeof(text) - 1);
	sx_text_init(&t, data, sizeof(data));
	sx_report_json(&r, &t);
	assert_non_null(strstr(data, "\"overrides\":null}}"));
}

/*
 * Without a sensor no metric is 0. With a sensor every metric is reported. A stale sensor keeps its last
 * measurements.
 */
static void power_and_board(void **state)
{
	struct sx_report r = example();
	char data[16384];
	struct sx_text t;

	sx_text_init(&t, data, sizeof(data));
	sx_report_json(&r, &t);
	assert_non_null(
		strstr(data, "\"power\":{\"source\":null,\"scope\":null,\"device\":null,\"reason\":null,"
			     "\"stale\":false,\"watts\":null,\"watts_10s\":null,\"joules_per_frame\":null,"
			     "\"fps_per_watt\":null,\"age_ms\":null,\"interval_ms\":null,\"since_start\":{"
			     "\"joules\":null,\"seconds\":null,\"frames\":null,\"joules_per_frame\":null}}"));
	assert_non_null(strstr(data, "\"board\":{\"model\":null,\"power_mode\":{\"id\":null,\"name\":null},"
				     "\"governor\":null,\"cpu_hz\":null,"));
	sx_text_init(&t, data, sizeof(data));
	sx_report_metrics(&r, &t);
	assert_null(strstr(data, "power"));
	assert_null(strstr(data, "joules"));
	assert_null(strstr(data, "stixeld_board"));
	assert_null(strstr(data, "stixeld_clock"));

	r.power = (struct sx_report_power){.source = "ina3221",
					   .scope = "sum of 3 rails",
					   .device = "VDD_GPU_SOC, VDD_CPU_CV, VIN_SYS_5V0"};
	sx_report_real(&r, SX_METRIC_POWER_WATTS, 20.5);
	sx_report_real(&r, SX_METRIC_POWER_WATTS_10S, 20);
	sx_report_real(&r, SX_METRIC_POWER_JOULES_PER_FRAME, 0.5);
	sx_report_real(&r, SX_METRIC_POWER_FPS_PER_WATT, 2);
	sx_report_count(&r, SX_METRIC_POWER_AGE, 40);
	sx_report_count(&r, SX_METRIC_POWER_INTERVAL, 100);
	sx_report_real(&r, SX_METRIC_ENERGY_JOULES, 1000);
	sx_report_real(&r, SX_METRIC_ENERGY_SECONDS, 50);
	sx_report_count(&r, SX_METRIC_ENERGY_FRAMES, 1500);
	r.board = (struct sx_report_board){.model = "Jetson \"AGX\"", .mode = "MODE_30W"};
	sx_report_count(&r, SX_METRIC_BOARD_MODE, 2);
	sx_report_count(&r, SX_METRIC_BOARD_CPU, 1728000000);
	sx_report_count(&r, SX_METRIC_BOARD_CPU_MAX, 2000000000);
	sx_report_count(&r, SX_METRIC_BOARD_GPU, 612000000);
	sx_text_init(&t, data, sizeof(data));
	sx_report_json(&r, &t);
	assert_non_null(
		strstr(data, "\"watts\":20.5,\"watts_10s\":20,\"joules_per_frame\":0.5,\"fps_per_watt\":2,"));
	assert_non_null(strstr(
		data, "{\"joules\":1000,\"seconds\":50,\"frames\":1500,\"joules_per_frame\":0.666667}"));
	assert_non_null(strstr(data, "\"power_mode\":{\"id\":2,\"name\":\"MODE_30W\"}"));
	sx_text_init(&t, data, sizeof(data));
	sx_report_metrics(&r, &t);
	assert_non_null(strstr(data, "stixeld_power_watts 20.5\n"));
	assert_non_null(strstr(data, "stixeld_power_age_seconds 0.04\n"));
	assert_non_null(strstr(data, "stixeld_energy_joules_total 1000\n"));
	assert_non_null(strstr(data, "stixeld_energy_frames_total 1500\n"));
	assert_non_null(
		strstr(data, "stixeld_board_info{model=\"Jetson \\\"AGX\\\"\",power_mode=\"MODE_30W\"} 1\n"));
	assert_non_null(strstr(data, "stixeld_clock_hertz{domain=\"gpu\"} 612000000\n"));
	assert_null(strstr(data, "domain=\"memory\""));
	every_size(&r);

	r.power.stale = true;
	for (int i = SX_METRIC_POWER_WATTS; i <= SX_METRIC_POWER_FPS_PER_WATT; i++)
		sx_report_real(&r, (enum sx_metric)i, NAN);
	sx_report_count(&r, SX_METRIC_POWER_AGE, 3200);
	snprintf(r.power.reason, sizeof(r.power.reason), "no reading");
	sx_text_init(&t, data, sizeof(data));
	sx_report_json(&r, &t);
	assert_non_null(strstr(data, "\"reason\":\"no reading\",\"stale\":true,\"watts\":null,"));
	assert_non_null(strstr(data, "\"age_ms\":3200,"));
	sx_text_init(&t, data, sizeof(data));
	sx_report_metrics(&r, &t);
	assert_null(strstr(data, "stixeld_power_watts"));
	assert_non_null(strstr(data, "stixeld_power_age_seconds 3.2\n"));
	assert_non_null(strstr(data, "stixeld_energy_joules_total 1000\n"));
}

static void metrics_leave_out_what_is_unknown(void **state)
{
	struct sx_report r = example();
	char data[8192];
	struct sx_text t;

	sx_text_init(&t, data, sizeof(data));
	sx_report_metrics(&r, &t);
	assert_false(t.cut);
	assert_non_null(strstr(data, "instance=\"a\\\"b\\\\c\\nd"));
	assert_null(strstr(data, "stixeld_frames_per_second"));
	assert_null(strstr(data, "stixeld_camera_errors"));
	assert_null(strstr(data, "nan"));
	assert_non_null(strstr(data, "stixeld_stage_seconds{stage=\"sgm\",quantile=\"0.5\"} 0.000000005\n"));
	assert_non_null(strstr(data, "stixeld_stage_seconds_sum{stage=\"sgm\"} 3.000000001\n"));
	assert_non_null(strstr(data, "stixeld_stage_seconds_count{stage=\"sgm\"} 3\n"));
	assert_string_equal(data + t.used - 6, "# EOF\n");
}

/* Rare members are in both documents if they exist, and in neither if they do not. */
static void what_is_seldom_there(void **state)
{
	struct sx_report r = example();
	char data[16384];
	struct sx_text t;

	snprintf(r.reason, sizeof(r.reason), "no camera");
	snprintf(r.engine.volume, sizeof(r.engine.volume), "on the host");
	snprintf(r.semantics.source, sizeof(r.semantics.source), "shm:a");
	r.semantics.state = "reading";
	r.semantics.class_count = 1;
	snprintf(r.semantics.name[0], sizeof(r.semantics.name[0]), "car\x7f");
	r.semantics.kind[0] = "object";
	r.source.skew = (struct sx_summary){.n = 5, .p99_ns = 2000000};
	r.spans[0].start.n = r.spans[0].last_10s.n = 1;
	r.stages[1] = (struct sx_report_latency){.name = "never"};
	r.stages[2] = (struct sx_report_latency){.name = "census", .start = {.n = 1}};
	r.stage_count = 3;
	snprintf(r.power.source, sizeof(r.power.source), "ina3221"); /* a source without measurements */
	sx_text_init(&t, data, sizeof(data));
	sx_report_json(&r, &t);
	assert_non_null(strstr(data, "\"reason\":\"no camera\""));
	assert_non_null(strstr(data, "\"volume\":\"on the host\""));
	assert_non_null(strstr(data, "\"classes\":[{\"name\":\"car\\u007f\",\"kind\":\"object\"}]"));
	sx_text_init(&t, data, sizeof(data));
	sx_report_metrics(&r, &t);
	assert_non_null(strstr(data, "stixeld_pair_skew_p99_seconds 0.002\n"));
	assert_non_null(strstr(data, "stixeld_stage_seconds_count{stage=\"census\"} 1\n"));
	assert_non_null(strstr(data, "stixeld_capture_to_publish_seconds{quantile=\"0.5\"} 0"));
	assert_null(strstr(data, "never"));
	assert_null(strstr(data, "stixeld_power_age"));
	assert_null(strstr(data, "stixeld_energy"));
	r.source.cameras = 0;
	sx_text_init(&t, data, sizeof(data));
	sx_report_metrics(&r, &t);
	assert_null(strstr(data, "stixeld_camera"));
}

/* Each text is one character, or is no valid UTF-8: then each of its bytes is replaced. */
static void text_is_utf8(void **state)
{
	static const struct {
		const char *text, *json;
	} of[] = {
		{"\xc3\xa9", "\xc3\xa9"},
		{"\xe2\x82\xac", "\xe2\x82\xac"},
		{"\xf0\x9f\x9a\x97", "\xf0\x9f\x9a\x97"},
		{"\xc1\xbf", "\\ufffd\\ufffd"},			      /* overlong form of an ASCII letter */
		{"\xe0\x9f\xbf", "\\ufffd\\ufffd\\ufffd"},	      /* overlong form of three bytes */
		{"\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd"},	      /* half of a surrogate pair */
		{"\xe2\x82z", "\\ufffd\\ufffdz"},		      /* the third byte is missing */
		{"\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"}, /* beyond the last code point */
		{"\xff", "\\ufffd"},
	};
	char data[64], want[64];
	struct sx_text t;

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		sx_text_init(&t, data, sizeof(data));
		sx_json_text(&t, NULL, of[i].text);
		snprintf(want, sizeof(want), "\"%s\"", of[i].json);
		assert_string_equal(data, want);
	}
}

static void sockets_are_checked(void **state)
{
	char path[200], folder[] = "/tmp/stixel-report-XXXXXX";
	struct sx_why why = {""};
	struct sx_status_server *server = NULL;
	struct stat st;
	int fd;

	assert_non_null(mkdtemp(folder));
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	assert_int_equal(sx_status_listen(path, 0600, &why), -ENAMETOOLONG);
	assert_int_equal(sx_status_listen("/nowhere/status.sock", 0600, &why), -ENOENT);
	assert_non_null(strstr(why.text, "/nowhere/status.sock"));

	snprintf(path, sizeof(path), "%s/s", folder);
	fd = sx_status_listen(path, 0640, &why);
	assert_true(fd >= 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(sx_status_start(&server, fd, NULL, 0, NULL, &why), 0);
	sx_status_stop(server);
	sx_status_stop(NULL);

	/* a socket that is not listening is refused and closed */
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(sx_status_start(&server, fd, NULL, 0, NULL, &why), -ENOTSOCK);
	assert_int_equal(close(fd), -1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

static unsigned write_state(void *user, struct sx_text *text)
{
	sx_text_add(text, "state %d", *(int *)user);
	return 200;
}

static void take_order(void *user, struct sx_status_request *o)
{
	*(int *)user = (int)strtol(sx_status_request_body(o), NULL, 10);
	sx_status_request_answer(o, 200, "done");
}

/* Sends a request on a new connection. Returns the answer. */
static const char *ask(const char *path, const char *request)
{
	static char answer[4096];
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	size_t used = 0;
	ssize_t n;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(write(fd, request, strlen(request)), (ssize_t)strlen(request));
	while ((n = read(fd, answer + used, sizeof(answer) - 1 - used)) > 0)
		used += (size_t)n;
	answer[used] = 0;
	close(fd);
	return answer;
}

/* Runs twenty rounds, most of them shorter than the time for which a costly page is reused. */
static void who_has_the_answer_finds_it_in_the_page(void **state)
{
	static const struct sx_status_page pages[] = {{"/s", "text/plain", write_state, take_order, true}};
	char path[64], want[16], post[96], folder[] = "/tmp/stixel-report-XXXXXX";
	struct sx_why why;
	struct sx_status_server *server = NULL;
	int set = 0, fd;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/s", folder);
	fd = sx_status_listen(path, 0600, &why);
	assert_int_equal(sx_status_start(&server, fd, pages, 1, &set, &why), 0);
	for (int i = 10; i < 30; i++) {
		ask(path, "GET /s HTTP/1.0\r\n\r\n");
		snprintf(post, sizeof(post), "POST /s HTTP/1.0\r\nContent-Length: 2\r\n\r\n%d", i);
		assert_non_null(strstr(ask(path, post), "done"));
		snprintf(want, sizeof(want), "state %d", i);
		assert_non_null(strstr(ask(path, "GET /s HTTP/1.0\r\n\r\n"), want));
	}
	sx_status_stop(server);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_escapes_and_nulls),
		cmocka_unit_test(reals_of_old_age),
		cmocka_unit_test(every_size_is_bounded),
		cmocka_unit_test(drops_by_side_and_reason),
		cmocka_unit_test(files_and_overrides),
		cmocka_unit_test(power_and_board),
		cmocka_unit_test(metrics_leave_out_what_is_unknown),
		cmocka_unit_test(what_is_seldom_there),
		cmocka_unit_test(text_is_utf8),
		cmocka_unit_test(sockets_are_checked),
		cmocka_unit_test(who_has_the_answer_finds_it_in_the_page),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
