/** The outside world as steps reach it: channels, people and what is gathered, joined from their own rooms. */
@NullMarked
package dev.semel.server.world;

import org.jspecify.annotations.NullMarked;
