/** Admission of triggers, group commit, leases, execution of runs, effects, timers and safe replays. */
