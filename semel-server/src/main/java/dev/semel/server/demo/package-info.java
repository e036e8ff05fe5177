@NullMarked
package dev.semel.server.demo;

import org.jspecify.annotations.NullMarked;
