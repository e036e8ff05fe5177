package dev.semel.server.hooks;

import dev.semel.Letters;
import dev.semel.Semel;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.server.doors.Delivered;
import dev.semel.server.doors.Depth;
import dev.semel.server.doors.Entrance;
import dev.semel.server.doors.Event;
import dev.semel.server.doors.EventDoor;
import dev.semel.server.doors.SideBySide;
import dev.semel.server.settings.HookSetting;
import dev.semel.server.settings.Settings;
import dev.semel.server.settings.Shelf;
import dev.semel.store.Delivery;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import dev.semel.trigger.Door;
import dev.semel.trigger.Trigger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Receives webhook deliveries: verifies the signature over the raw bytes, deduplicates by id, and starts subscribed
 * workflows. It responds after everything is durable.
 */
public final class HookDoor {
    /** Deduplication window; providers retry for up to three days. */
    private static final Duration WINDOW = Duration.ofDays(7);

    private static final int MOST_FULL = 10_000;

    private final Semel semel;
    private final Settings settings;
    private final EventDoor events;
    private final InstantSource clock;

    /** Webhooks whose limit of recorded forgeries for this hour is reached; further ones cost no write. */
    private final ConcurrentHashMap<String, Long> full = new ConcurrentHashMap<>();

    public HookDoor(Semel semel, Settings settings, EventDoor events, InstantSource clock) {
        this.semel = semel;
        this.settings = settings;
        this.events = events;
        this.clock = clock;
    }

    /** The result of a delivery. */
    public sealed interface Outcome {
        /**
         * @param delivered the runs it started or found
         * @param answered the runs that waited for this message and received it
         */
        record Received(Delivery delivery, Delivered delivered, List<String> answered) implements Outcome {
            /** Whether the delivery was a duplicate and started nothing. */
            public boolean replayed() {
                boolean known = delivery.verdict() == Delivery.Verdict.REPEATED;
                return delivered.runs().isEmpty() ? known : delivered.replayed();
            }
        }

        /** Slack's URL verification; the response must contain the same text. */
        record Challenge(String text) implements Outcome {}

        /** Several events in one delivery, each with its own result. */
        record Batch(List<Outcome> items) implements Outcome {
            public Batch {
                items = List.copyOf(items);
            }
        }

        /** A rejected event of a batch; the others continue. */
        record Refused(SemelException problem) implements Outcome {}
    }

    /** @param depth length of the chain of runs that started each other */
    private record Found(int workspace, String name, HookSetting hook, int depth) {
        Plan plan() {
            return Plan.of(hook);
        }
    }

    /** Processes a delivery. Throws the error response if it is rejected. */
    public Outcome receive(String source, Letter letter) {
        Found found = find(source, Depth.of(letter.header(Depth.HEADER)));
        Plan plan = found.plan();
        Verification.Proofs proofs = verificationInputs(found);
        return switch (Verification.of(plan.scheme(), plan.tolerance(), letter, proofs)) {
            case Verification.Verdict.Genuine(String proof) -> accept(found, letter, proof);
            case Verification.Verdict.Forged _ -> {
                recordRejection(found, Delivery.Verdict.FORGED, "");
                throw Turned.forged();
            }
            case Verification.Verdict.Stale _ -> {
                recordRejection(found, Delivery.Verdict.STALE, "");
                throw Turned.stale();
            }
            case Verification.Verdict.Unknown(String rule) -> {
                recordRejection(found, Delivery.Verdict.REFUSED, rule);
                throw Turned.notReady();
            }
        };
    }

    /** Resolves the source; malformed, unknown and almost correct sources get the same error. */
    private Found find(String text, int depth) {
        Source source = Source.parse(text);
        Shelf.Kept<HookSetting> kept = source == null ? null : settings.hooks().find(source.workspace(), source.name());
        // Compares even if no webhook exists, so that timing does not reveal which ones exist.
        byte[] expected = utf8(kept == null ? "src_" : kept.value().source());
        boolean right = MessageDigest.isEqual(expected, utf8(text));
        if (source == null || kept == null || !right) {
            throw Turned.unknown();
        }
        return new Found(source.workspace(), source.name(), kept.value(), depth);
    }

