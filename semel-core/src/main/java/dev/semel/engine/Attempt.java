package dev.semel.engine;

import dev.semel.error.SemelException;
import dev.semel.workflow.Durable;
import dev.semel.workflow.Failures;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Step;
import dev.semel.workflow.StepPlan;
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
final class Attempt {
    private static final Duration SHORTEST_RETRY_AFTER = Duration.ofSeconds(1);
    private static final Duration LONGEST_RETRY_AFTER = Duration.ofHours(1);
    private static final int CAUSES = 10;
    private static final Set<Integer> ABOUT_THE_CALLER = Set.of(401, 403, 404, 405, 407, 421);

    private final @Nullable Duration timeout;
    private final Ambient ambient;

    private Attempt(@Nullable Duration timeout, Ambient ambient) {
        this.timeout = timeout;
        this.ambient = ambient;
    }

    static Attempt of(StepPlan plan, Ambient ambient) {
        return new Attempt(plan.timeout(), ambient);
    }

    /** Runs the code. After the timeout it interrupts the thread and does not wait for it any longer. */
    JsonNode run(Step step, Durable.Work work) throws Exception {
        Duration longest = timeout;
        if (longest == null) {
            return Step.during(step, () -> work.run(step));
        }
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        Thread thread = ambient.start("step", () -> {
            try {
                answer.complete(Step.during(step, () -> work.run(step)));
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
                throw new TimedOut(longest);
            } catch (ExecutionException e) {
                throw Attempt.<RuntimeException>asItIs(e.getCause() == null ? e : e.getCause());
            }
        }
    }

    /** Rethrows the failure of user code unchanged, checked or not, so that callers can catch it by its own type. */
    @SuppressWarnings("unchecked") // erased at run time
    static <T extends Throwable> T asItIs(Throwable failure) throws T {
        throw (T) failure;
    }

    /** An attempt exceeded the timeout of its step. */
    static final class TimedOut extends RuntimeException {
        TimedOut(Duration longest) {
            super("the attempt exceeded its timeout of " + longest);
        }
    }

    /** Whether a retry cannot help: the retry plan, the external system or Semel itself rejected the attempt. */
    static boolean isFinal(StepPlan plan, Throwable failure) {
        return saidNo(plan, failure)
                || (failure instanceof SemelException ours && !ours.code().retryable());
    }

    /** Whether the external system certainly did nothing and will do nothing. */
    static boolean saidNo(StepPlan plan, Throwable failure) {
        return plan.retry().isFinal(failure)
                || failure instanceof Failures.Refused
                || (failure instanceof Failures.Status status && refused(status.status()));
    }

    /**
     * Whether the provider rejected the caller or the address before it looked at the key.
     * Such a response says nothing about an earlier request with the same key.
     */
    static boolean isAboutTheCaller(StepPlan plan, Throwable failure) {
        return !plan.retry().isFinal(failure)
                && failure instanceof Failures.Status status
                && ABOUT_THE_CALLER.contains(status.status());
    }

    private static boolean refused(int status) {
        return status >= 400 && status < 500 && status != 408 && status != 409 && status != 425 && status != 429;
    }

    /** Whether the request certainly was not sent, or was rejected before anything was done. */
    static boolean notSent(Throwable failure) {
        Throwable cause = failure;
        for (int i = 0; cause != null && i < CAUSES; i++) {
            boolean certain = switch (cause) {
                case Failures.NotSent _, ConnectException _, UnknownHostException _ -> true;
                case NoRouteToHostException _, SSLHandshakeException _, HttpConnectTimeoutException _ -> true;
                case java.nio.channels.UnresolvedAddressException _ -> true;
                case Failures.Status status -> status.status() == 429;
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
    static long pauseMicros(Retry retry, int made, Throwable failure, Ambient ambient) {
        if (failure instanceof Failures.Status status && status.retryAfter() != null) {
            Duration wanted = status.retryAfter();
            Duration atLeast = wanted.compareTo(SHORTEST_RETRY_AFTER) < 0 ? SHORTEST_RETRY_AFTER : wanted;
            return (atLeast.compareTo(LONGEST_RETRY_AFTER) > 0 ? LONGEST_RETRY_AFTER : atLeast).toNanos() / 1_000;
        }
        long pause = Micros.of(retry.pause(made));
        return pause / 2 + (long) (ambient.random().nextDouble() * (pause / 2.0));
    }
}
