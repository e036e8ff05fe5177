/** Reading and writing JSON, strictly and without loss. A leaf: it knows nothing of keys, runs or stores. */
@NullMarked
package dev.semel.json;

import org.jspecify.annotations.NullMarked;
