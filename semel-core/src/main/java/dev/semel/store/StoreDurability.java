package dev.semel.store;

/**
 * @param safe whether an accepted trigger survives a crash of the process and of the machine
 * @param summary the database settings that this was read from, and the consequence, in one line for users
 */
public record StoreDurability(boolean safe, String summary) {}
