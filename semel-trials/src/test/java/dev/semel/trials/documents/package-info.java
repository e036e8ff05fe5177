/** Every code block in the README and the documents is run, compiled or parsed, or says why not. */
@NullMarked
package dev.semel.trials.documents;

import org.jspecify.annotations.NullMarked;
