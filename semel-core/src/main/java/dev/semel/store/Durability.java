package dev.semel.store;

/**
 * What a commit survives.
 *
 * @param safe whether an answered trigger survives a crash of the process and of the machine
 * @param line the settings that this was read from, and what follows, in one line for people
 */
public record Durability(boolean safe, String line) {}
