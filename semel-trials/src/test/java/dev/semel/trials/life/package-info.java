/**
 * The life of workers: they are stopped, upgraded and started with mistakes, and their PostgreSQL is restarted, paused,
 * made read-only and replaced, all of them as real processes.
 */
@org.jspecify.annotations.NullMarked
package dev.semel.trials.life;
