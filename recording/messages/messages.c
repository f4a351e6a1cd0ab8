/*
 * Makes messages of a frame. Keeps all memory from frame to frame.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recording/messages/messages.h"

#include <errno.h>
#include <foxglove/FrameTransform.pb-c.h>
#include <foxglove/LaserScan.pb-c.h>
#include <foxglove/PointCloud.pb-c.h>
#include <foxglove/SceneUpdate.pb-c.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <stixel/Frame.pb-c.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "include/stixel_convert.h"
#include "recording/messages/moving.h"
#include "recording/messages/parts.h"
#include "recording/messages/scale.h"
#include "recording/messages/scene.h"

/* Made by recording/messages/proto/embed.py. */
extern const unsigned char sx_schema_FrameTransform[], sx_schema_PointCloud[], sx_schema_SceneUpdate[],
	sx_schema_Frame[], sx_schema_LaserScan[];
extern const size_t sx_schema_FrameTransform_bytes, sx_schema_PointCloud_bytes, sx_schema_SceneUpdate_bytes,
	sx_schema_Frame_bytes, sx_schema_LaserScan_bytes;

enum { QUAD_POINTS = 4, QUAD_INDICES = 6 };

struct sx_messages {
	char camera_id[96], road_id[96];
	struct stixel_frame frame;
	/* last calibration that had to be sent: sx_calibration_due() */
	struct stixel_frame_header calibration;
	struct sx_scale scale; /* colours of distances */
	/* names of the classes, each with its zero byte */
	char names[SX_MESSAGES_CLASSES];
	char *classes[STIXEL_CLASSES_MAX];
	size_t class_count;
	struct sx_scene scene;
	struct sx_moving moving;
	bool scene_filled;     /* the scene was filled from this frame */
	struct sx_bytes bytes; /* bytes of the last message, or of the last description */
	/* pools for this number of stixels */
	size_t stixels;
	Stixel__Stixel *stixel, **stixel_list;
	Foxglove__CubePrimitive *cube, **cube_list;
	Foxglove__Pose *pose;
	Foxglove__Vector3 *vector; /* two for each stixel */
	Foxglove__Color *colour;
	Foxglove__Point3 *point, **point_list; /* four for each stixel */
	uint32_t *indices;		       /* six for each stixel */
	/* pools for this number of angles of the scan */
	uint32_t angles;
	float *ranges;
	double *ranges_m;
	/* pools for this number of columns */
	size_t columns;
	struct stixel_free_column *space;
	Stixel__Free *free, **free_list;
};

/* Forgets the last message, and a failed allocation. */
static void begin_bytes(struct sx_messages *m)
{
	m->bytes.count = 0;
	m->bytes.failed = false;
}

static void describe_own(const char **schema, const void **at, size_t *bytes, enum stixel_message_kind kind)
{
	const struct {
		const char *schema;
		const void *at;
		size_t bytes;
	} own[] = {
		[STIXEL_MESSAGE_FRAME] = {"stixel.Frame", sx_schema_Frame, sx_schema_Frame_bytes},
		[STIXEL_MESSAGE_SCENE] = {"foxglove.SceneUpdate", sx_schema_SceneUpdate,
					  sx_schema_SceneUpdate_bytes},
		[STIXEL_MESSAGE_POINTS] = {"foxglove.PointCloud", sx_schema_PointCloud,
					   sx_schema_PointCloud_bytes},
		[STIXEL_MESSAGE_TRANSFORM] = {"foxglove.FrameTransform", sx_schema_FrameTransform,
					      sx_schema_FrameTransform_bytes},
		[STIXEL_MESSAGE_SCAN] = {"foxglove.LaserScan", sx_schema_LaserScan,
					 sx_schema_LaserScan_bytes},
	};

	*schema = own[kind].schema, *at = own[kind].at, *bytes = own[kind].bytes;
}

