/*
 * stixel-process: table of the things that move, see process_objects.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/process/process_objects.h"

#define AHEAD_S 0.5 /* the table says where things will be then */

void process_objects_write(const struct sx_motion_objects *os, FILE *f)
{
	fputs("object,state,x,y,z,pxx,pxz,pzz,vx,vz,sxx,sxz,szz,width,height,left,right,top,bottom,age,unseen,"
	      "stixels,ahead_x,ahead_z,axx,axz,azz\n",
	      f);
	for (uint32_t i = 0; i < os->count; i++) {
		const struct sx_motion_object *o = &os->objects[i];
		const struct sx_motion_estimate *e = &o->estimate;
		const struct stixel_place place = {o->x, o->z, o->pxx, o->pxz, o->pzz};
		const struct stixel_velocity v = sx_motion_velocity_of(e);
		struct stixel_place a;

		if (!o->shown)
			continue;
		a = stixel_place_after(&place, &v, AHEAD_S);
		fprintf(f, "%u,%u,%.3f,%.3f,%.3f,%.4f,%.4f,%.4f,%.3f,%.3f,%.4f,%.4f,%.4f,%.2f,%.2f,", o->id,
			o->state, o->x, o->y, o->z, o->pxx, o->pxz, o->pzz, e->vx, e->vz, e->sxx, e->sxz,
			e->szz, o->width, o->height);
		fprintf(f, "%d,%d,%d,%d,%.2f,%.2f,%u,%.3f,%.3f,%.4f,%.4f,%.4f\n", o->left, o->right, o->top,
			o->bottom, o->age, o->unseen, o->stixels, a.x, a.z, a.sxx, a.sxz, a.szz);
	}
}
