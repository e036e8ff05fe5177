package dev.semel;

import org.jspecify.annotations.Nullable;

/**
 * The health of this worker.
 *
 * @param up whether this worker can execute runs now
 * @param reason why it cannot, in one sentence; null if it can
 * @param durable whether an accepted start survives a crash of the process and of the machine
 * @param durability the database settings that {@code durable} was read from, in one line
 * @param worker the display name of this worker
 * @param warning what an operator must check although this worker is up, in one or two sentences; null if nothing
 */
public record Health(
        boolean up,
        @Nullable String reason,
        boolean durable,
        String durability,
        String worker,
        @Nullable String warning) {}