    private Verification.Proofs verificationInputs(Found found) {
        List<String> secrets = new ArrayList<>();
        String missing = null;
        for (String name : found.hook().secrets()) {
            try {
                secrets.add(settings.secrets().reveal(found.workspace(), name));
            } catch (SemelException e) {
                if (e.code().retryable()) {
                    throw e;
                }
                missing = "secret " + name + " is missing or cannot be decrypted";
            }
        }
        return new Verification.Proofs(secrets, missing, clock.instant());
    }

    private Outcome accept(Found found, Letter letter, String proof) {
        if (found.hook().preset().equals("cloudevents")) {
            return acceptCloud(found, letter, proof);
        }
        Plan plan = found.plan();
        Told told;
        try {
            JsonNode data = Content.of(letter, Plan.hasForms(found.hook()));
            String challenge = found.hook().preset().equals("slack") ? challenge(data) : null;
            if (challenge != null) {
                return new Outcome.Challenge(challenge);
            }
            told = Told.read(plan, letter, data, found.name());
        } catch (SemelException e) {
            recordRejection(found, Delivery.Verdict.REFUSED, e.code().slug());
            throw e;
        }
        return storeAndDeliver(found, told, plan.isNamed() ? null : digest(proof));
    }

    private Outcome acceptCloud(Found found, Letter letter, String proof) {
        CloudDelivery delivery;
        try {
            delivery = CloudDelivery.of(letter, found.name());
        } catch (SemelException e) {
            recordRejection(found, Delivery.Verdict.REFUSED, e.code().slug());
            throw e;
        }
        boolean named = delivery.signed() || found.hook().check() == HookSetting.Check.BEARER;
        String signature = named ? null : digest(proof);
        AtomicReferenceArray<Outcome> items =
                new AtomicReferenceArray<>(delivery.events().size());
        SideBySide.each(
                IntStream.range(0, items.length()).boxed().toList(),
                at -> items.set(at, acceptOne(found, delivery.events().get(at), signature)));
        List<Outcome> all =
                IntStream.range(0, items.length()).mapToObj(items::get).toList();
        for (Outcome one : all) {
            boolean alone = !delivery.batch();
            if (one instanceof Outcome.Refused(SemelException problem)
                    && (alone || problem.code().retryable())) {
                throw problem; // a retryable error fails the whole batch after every event was tried
            }
        }
        return delivery.batch() ? new Outcome.Batch(all) : all.getFirst();
    }

    private Outcome acceptOne(Found found, Supplier<Told> event, @Nullable String signature) {
        Told told;
        try {
            told = event.get();
        } catch (SemelException e) {
            recordRejection(found, Delivery.Verdict.REFUSED, e.code().slug());
            return new Outcome.Refused(e);
        }
        try {
            return storeAndDeliver(found, told, signature);
        } catch (SemelException e) {
            return new Outcome.Refused(e);
        }
    }

    private Outcome storeAndDeliver(Found found, Told told, @Nullable String signature) {
        Delivery delivery = semel.maybeChange(prepareReceive(found, told, signature));
        if (delivery == null) {
            throw new IllegalStateException("an accepted delivery must be stored");
        }
        if (delivery.verdict() == Delivery.Verdict.REFUSED) {
            throw Turned.reused();
        }
        // CRASH(delivery-stored): the delivery is stored and no run started. The provider's retry starts them.
        semel.point("delivery-stored");
        List<String> answered = signalWaitingRuns(found, told);
        return new Outcome.Received(delivery, deliver(found.workspace(), told.event(), originOf(found)), answered);
    }