int sx_messages_topic(struct sx_messages *m, enum stixel_message_kind kind,
		      struct stixel_message_topic *topic)
{
	static const enum sx_recording_schema recorded[SX_MESSAGE_KINDS] = {
		[STIXEL_MESSAGE_CALIBRATION] = SX_SCHEMA_CALIBRATION,
		[STIXEL_MESSAGE_CALIBRATION_RIGHT] = SX_SCHEMA_CALIBRATION,
		[STIXEL_MESSAGE_LEFT] = SX_SCHEMA_IMAGE,
		[STIXEL_MESSAGE_RIGHT] = SX_SCHEMA_IMAGE,
		[STIXEL_MESSAGE_DISPARITY] = SX_SCHEMA_IMAGE,
		[STIXEL_MESSAGE_EVENTS] = SX_SCHEMA_EVENT,
		[STIXEL_MESSAGE_STIXEL] = SX_SCHEMA_BYTES,
	};
	size_t bytes;

	*topic = (struct stixel_message_topic){.name = sx_topic_name(kind), .encoding = "protobuf"};
	if (kind <= STIXEL_MESSAGE_TRANSFORM || kind == STIXEL_MESSAGE_SCAN) {
		describe_own(&topic->schema, &topic->descriptor, &bytes, kind);
		topic->descriptor_bytes = bytes;
		return 0;
	}
	topic->schema = sx_recording_schema_name(recorded[kind]);
	topic->encoding = sx_recording_schema_encoding(recorded[kind]);
	begin_bytes(m);
	sx_recording_schema_describe(&m->bytes, recorded[kind]);
	topic->descriptor = m->bytes.at;
	topic->descriptor_bytes = m->bytes.count;
	return m->bytes.failed ? -ENOMEM : 0;
}

int sx_messages_create(struct sx_messages **ret, const char *instance)
{
	struct sx_messages *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	snprintf(m->camera_id, sizeof(m->camera_id), "%s/camera", instance);
	snprintf(m->road_id, sizeof(m->road_id), "%s/road", instance);
	*ret = m;
	return 0;
}

static void free_pools(struct sx_messages *m)
{
	free(m->stixel);
	free(m->stixel_list);
	free(m->cube);
	free(m->cube_list);
	free(m->pose);
	free(m->vector);
	free(m->colour);
	free(m->point);
	free(m->point_list);
	free(m->indices);
}

static void free_columns(struct sx_messages *m)
{
	free(m->space);
	free(m->free);
	free(m->free_list);
}

static void free_angles(struct sx_messages *m)
{
	free(m->ranges);
	free(m->ranges_m);
}

void sx_messages_destroy(struct sx_messages *m)
{
	if (!m)
		return;
	free_pools(m);
	free_columns(m);
	free_angles(m);
	sx_scene_finish(&m->scene);
	sx_moving_finish(&m->moving);
	sx_bytes_free(&m->bytes);
	free(m);
}

/* Grows the pools for n stixels. Each frame fills them again, so nothing is copied. */
static int reserve(struct sx_messages *m, size_t n)
{
	if (n <= m->stixels)
		return 0;
	free_pools(m);
	m->stixels = 0;
	m->stixel = calloc(n, sizeof(*m->stixel));
	m->stixel_list = calloc(n, sizeof(*m->stixel_list));
	m->cube = calloc(n, sizeof(*m->cube));
	m->cube_list = calloc(n, sizeof(*m->cube_list));
	m->pose = calloc(n, sizeof(*m->pose));
	m->vector = calloc(2 * n, sizeof(*m->vector));
	m->colour = calloc(n, sizeof(*m->colour));
	m->point = calloc(QUAD_POINTS * n, sizeof(*m->point));
	m->point_list = calloc(QUAD_POINTS * n, sizeof(*m->point_list));
	m->indices = calloc(QUAD_INDICES * n, sizeof(*m->indices));
	if (!m->stixel || !m->stixel_list || !m->cube || !m->cube_list || !m->pose || !m->vector ||
	    !m->colour || !m->point || !m->point_list || !m->indices)
		return -ENOMEM;
	m->stixels = n;
	return 0;
}

