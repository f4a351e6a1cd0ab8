/*
 * Finds the rails that a board measures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "power/rails.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define CHANNELS 3 /* channels of an INA3221 */
#define FOLDERS 64

/*
 * Boards, recognised by the labels of their rails. The first entry whose labels all exist is taken.
 * docs/use/power.md names the sources.
 */
static const struct whole {
	const char *scope, *labels[SX_RAIL_SUM_MAX];
} wholes[] = {
	/* AGX Thor: an INA238 at the input of the carrier board */
	{"board", {"VIN"}},
	/*
	 * Xavier NX, Orin NX, Orin Nano, TX2, TX1: the input of the module. VDD_MUX of the TX boards belongs
	 * to the carrier board.
	 */
	{"module", {"VDD_IN"}},
	/* Nano */
	{"module", {"POM_5V_IN"}},
	/* AGX Orin. VDDQ_VDD2_1V8AO is fed by VIN_SYS_5V0, so adding it would count it twice. */
	{NULL, {"VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0"}},
	/* AGX Xavier: no rail feeds another one, and no single rail feeds all */
	{NULL, {"GPU", "CPU", "SOC", "CV", "VDDRQ", "SYS5V"}},
	/* AGX Thor, if the carrier board measures nothing */
	{NULL, {"VDD_GPU", "VDD_CPU_SOC_MSS", "VIN_SYS_5V0"}},
};

/* Monitors with one channel that report watts. */
static const char *const single[] = {"ina219", "ina220", "ina226", "ina228", "ina230", "ina231",
				     "ina237", "ina238", "ina260", "ina700", "ina780", "sq52206"};

static bool connected(const char *label)
{
	return *label && strcasecmp(label, "NC") != 0;
}

static struct sx_rail *rails_add(struct sx_rails *rails, const char *label, const char *chip,
				 const char *place)
{
	struct sx_rail *r;

	if (!*label)
		rails->nameless++;
	if (!connected(label) || rails->count == SX_RAILS_MAX)
		return NULL;
	r = &rails->rail[rails->count++];
	*r = (struct sx_rail){.power_per_watt = 1000};
	snprintf(r->label, sizeof(r->label), "%s", label);
	snprintf(r->chip, sizeof(r->chip), "%s", chip);
	snprintf(r->place, sizeof(r->place), "%.31s", place);
	return r;
}

/*
 * Writes bus and address of a monitor, "1-0040". If the tree does not have them, writes the name of the
 * folder.
 */
static void find_place(const char *folder, const char *name, char *to, size_t bytes)
{
	char path[SX_FILE_PATH_BYTES], target[SX_FILE_PATH_BYTES];
	ssize_t n;

	snprintf(to, bytes, "%.31s", name);
	if (!sx_file_path(path, "%s/device", folder))
		return;
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return;
	target[n] = '\0';
	snprintf(to, bytes, "%.31s", basename(target));
}

/* Returns the time of a whole conversion, ms; 0: not known. Reading more often only repeats values. */
static int find_update_ms(const char *folder)
{
	char path[SX_FILE_PATH_BYTES];
	struct sx_why why;
	int64_t ms = 0;

	sx_file_path(path, "%s/update_interval", folder);
	return sx_file_number(path, 0, 60000, &ms, &why) < 0 ? 0 : (int)ms;
}

/*
 * Finds the channels of the driver of mainline Linux and of JetPack 5 and later: numbered from 1, with
 * voltage and current but no power.
 */
static void find_ina3221(struct sx_rails *rails, const char *folder, const char *place)
{
	int update_ms = find_update_ms(folder);

	for (int i = 1; i <= CHANNELS; i++) {
		char path[SX_FILE_PATH_BYTES], label[SX_FILE_NAME_BYTES];
		struct sx_rail *r;

		sx_file_path(path, "%s/in%d_label", folder, i);
		sx_file_text(path, label, sizeof(label));
		r = rails_add(rails, label, "ina3221", place);
		if (!r)
			continue;
		sx_file_path(r->volts, "%s/in%d_input", folder, i);
		sx_file_path(r->amperes, "%s/curr%d_input", folder, i);
		r->update_ms = update_ms;
	}
}

