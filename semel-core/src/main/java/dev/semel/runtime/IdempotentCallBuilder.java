package dev.semel.runtime;

import dev.semel.IdempotentCall;
import dev.semel.IdempotentResult;
import dev.semel.workflow.Key;
import dev.semel.workflow.TypeRef;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

record IdempotentCallBuilder(
        IdempotentCallExecutor calls,
        String operation,
        @Nullable String caller,
        @Nullable String key,
        @Nullable Object request)
        implements IdempotentCall {
    IdempotentCallBuilder(IdempotentCallExecutor calls, String operation) {
        this(calls, operation, null, null, null);
    }

    @Override
    public IdempotentCall caller(String id) {
        return new IdempotentCallBuilder(calls, operation, id, key, request);
    }

    @Override
    public IdempotentCall key(String value) {
        return new IdempotentCallBuilder(calls, operation, caller, value, request);
    }

    @Override
    public IdempotentCall request(@Nullable Object data) {
        return new IdempotentCallBuilder(calls, operation, caller, key, data);
    }

    @Override
    public <T> IdempotentResult<T> call(Class<T> type, Callable<? extends @Nullable T> code) {
        return call(TypeRef.of(type), code);
    }

    @Override
    public <T> IdempotentResult<T> call(TypeRef<T> type, Callable<? extends @Nullable T> code) {
        return calls.call(build(), type, code);
    }

    @Override
    public boolean isInDoubt() {
        return calls.isInDoubt(build());
    }

    @Override
    public boolean confirmDone(@Nullable Object result, String by) {
        return calls.confirmDone(build(), result, by);
    }

    @Override
    public boolean confirmNotDone(String by) {
        return calls.confirmNotDone(build(), by);
    }

    private IdempotentCallExecutor.OperationCall build() {
        if (caller == null || key == null) {
            throw new IllegalStateException("the idempotent call of \"" + operation + "\" has no "
                    + (caller == null ? "caller" : "key") + ". Nothing was executed. Add one with "
                    + (caller == null ? "caller(…)" : "key(…)"));
        }
        return new IdempotentCallExecutor.OperationCall(
                operation, caller, Key.of(caller, key).text(), request);
    }
}
