package dev.semel;

import dev.semel.workflow.TypeRef;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * An operation that Semel executes once per caller and key, within 24 hours.
 *
 * {@snippet :
 * IdempotentResult<Refund> refund = semel.idempotent("refund")
 *         .caller(user.id())
 *         .key(requestId)
 *         .request(order)
 *         .call(Refund.class, () -> payments.refund(order));
 * }
 *
 * The first call executes the code and records its result. Repeats return that result. If the code throws, the key is
 * free again. If the process crashes during the code, the outcome is in doubt: repeats throw
 * {@link dev.semel.error.EffectInDoubt} until {@link #confirmDone} or {@link #confirmNotDone} is called.
 */
public interface IdempotentCall {
    /** Who calls, for example a user id. It is part of the key: two callers never share a result. Required. */
    IdempotentCall caller(String id);

    /** The key of the intended action, for example the Idempotency-Key header of the request. Required. */
    IdempotentCall key(String key);

    /**
     * The data that define the action. A repeat with other data throws {@link dev.semel.error.KeyConflict}. Default:
     * none, so that the key alone decides.
     */
    IdempotentCall request(@Nullable Object data);

    /**
     * Executes the code, or returns the recorded result of an earlier call. An exception of the code reaches the caller;
     * a checked one is the cause of a {@link java.util.concurrent.CompletionException}.
     */
    <T> IdempotentResult<T> call(Class<T> type, Callable<? extends @Nullable T> code);

    <T> IdempotentResult<T> call(TypeRef<T> type, Callable<? extends @Nullable T> code);

    /** Whether a crash left the outcome of this caller's key in doubt. */
    boolean isInDoubt();

    /**
     * Confirms that the operation was done; repeats then receive this result. The first confirmation applies.
     *
     * @param by who confirms
     * @return false if the outcome is not in doubt
     */
    boolean confirmDone(@Nullable Object result, String by);

    /** Confirms that the operation was not done; the next call executes it. False if the outcome is not in doubt. */
    boolean confirmNotDone(String by);
}