/* Finds the channels of the driver of JetPack 4: numbered from 0, with power in mW. */
static void find_ina3221x(struct sx_rails *rails, const char *folder, const char *place)
{
	for (int i = 0; i < CHANNELS; i++) {
		char path[SX_FILE_PATH_BYTES], label[SX_FILE_NAME_BYTES];
		struct sx_rail *r;

		sx_file_path(path, "%s/rail_name_%d", folder, i);
		sx_file_text(path, label, sizeof(label));
		r = rails_add(rails, label, "ina3221x", place);
		if (r)
			sx_file_path(r->power, "%s/in_power%d_input", folder, i);
	}
}

/* Finds the channel of a monitor that has one. Its label is the device's or the voltage's. */
static void find_single(struct sx_rails *rails, const char *folder, const char *chip, const char *place)
{
	static const char *const names[] = {"label", "in1_label", "device/of_node/label"};
	char path[SX_FILE_PATH_BYTES], label[SX_FILE_NAME_BYTES] = "";
	struct sx_rail *r;

	for (size_t i = 0; !*label && i < sizeof(names) / sizeof(names[0]); i++) {
		sx_file_path(path, "%s/%s", folder, names[i]);
		sx_file_text(path, label, sizeof(label));
	}
	r = rails_add(rails, label, chip, place);
	if (!r)
		return;
	r->power_per_watt = 1000000;
	sx_file_path(r->power, "%s/power1_input", folder);
	sx_file_path(r->energy, "%s/energy1_input", folder);
	if (access(r->energy, R_OK) < 0)
		*r->energy = '\0';
	r->update_ms = find_update_ms(folder);
}

static void find_hwmon(struct sx_rails *rails, const char *root)
{
	char folder[SX_FILE_PATH_BYTES], path[SX_FILE_PATH_BYTES], names[FOLDERS][SX_FILE_NAME_BYTES];
	int count;

	sx_file_path(folder, "%s/sys/class/hwmon", root);
	count = sx_file_names(folder, "hwmon", names, FOLDERS);
	for (int i = 0; i < count; i++) {
		char chip[16], place[32];

		if (!sx_file_path(folder, "%s/sys/class/hwmon/%s", root, names[i]))
			continue;
		sx_file_path(path, "%s/name", folder);
		sx_file_text(path, chip, sizeof(chip));
		find_place(folder, names[i], place, sizeof(place));
		if (strcmp(chip, "ina3221") == 0) {
			rails->chips++;
			find_ina3221(rails, folder, place);
		}
		for (size_t k = 0; k < sizeof(single) / sizeof(single[0]); k++)
			if (strcmp(chip, single[k]) == 0) {
				rails->chips++;
				find_single(rails, folder, chip, place);
			}
	}
}

static void find_iio(struct sx_rails *rails, const char *root)
{
	char driver[SX_FILE_PATH_BYTES], folder[SX_FILE_PATH_BYTES];
	char places[FOLDERS][SX_FILE_NAME_BYTES], devices[4][SX_FILE_NAME_BYTES];
	int count;

	sx_file_path(driver, "%s/sys/bus/i2c/drivers/ina3221x", root);
	count = sx_file_names(driver, "", places, FOLDERS);
	for (int i = 0; i < count; i++) {
		int n;

		sx_file_path(folder, "%s/%s", driver, places[i]);
		n = sx_file_names(folder, "iio:device", devices, 4);
		for (int k = 0; k < n; k++) {
			if (!sx_file_path(folder, "%s/%s/%s", driver, places[i], devices[k]))
				continue;
			rails->chips++;
			find_ina3221x(rails, folder, places[i]);
		}
	}
}

void sx_rails_find(struct sx_rails *rails, const char *root)
{
	memset(rails, 0, sizeof(*rails));
	find_hwmon(rails, root);
	find_iio(rails, root);
}

/* Returns the index of the rail with this label. -1: none, -2: several. */
static int find_label(const struct sx_rails *rails, const char *label)
{
	int found = -1;

	for (int i = 0; i < rails->count; i++)
		if (strcmp(rails->rail[i].label, label) == 0)
			found = found == -1 ? i : -2;
	return found;
}

