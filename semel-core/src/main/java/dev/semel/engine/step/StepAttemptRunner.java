package dev.semel.engine.step;

import dev.semel.definition.CurrentStepScopedValue;
import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.StepSpec;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.error.HttpStatusException;
import dev.semel.error.RequestNotSent;
import dev.semel.error.RequestRejected;
import dev.semel.error.SemelException;
import dev.semel.run.MicrosecondConverter;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Step;
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
public final class StepAttemptRunner {
    private static final Duration SHORTEST_RETRY_AFTER = Duration.ofSeconds(1);
    private static final Duration LONGEST_RETRY_AFTER = Duration.ofHours(1);
    private static final int CAUSES = 10;
    private static final Set<Integer> ABOUT_THE_CALLER = Set.of(401, 403, 404, 405, 407, 421);

    private final @Nullable Duration timeout;
    private final ClockAndRandomSource ambient;

    private StepAttemptRunner(@Nullable Duration timeout, ClockAndRandomSource ambient) {
        this.timeout = timeout;
        this.ambient = ambient;
    }

    public static StepAttemptRunner of(StepSpec plan, ClockAndRandomSource ambient) {
        return new StepAttemptRunner(plan.timeout(), ambient);
    }

    /** Runs the code. After the timeout it interrupts the thread and does not wait for it any longer. */
    public JsonNode run(Step step, DurableWorkflowOperations.StepWork work) throws Exception {
        Duration longest = timeout;
        if (longest == null) {
            return CurrentStepScopedValue.runWith(step, () -> work.run(step));
        }
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        Thread thread = ambient.startThread("step", () -> {
            try {
                answer.complete(CurrentStepScopedValue.runWith(step, () -> work.run(step)));
            } catch (Throwable e) {
                answer.completeExceptionally(e);
            }
        });
        long end = ambient.nanos() + MicrosecondConverter.nanos(longest);
        while (true) {
            try {
                return answer.get(end - ambient.nanos(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException _) {
                // User code interrupted the thread. It must not decide how long a run waits.
            } catch (TimeoutException e) {
                thread.interrupt();
                throw new AttemptTimedOut(longest);
            } catch (ExecutionException e) {
                throw StepAttemptRunner.<RuntimeException>rethrow(e.getCause() == null ? e : e.getCause());
            }
        }
    }

    /** Rethrows the failure of user code unchanged, checked or not, so that callers can catch it by its own type. */
    @SuppressWarnings("unchecked") // erased at run time
    public static <T extends Throwable> T rethrow(Throwable failure) throws T {
        throw (T) failure;
    }

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
    public static boolean isRejected(StepSpec plan, Throwable failure) {
        return plan.retry().isFinal(failure)
                || failure instanceof RequestRejected
                || (failure instanceof HttpStatusException status && isCertainRejection(status.status()));
    }

    /** It did so before it looked at the key: the response says nothing about an earlier request with that key. */
    public static boolean isCallerRejected(StepSpec plan, Throwable failure) {
        return !plan.retry().isFinal(failure)
                && failure instanceof HttpStatusException status
                && ABOUT_THE_CALLER.contains(status.status());
    }

    private static boolean isCertainRejection(int status) {
        return status >= 400 && status < 500 && status != 408 && status != 409 && status != 425 && status != 429;
    }

    /** Whether the provider repeats a stored error for the key: sending the same key again cannot help. */
    public static boolean isReplayedError(Throwable failure) {
        return failure instanceof HttpStatusException status && status.replayed() && status.status() >= 500;
    }

    /** Whether the request certainly was not sent, or was rejected before anything was done. */
    public static boolean wasNotSent(Throwable failure) {
        Throwable cause = failure;
        for (int i = 0; cause != null && i < CAUSES; i++) {
            boolean certain = switch (cause) {
                case RequestNotSent _, ConnectException _, UnknownHostException _ -> true;
                case NoRouteToHostException _, SSLHandshakeException _, HttpConnectTimeoutException _ -> true;
                case java.nio.channels.UnresolvedAddressException _ -> true;
                case HttpStatusException status -> status.status() == 429;
                default -> false;
            };
            if (certain) {
                return true;
            }
            cause = cause.getCause();
        }
        return false;
    }

    /** The Retry-After of the external system, bounded, or the delay of the policy; both with jitter. */
    public static long retryDelayMicros(Retry retry, int made, Throwable failure, ClockAndRandomSource ambient) {
        if (failure instanceof HttpStatusException status && status.retryAfter() != null) {
            Duration wanted = status.retryAfter();
            Duration atLeast = wanted.compareTo(SHORTEST_RETRY_AFTER) < 0 ? SHORTEST_RETRY_AFTER : wanted;
            long least =
                    MicrosecondConverter.of(atLeast.compareTo(LONGEST_RETRY_AFTER) > 0 ? LONGEST_RETRY_AFTER : atLeast);
            // Later, never earlier: many runs that got the same time must not all come in the same second.
            return least + (long) (ambient.random().nextDouble() * (least / 10.0));
        }
        long pause = MicrosecondConverter.of(retry.delayAfter(made));
        return pause / 2 + (long) (ambient.random().nextDouble() * (pause / 2.0));
    }
}