static int reserve_columns(struct sx_messages *m, size_t n)
{
	if (n <= m->columns)
		return 0;
	free_columns(m);
	m->columns = 0;
	m->space = calloc(n, sizeof(*m->space));
	m->free = calloc(n, sizeof(*m->free));
	m->free_list = calloc(n, sizeof(*m->free_list));
	if (!m->space || !m->free || !m->free_list)
		return -ENOMEM;
	m->columns = n;
	return 0;
}

static int reserve_angles(struct sx_messages *m, uint32_t n)
{
	if (n <= m->angles)
		return 0;
	free_angles(m);
	m->angles = 0;
	m->ranges = calloc(n, sizeof(*m->ranges));
	m->ranges_m = calloc(n, sizeof(*m->ranges_m));
	if (!m->ranges || !m->ranges_m)
		return -ENOMEM;
	m->angles = n;
	return 0;
}

int sx_messages_frame(struct sx_messages *m, const struct stixel_frame *frame)
{
	m->frame = *frame;
	m->scene_filled = false;
	sx_scale_frame(&m->scale, frame->header, frame->stixels);
	return sx_calibration_due(&m->calibration, frame->header);
}

void sx_messages_classes(struct sx_messages *m, const char *names)
{
	char *at = m->names;

	sx_must(strlen(names), <, sizeof(m->names));
	memcpy(m->names, names, strlen(names) + 1);
	m->class_count = 0;
	while (*(at += strspn(at, " ")) && m->class_count < STIXEL_CLASSES_MAX) {
		m->classes[m->class_count++] = at;
		at += strcspn(at, " ");
		if (*at)
			*at++ = 0;
	}
}

void sx_messages_scale(struct sx_messages *m, double near_m, double far_m)
{
	sx_scale_give(&m->scale, near_m, far_m);
	m->scene_filled = false;
}

bool sx_messages_colours(const struct sx_messages *m, const double *distances_m, uint64_t count,
			 struct sx_rgb *to)
{
	if (!(m->scale.focal_baseline > 0.0))
		return false;
	for (uint64_t i = 0; i < count; i++)
		to[i] = sx_palette_distance(&m->scale.range, m->scale.focal_baseline / distances_m[i]);
	return true;
}

/* ---- packing ---- */

/* Returns 1, with the message in m->bytes; -ENOMEM. */
static int made(const struct sx_messages *m, struct stixel_message *to)
{
	to->head = m->bytes.at;
	to->head_bytes = m->bytes.count;
	return m->bytes.failed ? -ENOMEM : 1;
}

static int pack(struct sx_messages *m, const ProtobufCMessage *message, struct stixel_message *to)
{
	uint8_t *at;

	begin_bytes(m);
	at = sx_bytes_grow(&m->bytes, protobuf_c_message_get_packed_size(message));
	if (at)
		protobuf_c_message_pack(message, at);
	return made(m, to);
}

static Google__Protobuf__Timestamp stamp(const struct stixel_frame_header *h)
{
	Google__Protobuf__Timestamp t = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
	int64_t ns = sx_recorded_realtime_ns(h, h->capture_left_ns);

	t.seconds = ns / SX_NS_PER_S;
	t.nanos = (int32_t)(ns % SX_NS_PER_S);
	if (t.nanos < 0) {
		t.nanos += (int32_t)SX_NS_PER_S;
		t.seconds--;
	}
	return t;
}

static void fill_stixels(struct sx_messages *m)
{
	const struct stixel_frame_header *h = m->frame.header;

	for (uint32_t i = 0; i < h->stixel_count; i++) {
		const struct stixel *s = &m->frame.stixels[i];
		Stixel__Stixel *to = &m->stixel[i];
		bool known = s->disparity_q7 != STIXEL_DISPARITY_UNKNOWN;

		stixel__stixel__init(to);
		to->column = s->column;
		to->row_top = s->row_top;
		to->row_bottom = s->row_bottom;
		to->kind = (Stixel__Kind)s->kind;
		to->disparity_px = known ? (float)stixel_disparity_px(s) : -1.0f;
		to->slope = (float)s->slope_q14 / 16384.0f;
		to->depth_m = (float)stixel_depth_m(h, s);
		to->support = s->support;
		to->confidence = s->confidence;
		to->label = s->label;
		to->flags = s->flags;
		m->stixel_list[i] = to;
	}
}