/* Lists the labels: "A, B, C". Labels that do not fit are left out. */
static void list_labels(const struct sx_rails *rails, char *to, size_t bytes)
{
	size_t used = 0;

	snprintf(to, bytes, "none");
	for (int i = 0; i < rails->count && used < bytes; i++)
		used += (size_t)snprintf(to + used, bytes - used, "%s%s", used ? ", " : "",
					 rails->rail[i].label);
}

static int sum_chosen(const struct sx_rails *rails, const char *chosen, struct sx_rail_sum *sum,
		      struct sx_why *why)
{
	char label[SX_FILE_NAME_BYTES], all[160];

	for (const char *at = chosen; *(at += strspn(at, " ,\t"));) {
		size_t n = strcspn(at, " ,\t");
		int i;

		snprintf(label, sizeof(label), "%.*s", (int)n, at);
		at += n;
		i = find_label(rails, label);
		list_labels(rails, all, sizeof(all));
		if (i == -1)
			sx_why_set(why, "power.rails: unknown rail '%s', available: %s", label, all);
		else if (i == -2)
			sx_why_set(why, "power.rails: several rails are called '%s'", label);
		else if (sum->count == SX_RAIL_SUM_MAX)
			sx_why_set(why, "power.rails: more than %d rails", SX_RAIL_SUM_MAX);
		if (i < 0 || sum->count == SX_RAIL_SUM_MAX)
			return -EINVAL;
		for (int k = 0; k < sum->count; k++)
			if (sum->rail[k] == i)
				return sx_why_fail(-EINVAL, why, "power.rails: '%s' is listed twice", label);
		sum->rail[sum->count++] = i;
	}
	if (sum->count > 0)
		return 0;
	return sx_why_fail(-EINVAL, why, "power.rails lists no rail");
}

/* Returns how many of the labels exist. *missing: the first one that does not exist, or exists twice. */
static int count_labels(const struct sx_rails *rails, const struct whole *w, struct sx_rail_sum *sum,
			const char **missing)
{
	int found = 0;

	*missing = NULL;
	sum->scope = w->scope;
	sum->count = 0;
	for (int i = 0; i < SX_RAIL_SUM_MAX && w->labels[i]; i++) {
		int k = find_label(rails, w->labels[i]);

		sum->rail[sum->count++] = k;
		found += k >= 0;
		if (k < 0 && !*missing)
			*missing = w->labels[i];
	}
	return found;
}

static int sum_known(const struct sx_rails *rails, struct sx_rail_sum *sum, struct sx_why *why)
{
	const char *missing, *nearest = NULL;
	char all[160];
	int most = 0;

	for (size_t i = 0; i < sizeof(wholes) / sizeof(wholes[0]); i++) {
		int found = count_labels(rails, &wholes[i], sum, &missing);

		if (!missing)
			return 0;
		if (found > most) {
			most = found;
			nearest = missing;
		}
	}
	list_labels(rails, all, sizeof(all));
	if (nearest && find_label(rails, nearest) == -2)
		sx_why_set(why, "several rails are called '%s'; available: %s", nearest, all);
	else if (nearest)
		sx_why_set(why, "the rails do not add up to the total, '%s' is missing; there are: %s",
			   nearest, all);
	else if (rails->count)
		sx_why_set(why,
			   "it is not known which rails of this board add up to the total: set power.rails; "
			   "available: %s",
			   all);
	else
		sx_why_set(why, "%d INA monitor%s, but no rail with a name", rails->chips,
			   rails->chips == 1 ? "" : "s");
	return -EINVAL;
}

int sx_rails_sum(const struct sx_rails *rails, const char *chosen, struct sx_rail_sum *sum,
		 struct sx_why *why)
{
	*sum = (struct sx_rail_sum){0};
	if (rails->chips == 0)
		return sx_why_fail(-ENODEV, why, "this board has no INA power monitor");
	return chosen ? sum_chosen(rails, chosen, sum, why) : sum_known(rails, sum, why);
}
