/** Reading YAML with positions and error messages, and editing it without changing its format. */
@NullMarked
package dev.semel.server.files.yaml;

import org.jspecify.annotations.NullMarked;
