/**
 * The judge of the chaos trial. It reads what three witnesses wrote down (the receiver's log, the clients' ledger, the
 * database) and links no class of the engine: a wall test holds that.
 */
@NullMarked
package dev.semel.trials.chaos.checks;

import org.jspecify.annotations.NullMarked;