static void fill_free(struct sx_messages *m)
{
	const uint32_t columns = m->frame.header->columns;

	stixel_free_space(&m->frame, NULL, 0, m->space, columns);
	for (uint32_t u = 0; u < columns; u++) {
		stixel__free__init(&m->free[u]);
		m->free[u].from_m = m->space[u].from_m;
		m->free[u].to_m = m->space[u].to_m;
		m->free[u].end = (Stixel__FreeEnd)m->space[u].end;
		m->free_list[u] = &m->free[u];
	}
}

static int pack_frame(struct sx_messages *m, struct stixel_message *to)
{
	const struct stixel_frame_header *h = m->frame.header;
	const struct stixel_ground ground = stixel_ground_of(h);
	Stixel__Stage stage[STIXEL_STAGES], *stages[STIXEL_STAGES];
	Stixel__Camera camera = STIXEL__CAMERA__INIT;
	Stixel__Frame f = STIXEL__FRAME__INIT;
	Stixel__Road road = STIXEL__ROAD__INIT;

	if (reserve(m, h->stixel_count) < 0 || reserve_columns(m, h->columns) < 0)
		return -ENOMEM;
	camera.fx = h->fx, camera.fy = h->fy, camera.cx = h->cx, camera.cy = h->cy;
	camera.baseline_m = h->baseline_m;
	road.origin = (Stixel__RoadOrigin)h->road_origin;
	road.slope = ground.slope, road.offset = ground.offset, road.cross = ground.cross;
	road.axis = ground.axis, road.bend = ground.bend, road.bend_row = ground.bend_row;
	road.roll_rad = ground.roll_rad, road.pitch_sigma_rad = ground.pitch_sigma_rad;
	road.roll_sigma_rad = ground.roll_sigma_rad, road.height_sigma_m = ground.height_sigma_m;
	road.horizon_row = h->horizon_row, road.pitch_rad = h->pitch_rad, road.height_m = h->height_m;
	road.inliers = h->road_inliers, road.age = h->road_age;
	for (unsigned i = 0; i < h->stage_count; i++) {
		stixel__stage__init(&stage[i]);
		stage[i].name = (char *)(uintptr_t)h->stage_name[i];
		stage[i].ns = h->stage_ns[i];
		stages[i] = &stage[i];
	}
	f.epoch = h->epoch, f.number = h->number;
	f.capture_left_ns = h->capture_left_ns, f.capture_right_ns = h->capture_right_ns;
	f.submitted_ns = h->submitted_ns, f.published_ns = h->published_ns;
	f.anchor_monotonic_ns = h->anchor_monotonic_ns, f.anchor_realtime_ns = h->anchor_realtime_ns;
	f.clock = h->clock, f.stamp = h->stamp, f.flags = h->flags;
	f.image_width = h->image_width, f.image_height = h->image_height;
	f.columns = h->columns, f.column_width = h->column_width;
	f.disparities = h->disparities, f.min_disparity = h->min_disparity;
	f.camera = &camera, f.road = &road;
	f.captured = h->captured, f.published = h->published;
	f.dropped_overload = h->dropped_overload, f.dropped_unpaired = h->dropped_unpaired;
	f.dropped_corrupt = h->dropped_corrupt;
	f.n_stages = h->stage_count, f.stages = stages;
	fill_stixels(m);
	f.n_stixels = h->stixel_count, f.stixels = m->stixel_list;
	fill_free(m);
	f.n_free = h->columns, f.free = m->free_list;
	f.n_classes = m->class_count, f.classes = m->classes;
	return pack(m, &f.base, to);
}

