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

/** One try of a step's code, with a time limit where it has one; and what its failures mean. */
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

    /** Runs the code. After the time limit its thread is interrupted, and whatever it still does is not waited for. */
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
                // By code of the user, which has no say in how long a run waits.
            } catch (TimeoutException e) {
                thread.interrupt();
                throw new TimedOut(longest);
            } catch (ExecutionException e) {
                throw Attempt.<RuntimeException>asItIs(e.getCause() == null ? e : e.getCause());
            }
        }
    }

    /** Throws whatever came out of the user's code, checked or not, so that their code can catch it by its own type. */
    @SuppressWarnings("unchecked") // the type is gone when it is thrown
    static <T extends Throwable> T asItIs(Throwable failure) throws T {
        throw (T) failure;
    }

    /** An attempt took longer than its plan allows. */
    static final class TimedOut extends RuntimeException {
        TimedOut(Duration longest) {
            super("the attempt took longer than " + longest);
        }
    }

    /** Trying again cannot help: the plan says so, the outside world said no, or our own rules refused it. */
    static boolean isFinal(StepPlan plan, Throwable failure) {
        return saidNo(plan, failure)
                || (failure instanceof SemelException ours && !ours.code().retryable());
    }

    /** For certain: the outside world did nothing and will not. */
    static boolean saidNo(StepPlan plan, Throwable failure) {
        return plan.retry().isFinal(failure)
                || failure instanceof Failures.Refused
                || (failure instanceof Failures.Status status && refused(status.status()));
    }

    /**
     * A refusal that came before the provider looked at the key: of who asks, or of where. It says nothing of an earlier
     * request with the same key.
     */
    static boolean isAboutTheCaller(StepPlan plan, Throwable failure) {
        return !plan.retry().isFinal(failure)
                && failure instanceof Failures.Status status
                && ABOUT_THE_CALLER.contains(status.status());
    }

    private static boolean refused(int status) {
        return status >= 400 && status < 500 && status != 408 && status != 409 && status != 425 && status != 429;
    }

    /** For certain: the request did not leave, or was turned away before anything was done. */
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

    /** The pause before the next attempt: what the outside world asked for, within reason, or the plan's with jitter. */
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