    /** Signals the runs that wait for this sender, once per message, however often the provider sends it. */
    private List<String> signalWaitingRuns(Found found, Told told) {
        HookSetting.Reply reply = found.hook().reply();
        String from = reply == null ? null : Told.at(told.event().data(), reply.from());
        if (reply == null || from == null || !isSender(from)) {
            return List.of(); // not a message from a sender, such as a delivery receipt
        }
        String text = Told.at(told.event().data(), reply.text());
        JsonNode value = JsonNodeFactory.instance
                .objectNode()
                .put("from", from)
                .put("text", text == null ? "" : text)
                .put("hook", found.name())
                .put("id", told.id());
        String once = "hook:" + found.name() + "/" + told.id();
        return Letters.of(semel).reply(found.workspace(), from, value, once).runs();
    }

    private static boolean isSender(String from) {
        return !from.isBlank()
                && from.length() <= dev.semel.store.Letter.LONGEST_KEY
                && from.chars().noneMatch(Character::isISOControl);
    }

    private static @Nullable String challenge(JsonNode data) {
        JsonNode challenge = data.path("challenge");
        return "url_verification".equals(data.path("type").asString("")) && challenge.isString()
                ? challenge.stringValue()
                : null;
    }

    private Delivered deliver(int workspace, Event event, Entrance entrance) {
        return events.deliver(workspace, event, entrance);
    }

    private static Entrance originOf(Found found) {
        return new Entrance(Door.HOOK, "hook:" + found.name(), null, Trigger.Checks.NONE, found.depth());
    }

    /**
     * Reprocesses a stored delivery: existing runs are replayed, missing runs start. Null if it is no longer stored.
     *
     * @param begin called after all checks passed and before any run starts
     */
    public @Nullable Delivered again(Delivery delivery, Runnable begin) {
        if (delivery.payload() == null) {
            return null;
        }
        if (events.isTooOld(delivery.at())) {
            throw Turned.old();
        }
        begin.run();
        Entrance entrance = new Entrance(Door.HOOK, "hook:" + delivery.hook(), null);
        return deliver(delivery.ws(), Told.kept(delivery.payload()), entrance);
    }

    /** The event of a stored delivery; null if its payload was deleted. */
    public @Nullable Event eventOf(Rows.Event kept) {
        Delivery first = semel.view(reads ->
                reads.firstDelivery(kept.ws(), Told.hookOf(kept.source()), Told.idOf(kept.source(), kept.id())));
        return first == null || first.payload() == null ? null : Told.kept(first.payload());
    }

    private Edit.Receive prepareReceive(Found found, Told told, @Nullable String signature) {
        var row = new Delivery(
                semel.newId(),
                found.workspace(),
                found.name(),
                0,
                told.id(),
                told.event().type(),
                Delivery.Verdict.ACCEPTED,
                "",
                Json.write(told.event().whole()));
        return new Edit.Receive(row, memory(found.hook(), signature));
    }

    private static Delivery.Memory memory(HookSetting hook, @Nullable String signature) {
        return new Delivery.Memory(
                signature,
                switch (hook.reuse()) {
                    case FLAG -> Delivery.Reuse.FLAG;
                    case REJECT -> Delivery.Reuse.REJECT;
                    case ALLOW -> Delivery.Reuse.ALLOW;
                },
                micros(WINDOW),
                micros(hook.keep()));
    }

    private void recordRejection(Found found, Delivery.Verdict verdict, String note) {
        String place = found.workspace() + " " + found.name();
        long hour = clock.millis() / Duration.ofHours(1).toMillis();
        Long since = full.get(place);
        if (since != null && since == hour) {
            return;
        }
        var row = new Delivery(semel.newId(), found.workspace(), found.name(), 0, "", "", verdict, note, null);
        if (semel.maybeChange(new Edit.Receive(row, memory(found.hook(), null))) == null) {
            if (full.size() >= MOST_FULL) {
                full.clear();
            }
            full.put(place, hour);
        }
    }

    private static long micros(Duration duration) {
        return duration.toNanos() / 1_000;
    }

    /** The stored digest of a signature, which cannot be used to sign. */
    private static String digest(String proof) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(utf8(proof)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
