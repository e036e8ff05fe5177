package dev.semel.workflow;

import java.io.Serializable;
import java.util.function.Function;

/**
 * Reads one value from a workflow's input, for example {@code Payment::paymentId}.
 * It is serializable only so that Semel can find the name of a method reference; Semel never serializes it.
 */
@FunctionalInterface
public interface WorkflowInputAccessor<I, R> extends Function<I, R>, Serializable {}