/* Fills the scene once per frame. 0; -ENOMEM. */
static int need_scene(struct sx_messages *m)
{
	int r = m->scene_filled ? 0 : sx_scene_fill(&m->scene, &m->frame, &m->scale.range);

	m->scene_filled = r == 0;
	return r;
}

static void fill_cubes(struct sx_messages *m, Foxglove__Quaternion *upright)
{
	for (size_t i = 0; i < m->scene.box_count; i++) {
		const struct sx_scene_box *box = &m->scene.boxes[i];
		Foxglove__Vector3 *centre = &m->vector[2 * i], *size = centre + 1;

		*centre = sx_part_vector(box->centre.x, box->centre.y, box->centre.z);
		*size = sx_part_vector(box->size.x, box->size.y, box->size.z);
		m->pose[i] = sx_part_pose(centre, upright);
		m->colour[i] = sx_part_colour(box->colour, 0.9);
		foxglove__cube_primitive__init(&m->cube[i]);
		m->cube[i].pose = &m->pose[i];
		m->cube[i].size = size;
		m->cube[i].color = &m->colour[i];
		m->cube_list[i] = &m->cube[i];
	}
}

static void fill_quads(struct sx_messages *m)
{
	static const uint32_t order[QUAD_INDICES] = {0, 1, 2, 0, 2, 3};

	for (size_t i = 0; i < m->scene.quad_count; i++) {
		for (size_t k = 0; k < QUAD_POINTS; k++) {
			const struct sx_scene_point *p = &m->scene.quads[i].corner[k];
			Foxglove__Point3 *to = &m->point[QUAD_POINTS * i + k];

			foxglove__point3__init(to);
			to->x = sx_scene_rounded(p->x), to->y = sx_scene_rounded(p->y),
			to->z = sx_scene_rounded(p->z);
			m->point_list[QUAD_POINTS * i + k] = to;
		}
		for (size_t k = 0; k < QUAD_INDICES; k++)
			m->indices[QUAD_INDICES * i + k] = (uint32_t)(QUAD_POINTS * i) + order[k];
	}
}

static int pack_scene(struct sx_messages *m, struct stixel_message *to)
{
	Google__Protobuf__Timestamp time = stamp(m->frame.header);
	Foxglove__Quaternion upright = FOXGLOVE__QUATERNION__INIT;
	Foxglove__Vector3 zero = FOXGLOVE__VECTOR3__INIT;
	Foxglove__Pose here = sx_part_pose(&zero, &upright);
	Foxglove__Color green = sx_part_colour(sx_palette_class(STIXEL_GROUND), 0.5);
	Foxglove__TriangleListPrimitive ground = FOXGLOVE__TRIANGLE_LIST_PRIMITIVE__INIT,
					*grounds[] = {&ground};
	Foxglove__SceneEntity entity = FOXGLOVE__SCENE_ENTITY__INIT, moving = FOXGLOVE__SCENE_ENTITY__INIT;
	Foxglove__SceneEntity *entities[] = {&entity, &moving};
	Foxglove__SceneUpdate update = FOXGLOVE__SCENE_UPDATE__INIT;
	char id[] = "stixels";

	if (reserve(m, m->frame.header->stixel_count) < 0 || need_scene(m) < 0)
		return -ENOMEM;
	upright.w = 1.0;
	fill_cubes(m, &upright);
	fill_quads(m);
	ground.pose = &here, ground.color = &green;
	ground.n_points = QUAD_POINTS * m->scene.quad_count, ground.points = m->point_list;
	ground.n_indices = QUAD_INDICES * m->scene.quad_count, ground.indices = m->indices;
	entity.timestamp = &time;
	entity.frame_id = m->camera_id;
	entity.id = id; /* replaces the entities of the previous frame */
	entity.n_cubes = m->scene.box_count, entity.cubes = m->cube_list;
	entity.n_triangles = m->scene.quad_count > 0, entity.triangles = grounds;
	moving.timestamp = &time;
	moving.frame_id = m->camera_id;
	if (sx_moving_fill(&m->moving, &m->frame, &moving) < 0)
		return -ENOMEM;
	update.n_entities = 2, update.entities = entities;
	return pack(m, &update.base, to);
}

