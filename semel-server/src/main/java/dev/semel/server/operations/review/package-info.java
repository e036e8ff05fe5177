/** Human reviews: lists, decisions, and who may decide. */
@NullMarked
package dev.semel.server.operations.review;

import org.jspecify.annotations.NullMarked;
