package dev.semel.engine;

import dev.semel.definition.CurrentStep;
import dev.semel.error.HttpStatus;
import dev.semel.error.NotSent;
import dev.semel.error.Rejected;
import dev.semel.error.SemelException;
import dev.semel.definition.DurableOperations;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Step;
import dev.semel.definition.StepSpec;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Runs the code of a step once, with an optional timeout, and classifies its failures. */
final class StepAttempt {
    private static final Duration SHORTEST_RETRY_AFTER = Duration.ofSeconds(1);
    private static final Duration LONGEST_RETRY_AFTER = Duration.ofHours(1);
    private static final int CAUSES = 10;
    private static final Set<Integer> ABOUT_THE_CALLER = Set.of(401, 403, 404, 405, 407, 421);

    private final @Nullable Duration timeout;
    private final EngineEnvironment ambient;

    private StepAttempt(@Nullable Duration timeout, EngineEnvironment ambient) {
        this.timeout = timeout;
        this.ambient = ambient;
    }

    static StepAttempt of(StepSpec plan, EngineEnvironment ambient) {
        return new StepAttempt(plan.timeout(), ambient);
    }

    /** Runs the code. After the timeout it interrupts the thread and does not wait for it any longer. */
    JsonNode run(Step step, DurableOperations.StepWork work) throws Exception {
        Duration longest = timeout;
        if (longest == null) {
            return CurrentStep.runWith(step, () -> work.run(step));
        }
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        Thread thread = ambient.startThread("step", () -> {
            try {
                answer.complete(CurrentStep.runWith(step, () -> work.run(step)));
            } catch (Throwable e) {
                answer.completeExceptionally(e);
            }
        });
        long end = ambient.nanos() + Micros.nanos(longest);
        while (true) {
            try {
                return answer.get(end - ambient.nanos(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException _) {
                // User code interrupted the thread. It must not decide how long a run waits.
            } catch (TimeoutException e) {
                thread.interrupt();
                throw new AttemptTimedOut(longest);
            } catch (ExecutionException e) {
                throw StepAttempt.<RuntimeException>rethrow(e.getCause() == null ? e : e.getCause());
            }
        }
    }

    /** Rethrows the failure of user code unchanged, checked or not, so that callers can catch it by its own type. */
    @SuppressWarnings("unchecked") // erased at run time
    static <T extends Throwable> T rethrow(Throwable failure) throws T {
        throw (T) failure;
    }

    /** An attempt exceeded the timeout of its step. */
    static final class AttemptTimedOut extends RuntimeException {
        AttemptTimedOut(Duration longest) {
            super("the attempt exceeded its timeout of " + longest);
        }
    }

    /** Whether a retry cannot help: the retry plan, the external system or Semel itself rejected the attempt. */
    static boolean isFinal(StepSpec plan, Throwable failure) {
        return isRejected(plan, failure)
                || (failure instanceof SemelException ours && !ours.code().retryable());
    }

    /** Whether the external system certainly did nothing and will do nothing. */
    static boolean isRejected(StepSpec plan, Throwable failure) {
        return plan.retry().isFinal(failure)
                || failure instanceof Rejected
                || (failure instanceof HttpStatus status && refused(status.status()));
    }

    /**
     * Whether the provider rejected the caller or the address before it looked at the key.
     * Such a response says nothing about an earlier request with the same key.
     */
    static boolean isCallerRejected(StepSpec plan, Throwable failure) {
        return !plan.retry().isFinal(failure)
                && failure instanceof HttpStatus status
                && ABOUT_THE_CALLER.contains(status.status());
    }

    private static boolean refused(int status) {
        return status >= 400 && status < 500 && status != 408 && status != 409 && status != 425 && status != 429;
    }

    /** Whether the request certainly was not sent, or was rejected before anything was done. */
    static boolean wasNotSent(Throwable failure) {
        Throwable cause = failure;
        for (int i = 0; cause != null && i < CAUSES; i++) {
            boolean certain = switch (cause) {
                case NotSent _, ConnectException _, UnknownHostException _ -> true;
                case NoRouteToHostException _, SSLHandshakeException _, HttpConnectTimeoutException _ -> true;
                case java.nio.channels.UnresolvedAddressException _ -> true;
                case HttpStatus status -> status.status() == 429;
                default -> false;
            };
            if (certain) {
                return true;
            }
            cause = cause.getCause();
        }
        return false;
    }

    /**
     * Delay before the next attempt: the Retry-After of the external system, bounded, or the retry plan with jitter.
     */
    static long retryDelayMicros(Retry retry, int made, Throwable failure, EngineEnvironment ambient) {
        if (failure instanceof HttpStatus status && status.retryAfter() != null) {
            Duration wanted = status.retryAfter();
            Duration atLeast = wanted.compareTo(SHORTEST_RETRY_AFTER) < 0 ? SHORTEST_RETRY_AFTER : wanted;
            return (atLeast.compareTo(LONGEST_RETRY_AFTER) > 0 ? LONGEST_RETRY_AFTER : atLeast).toNanos() / 1_000;
        }
        long pause = Micros.of(retry.delayAfter(made));
        return pause / 2 + (long) (ambient.random().nextDouble() * (pause / 2.0));
    }
}
