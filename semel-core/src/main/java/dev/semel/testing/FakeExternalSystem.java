package dev.semel.testing;

import dev.semel.error.RequestRejected;
import dev.semel.run.MicrosecondConverter;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A fake external system for tests: counts calls and effects, honours keys, and fails as scripted.
 * A call is a request that arrived; an effect is an action that it caused. Faults apply in order:
 * {@code down(2).loseResponse(1)} fails two calls and loses the response of the third.
 */
public final class FakeExternalSystem {
    private enum Fault {
        DOWN,
        REJECT,
        LOSE_RESPONSE
    }

    /** The effects of one key: how often they happened, and the last response and its time. */
    private record KeyEffects(int times, Object response, long at) {}

    private final String name;
    private final WorkflowTestKit kit;
    private final List<Fault> script = new ArrayList<>();
    private final Deque<Fault> faults = new ArrayDeque<>();
    private final Map<String, KeyEffects> distinctEffects = new LinkedHashMap<>();
    private final List<String> keys = new ArrayList<>();
    private Duration remembers = Duration.ZERO;
    private int scripted;
    private Duration rememberedThen = Duration.ZERO;
    private int effects;
    private int lookups;

    FakeExternalSystem(String name, WorkflowTestKit kit) {
        this.name = name;
        this.kit = kit;
    }

    /** Returns the first response again for the same key within this time, without an effect. Default: never. */
    public synchronized FakeExternalSystem honoursKeysFor(Duration window) {
        remembers = window;
        return this;
    }

    /** The next calls cause their effect, but their response is lost. */
    public FakeExternalSystem loseResponse(int calls) {
        return next(calls, Fault.LOSE_RESPONSE);
    }

    /** Rejects the next calls without an effect. */
    public FakeExternalSystem reject(int calls) {
        return next(calls, Fault.REJECT);
    }

    /** Fails the next calls with a refused connection. */
    public FakeExternalSystem down(int calls) {
        return next(calls, Fault.DOWN);
    }

    private synchronized FakeExternalSystem next(int calls, Fault fault) {
        for (int i = 0; i < calls; i++) {
            script.add(fault);
            faults.add(fault);
        }
        return this;
    }

    /** Causes an effect and returns the provider's name and a number, for example `cards-1`. */
    public String call(String key) throws IOException {
        return call(key, () -> name + "-" + effects());
    }

    /**
     * Causes an effect and returns a response.
     *
     * @param response supplies the response after the effect was counted
     * @throws IOException if the provider is down or the response is lost
     * @throws RequestRejected if the provider rejects the call
     */
    @SuppressWarnings("unchecked") // the same code calls with the same key, for the same type
    public synchronized <T> T call(String key, Supplier<T> response) throws IOException {
        SimulatedEngineCrashState.rejectIfCrashed();
        Fault fault = faults.poll();
        if (fault == Fault.DOWN) {
            throw new ConnectException(name + " is down");
        }
        keys.add(key);
        if (fault == Fault.REJECT) {
            throw new RequestRejected(name + " rejected the call");
        }
        long now = kit.micros();
        KeyEffects before = distinctEffects.get(key);
        T result;
        if (before != null && now - before.at() < MicrosecondConverter.of(remembers)) {
            result = (T) before.response();
        } else {
            effects++;
            result = response.get();
            distinctEffects.put(key, new KeyEffects(before == null ? 1 : before.times() + 1, result, now));
        }
        if (fault == Fault.LOSE_RESPONSE) {
            throw new SocketTimeoutException(name + " did not respond");
        }
        return result;
    }

    /** Looks up the response for a key; null if the effect did not happen. */
    @SuppressWarnings("unchecked") // the same code calls with the same key, for the same type
    public synchronized <T> @Nullable T find(String key) {
        SimulatedEngineCrashState.rejectIfCrashed();
        lookups++;
        KeyEffects found = distinctEffects.get(key);
        return found == null ? null : (T) found.response();
    }

    public String name() {
        return name;
    }

    /** Requests that arrived. */
    public synchronized int calls() {
        return keys.size();
    }

    /** Effects that happened. */
    public synchronized int effects() {
        return effects;
    }

    /** Number of calls of {@link #find}. */
    public synchronized int lookups() {
        return lookups;
    }

    /** The keys of all calls, in order of arrival. */
    public synchronized List<String> keys() {
        return List.copyOf(keys);
    }

    /** Effects that happened again with the same key. */
    synchronized int repeatedEffects() {
        return distinctEffects.values().stream()
                .mapToInt(one -> one.times() - 1)
                .sum();
    }

    /** Number of distinct keys with an effect. */
    synchronized int distinctEffects() {
        return distinctEffects.size();
    }

    /** Saves the script so far as the initial state of every environment. */
    synchronized void saveScript() {
        scripted = script.size();
        rememberedThen = remembers;
    }

    /** Restores the state of {@link #saveScript}, with all counters at zero. */
    synchronized void reset() {
        script.subList(scripted, script.size()).clear();
        faults.clear();
        faults.addAll(script);
        distinctEffects.clear();
        keys.clear();
        effects = 0;
        lookups = 0;
        remembers = rememberedThen;
    }
}
