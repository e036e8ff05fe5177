@NullMarked
package dev.semel.workflow;

import org.jspecify.annotations.NullMarked;