static int pack_points(struct sx_messages *m, struct stixel_message *to)
{
	static const struct {
		const char *name;
		uint32_t offset;
		Foxglove__PackedElementField__NumericType type;
	} fields[] = {
		{"x", 0, FOXGLOVE__PACKED_ELEMENT_FIELD__NUMERIC_TYPE__FLOAT32},
		{"y", 4, FOXGLOVE__PACKED_ELEMENT_FIELD__NUMERIC_TYPE__FLOAT32},
		{"z", 8, FOXGLOVE__PACKED_ELEMENT_FIELD__NUMERIC_TYPE__FLOAT32},
		{"red", 12, FOXGLOVE__PACKED_ELEMENT_FIELD__NUMERIC_TYPE__UINT8},
		{"green", 13, FOXGLOVE__PACKED_ELEMENT_FIELD__NUMERIC_TYPE__UINT8},
		{"blue", 14, FOXGLOVE__PACKED_ELEMENT_FIELD__NUMERIC_TYPE__UINT8},
		{"alpha", 15, FOXGLOVE__PACKED_ELEMENT_FIELD__NUMERIC_TYPE__UINT8},
	};
	enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };
	Foxglove__PackedElementField field[FIELDS], *list[FIELDS];
	Google__Protobuf__Timestamp time = stamp(m->frame.header);
	Foxglove__Quaternion upright = FOXGLOVE__QUATERNION__INIT;
	Foxglove__Vector3 zero = FOXGLOVE__VECTOR3__INIT;
	Foxglove__PointCloud cloud = FOXGLOVE__POINT_CLOUD__INIT;
	Foxglove__Pose here = sx_part_pose(&zero, &upright);

	if (need_scene(m) < 0)
		return -ENOMEM;
	upright.w = 1.0;
	for (int i = 0; i < FIELDS; i++) {
		foxglove__packed_element_field__init(&field[i]);
		field[i].name = (char *)(uintptr_t)fields[i].name;
		field[i].offset = fields[i].offset;
		field[i].type = fields[i].type;
		list[i] = &field[i];
	}
	cloud.timestamp = &time;
	cloud.frame_id = m->camera_id;
	cloud.pose = &here;
	cloud.point_stride = sizeof(*m->scene.dots);
	cloud.n_fields = FIELDS, cloud.fields = list;
	cloud.data.len = m->scene.dot_count * sizeof(*m->scene.dots);
	cloud.data.data = (uint8_t *)m->scene.dots;
	return pack(m, &cloud.base, to);
}

static int pack_transform(struct sx_messages *m, struct stixel_message *to)
{
	Google__Protobuf__Timestamp time = stamp(m->frame.header);
	Foxglove__FrameTransform t = FOXGLOVE__FRAME_TRANSFORM__INIT;
	Foxglove__Quaternion rotation = FOXGLOVE__QUATERNION__INIT;
	Foxglove__Vector3 translation = FOXGLOVE__VECTOR3__INIT;
	double q[4];

	sx_scene_camera_pose(m->frame.header, &translation.z, q);
	rotation.x = q[0], rotation.y = q[1], rotation.z = q[2], rotation.w = q[3];
	t.timestamp = &time;
	t.parent_frame_id = m->road_id, t.child_frame_id = m->camera_id;
	t.translation = &translation, t.rotation = &rotation;
	return pack(m, &t.base, to);
}

/*
 * Packs the scan with the usual options. The scan lies on the road. Packs nothing if the frame has no camera
 * model or no road.
 */
