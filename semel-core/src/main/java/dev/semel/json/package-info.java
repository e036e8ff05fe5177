/** Strict, lossless JSON. Depends on no other package except errors. */
@NullMarked
package dev.semel.json;

import org.jspecify.annotations.NullMarked;
