package dev.semel.workflow;

import java.io.Serializable;
import java.util.function.Function;

/**
 * Takes a value out of the input, e.g. {@code Payment::paymentId}. Serializable only so that a method reference can be
 * asked for its name, which is shown to people; it is never serialized.
 */
@FunctionalInterface
public interface Accessor<I, R> extends Function<I, R>, Serializable {}
