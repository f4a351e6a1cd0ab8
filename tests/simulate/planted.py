# Faults that are planted one by one, each of which a simulated history has to find: file, text, text in its place, what
# it is, and how the histories are if not ordinary ones of 400 s.
#
# SPDX-License-Identifier: Apache-2.0
PLANTED = [
    ("daemon/handover.c", "old = atomic_exchange_explicit(&h->waiting, item, memory_order_acq_rel);",
     "old = atomic_load(&h->waiting) ? item : atomic_exchange(&h->waiting, item);", "the oldest pair wins"),
    ("daemon/handover.c", "\t\tsx_must(lent, ==, SX_ITEM_RETURNED);\n\t\treturn false;\n", "",
     "images are given back twice"),
    ("daemon/capture_thread.c", "\tsx_telemetry_add(c->t, SX_FIG_DROPPED_OVERLOAD, 1);\n", "",
     "a pair that is replaced is not counted"),
    ("daemon/capture_thread.c", "while (sx_handover_used(&p->handover) > 0) {", "while (must_stop(c)) {",
     "a lost camera is closed while its pairs are in use"),
    ("daemon/capture_thread.c", "if (!sx_pipeline_fits(info, &p->info)) {", "if (!info) {",
     "a camera that came back with another size is taken"),
    ("daemon/capture_thread.c", "\tc->found = true;\n", "\tsx_telemetry_absent(c->t, NULL);\n",
     "a camera that is back and gives nothing shows as running"),
    ("daemon/frame_thread.c", "h->number = p->collected + 1;", "h->number = p->submitted;",
     "frames have the number of the newest pair"),
    ("daemon/frame_thread.c", "if (!p->leaving || p->collected < p->last_of_leaving)", "if (!p->leaving)",
     "contexts go back while they compute"),
    ("daemon/frame_thread.c", "\t\tsx_handover_release(f->item);\n\t\tf->item = NULL;\n\t\tp->collected++;\n",
     "\t\tf->item = NULL;\n\t\tp->collected++;\n", "a pair is never given back"),
    ("daemon/loop.c", "\tif (sx_health_may_ping(&run->health, &in))\n", "\tif (in.now_ns)\n",
     "the watchdog is pinged without progress"),
    ("daemon/loop.c", "\t\trun->next_ping_ns = now + run->service.watchdog_ns / 4;\n",
     "\t\trun->next_ping_ns = now + run->service.watchdog_ns;\n", "the watchdog is pinged too seldom"),
    ("daemon/loop.c",
     "\t\t\trun->hurry = true;\n\t\t\trun->stop_by_ns = by < run->stop_by_ns ? by : run->stop_by_ns;\n",
     "", "a second signal does not hurry the end"),
    ("daemon/loop.c", "{.fd = run->pipeline->stream ? sx_stream_fd(run->pipeline->stream) : -1, .events = POLLIN},",
     "{.fd = -1},", "nobody serves frames.sock"),
    ("daemon/loop.c", "\tif (run->ticks % BEAT_TICKS == 0 && run->health.progress) {\n",
     "\tif (run->ticks % (8 * BEAT_TICKS) == 0 && run->health.progress) {\n", "the heart beats too seldom"),
    ("daemon/loop.c", "\tif (run->ticks % BEAT_TICKS == 0 && run->health.progress) {\n",
     "\tif (run->ticks % BEAT_TICKS == 0) {\n", "the heart beats while the engine hangs"),
    ("daemon/health.c", "\telse if (in->absent)\n", "\telse if (in->absent && in->stopping)\n",
     "an absent camera does not show in the state"),
    ("daemon/live.c", "\tif (of_files && !run->stopping) {", "\tif (!run->stopping) {",
     "READY=1 after orders, too"),
    ("daemon/live.c", "\tsx_contexts_destroy(old);\n", "", "contexts of before are not destroyed"),
    ("daemon/exchange/orders.c", "\twhile ((order = sx_orders_take(o)))\n\t\torder_refuse(order, true);\n",
     "\torder = sx_orders_take(o);\n\tif (order)\n\t\torder_refuse(order, true);\n",
     "at the end one order alone is answered"),
    ("daemon/run.c", "\tif (run->main_fd >= 0)\n\t\tclose(run->main_fd);\n", "", "a descriptor is left"),
    ("daemon/pipeline.c", "\tfree(p->bytes);\n", "", "memory is left"),
    ("daemon/pipeline.c", "\tp->epoch = sx_epoch_new();\n", "\tp->epoch = 7;\n", "all lives have one epoch"),
    ("ipc/ring.c", """\t__atomic_store_n(&slot->sequence, 2 * n, __ATOMIC_RELEASE);
\t__atomic_store_n(&r->live->head, n, __ATOMIC_RELEASE);
""", """\t__atomic_store_n(&r->live->head, n, __ATOMIC_RELEASE);
\t__atomic_store_n(&slot->sequence, 2 * n, __ATOMIC_RELEASE);
""", "the head is ahead of its frame"),
    ("capture/v4l2/v4l2_pairs.c", "i < v->count && !t->slot && r == 0", "i < 1 && !t->slot && r == 0",
     "the right camera's buffers are not given back"),
    ("capture/v4l2/v4l2_io.c", "\twhile (r < 0 && errno == EINTR);", "\twhile (r < 0 && errno == EBUSY);",
     "an interrupted call is a lost camera"),
    ("capture/v4l2/v4l2.c", "\tif (taken == -EALREADY && !overwritten(s, side, f.index))\n\t\treturn 1;\n",
     "\tif (f.index < 0)\n\t\treturn overwritten(s, side, f.index);\n\tif (f.sequence % 97 == 96)\n\t\treturn 1;\n",
     "now and then a buffer is forgotten"),
    # of age: clocks, numbers and sums that are fine for hours
    ("daemon/telemetry.c", "\tatomic_store_explicit(&t->last_capture_ns, now_ns, RELAXED);\n",
     "\tatomic_store(&t->last_capture_ns, (int64_t)(uint32_t)(now_ns / 1000000) * 1000000);\n",
     "milliseconds of 32 bits"),
    ("capture/v4l2/v4l2.c", """sequence - c->sequence - 1 < UINT32_MAX / 2)
\t\tsx_v4l2_count(&s->gaps[side], sequence - c->sequence - 1);
""", """sequence != c->sequence)
\t\tsx_v4l2_count(&s->gaps[side], (uint64_t)sequence - c->sequence - 1);
""", "the cameras' numbers never wrap"),
    ("daemon/telemetry.c", "\tatomic_fetch_add_explicit(&d->sum_ns, ns > 0 ? ns : 0, RELAXED);\n",
     "\tatomic_store(&d->sum_ns, (int64_t)((double)atomic_load(&d->sum_ns) + (double)(ns > 0 ? ns : 0)));\n",
     "a sum of nanoseconds is a double"),
    ("daemon/frame_thread.c", "h->number = p->collected + 1;", "h->number = (uint32_t)(p->collected + 1);",
     "frame numbers have 32 bits"),
    ("ipc/ring.c", "\t__atomic_store_n(&slot->sequence, 2 * n, __ATOMIC_RELEASE);",
     "\t__atomic_store_n(&slot->sequence, (uint32_t)(2 * n), __ATOMIC_RELEASE);", "the ring's sequences have 32 bits"),
    ("ipc/text.c", "#define REAL_WHOLE 1e6 ", "#define REAL_WHOLE 1e15 ", "the uptime has six digits",
     ["--lasting", "--length", "2592000"]),
]
