/*
 * Signals of the daemon, which the main thread reads from a descriptor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_SIGNALS_H
#define SX_DAEMON_SIGNALS_H

/*
 * Opens the descriptor for SIGTERM, SIGINT and SIGHUP (struct signalfd_siginfo). Also blocks SIGPIPE and the
 * user signals, which are of no use here. All threads inherit the mask. SIGABRT stays as it is, so that the
 * watchdog can cause a core dump. Thread: main, before other threads start. Negative errno.
 */
int sx_signals_open(void);

#endif
