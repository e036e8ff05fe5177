/** The model of a step and what all step kinds share: protection, retries, escalation, services. */
@NullMarked
package dev.semel.server.files.steps;

import org.jspecify.annotations.NullMarked;
