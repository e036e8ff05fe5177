package dev.semel.engine.step;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.run.MicrosecondConverter;
import dev.semel.workflow.Retry;

/**
 * When the attempts of a step end: after a number of attempts, or after a time.
 *
 * @param made number of attempts so far
 * @param firstAt when the first attempt began or failed, by the store's clock
 * @param allUnsent whether certainly none of the attempts was sent
 */
public record RetryLimit(Retry retry, int made, long firstAt, boolean allUnsent) {
    public boolean isReached(long now) {
        boolean late = retry.within() != null && now >= end();
        boolean givesUp = retry.unsentAttempts() > 0 && allUnsent && made >= retry.unsentAttempts();
        return made >= retry.attempts() || late || givesUp;
    }

    /** When the next attempt is due. The last one is due at the end of the time at the latest. */
    public long nextDue(long now, Throwable failure, ClockAndRandomSource ambient) {
        long due = now + StepAttemptRunner.retryDelayMicros(retry, made, failure, ambient);
        return retry.within() == null ? due : Math.min(due, end());
    }

    /** When the next attempt is due although the time for attempts has passed. */
    public long nextDueBeyondEnd(long now, Throwable failure, ClockAndRandomSource ambient) {
        return now + StepAttemptRunner.retryDelayMicros(retry, made, failure, ambient);
    }

    private long end() {
        return retry.within() == null ? Long.MAX_VALUE : MicrosecondConverter.after(firstAt, retry.within());
    }
}