static int pack_scan(struct sx_messages *m, struct stixel_message *to)
{
	Google__Protobuf__Timestamp time = stamp(m->frame.header);
	Foxglove__LaserScan scan = FOXGLOVE__LASER_SCAN__INIT;
	Foxglove__Quaternion upright = FOXGLOVE__QUATERNION__INIT;
	Foxglove__Vector3 zero = FOXGLOVE__VECTOR3__INIT;
	Foxglove__Pose here = FOXGLOVE__POSE__INIT;
	struct stixel_scan_options o;

	if (stixel_scan_defaults(&m->frame, &o, sizeof(o)) != 1 || !o.count)
		return 0;
	if (reserve_angles(m, o.count) < 0)
		return -ENOMEM;
	if (stixel_scan(&m->frame, &o, sizeof(o), m->ranges) != 1)
		return 0;
	for (uint32_t i = 0; i < o.count; i++)
		m->ranges_m[i] = (double)m->ranges[i];
	upright.w = 1.0;
	here.position = &zero, here.orientation = &upright;
	scan.timestamp = &time;
	scan.frame_id = m->road_id;
	scan.pose = &here;
	scan.start_angle = (double)o.angle_min;
	scan.end_angle = (double)o.angle_min + (double)o.angle_increment * (o.count - 1);
	scan.n_ranges = o.count, scan.ranges = m->ranges_m;
	return pack(m, &scan.base, to);
}

/* ---- messages that recordings have as well ---- */

static int make_image(struct sx_messages *m, unsigned plane, struct stixel_message *to)
{
	struct stixel_image image;

	if (!stixel_image(&m->frame, plane, &image))
		return 0;
	begin_bytes(m);
	sx_image_message(&m->bytes, m->frame.header, m->camera_id, &image);
	to->data = image.data;
	to->data_bytes = (uint64_t)image.pitch * image.height;
	return made(m, to);
}

static int make_calibration(struct sx_messages *m, bool right, struct stixel_message *to)
{
	begin_bytes(m);
	sx_calibration_message(&m->bytes, m->frame.header, m->camera_id, right);
	return made(m, to);
}

static int give_bytes(struct sx_messages *m, struct stixel_message *to)
{
	const struct stixel_frame_header *h = m->frame.header;

	to->head = m->frame.bytes;
	to->head_bytes = h->plane_kind ? h->plane_offset : h->frame_bytes;
	return 1;
}

int sx_messages_event(struct sx_messages *m, const struct sx_event *event, struct stixel_message *to)
{
	*to = (struct stixel_message){0};
	begin_bytes(m);
	sx_event_message(&m->bytes, event);
	return made(m, to);
}

int sx_messages_make(struct sx_messages *m, enum stixel_message_kind kind, struct stixel_message *to)
{
	bool camera;

	sx_must_be(m->frame.header);
	camera = sx_scene_has_camera(m->frame.header);
	*to = (struct stixel_message){0};
	switch (kind) {
	case STIXEL_MESSAGE_FRAME:
		return pack_frame(m, to);
	case STIXEL_MESSAGE_SCENE:
		return camera ? pack_scene(m, to) : 0;
	case STIXEL_MESSAGE_POINTS:
		return camera ? pack_points(m, to) : 0;
	case STIXEL_MESSAGE_TRANSFORM:
		return camera ? pack_transform(m, to) : 0;
	case STIXEL_MESSAGE_SCAN:
		return camera ? pack_scan(m, to) : 0;
	case STIXEL_MESSAGE_CALIBRATION:
	case STIXEL_MESSAGE_CALIBRATION_RIGHT:
		return make_calibration(m, kind == STIXEL_MESSAGE_CALIBRATION_RIGHT, to);
	case STIXEL_MESSAGE_LEFT:
		return make_image(m, STIXEL_PLANE_LEFT, to);
	case STIXEL_MESSAGE_RIGHT:
		return make_image(m, STIXEL_PLANE_RIGHT, to);
	case STIXEL_MESSAGE_DISPARITY:
		return make_image(m, STIXEL_PLANE_DISPARITY, to);
	case STIXEL_MESSAGE_STIXEL:
		return give_bytes(m, to);
	case STIXEL_MESSAGE_EVENTS:
		break;
	}
	return 0;
}
