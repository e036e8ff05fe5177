package dev.semel.testing;

import dev.semel.workflow.Failures;
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
 * A provider that does nothing but count. A call is a request that arrived; an effect is a deed that was done for it. What
 * goes wrong is told in order: {@code down(2).loseResponse(1)} turns two calls away and loses the answer of the third.
 */
public final class Provider {
    private enum Fault {
        DOWN,
        REFUSE,
        LOSE_RESPONSE
    }

    /** How often the deed of a key was done, what it answered the last time, and when. */
    private record Deed(int times, Object answer, long at) {}

    private final String name;
    private final Lab lab;
    private final List<Fault> script = new ArrayList<>();
    private final Deque<Fault> faults = new ArrayDeque<>();
    private final Map<String, Deed> deeds = new LinkedHashMap<>();
    private final List<String> keys = new ArrayList<>();
    private Duration remembers = Duration.ZERO;
    private int scripted;
    private Duration rememberedThen = Duration.ZERO;
    private int effects;
    private int lookups;

    Provider(String name, Lab lab) {
        this.name = name;
        this.lab = lab;
    }

    /** The same key again within this time is answered as the first time, and nothing is done. Without it: never. */
    public synchronized Provider honoursKeysFor(Duration window) {
        remembers = window;
        return this;
    }

    /** So many of the next calls do what they are asked, and the answer is lost. */
    public Provider loseResponse(int calls) {
        return next(calls, Fault.LOSE_RESPONSE);
    }

    /** So many of the next calls are told no, and nothing is done. */
    public Provider refuse(int calls) {
        return next(calls, Fault.REFUSE);
    }

    /** So many of the next calls find nobody there. */
    public Provider down(int calls) {
        return next(calls, Fault.DOWN);
    }

    private synchronized Provider next(int calls, Fault fault) {
        for (int i = 0; i < calls; i++) {
            script.add(fault);
            faults.add(fault);
        }
        return this;
    }

    /** Does its deed and answers with its name and a number, such as `cards-1`. */
    public String call(String key) throws IOException {
        return call(key, () -> name + "-" + effects());
    }

    /**
     * Does its deed and answers.
     *
     * @param answer made after the deed is counted
     * @throws IOException where it is down or its answer is lost
     * @throws Failures.Refused where it says no
     */
    @SuppressWarnings("unchecked") // the same key is asked by the same code, for the same type
    public synchronized <T> T call(String key, Supplier<T> answer) throws IOException {
        Life.refuseTheDead();
        Fault fault = faults.poll();
        if (fault == Fault.DOWN) {
            throw new ConnectException(name + " is down");
        }
        keys.add(key);
        if (fault == Fault.REFUSE) {
            throw new Failures.Refused(name + " says no");
        }
        long now = lab.micros();
        Deed before = deeds.get(key);
        T said;
        if (before != null && now - before.at() < remembers.toNanos() / 1_000) {
            said = (T) before.answer();
        } else {
            effects++;
            said = answer.get();
            deeds.put(key, new Deed(before == null ? 1 : before.times() + 1, said, now));
        }
        if (fault == Fault.LOSE_RESPONSE) {
            throw new SocketTimeoutException(name + " gave no answer");
        }
        return said;
    }

    /** What was answered when the deed of this key was done; null where it was not. */
    @SuppressWarnings("unchecked") // the same key is asked by the same code, for the same type
    public synchronized <T> @Nullable T find(String key) {
        Life.refuseTheDead();
        lookups++;
        Deed deed = deeds.get(key);
        return deed == null ? null : (T) deed.answer();
    }

    public String name() {
        return name;
    }

    /** Requests that arrived. */
    public synchronized int calls() {
        return keys.size();
    }

    /** Deeds that were done. */
    public synchronized int effects() {
        return effects;
    }

    /** How often it was asked with {@link #find}. */
    public synchronized int lookups() {
        return lookups;
    }

    /** The keys of all calls, in the order of their arrival. */
    public synchronized List<String> keys() {
        return List.copyOf(keys);
    }

    /** Deeds that were done again under a key of their own. */
    synchronized int repeatedEffects() {
        return deeds.values().stream().mapToInt(deed -> deed.times() - 1).sum();
    }

    /** Different deeds. */
    synchronized int deeds() {
        return deeds.size();
    }

    /** What was told so far is how every world begins. */
    synchronized void keepScript() {
        scripted = script.size();
        rememberedThen = remembers;
    }

    /** As it was when {@link #keepScript} was called, with nothing counted. */
    synchronized void reset() {
        script.subList(scripted, script.size()).clear();
        faults.clear();
        faults.addAll(script);
        deeds.clear();
        keys.clear();
        effects = 0;
        lookups = 0;
        remembers = rememberedThen;
    }
}
