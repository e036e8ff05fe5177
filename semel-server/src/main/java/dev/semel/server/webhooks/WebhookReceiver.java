package dev.semel.server.webhooks;

import dev.semel.runtime.KeyedSignals;
import dev.semel.runtime.SemelRuntime;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.server.ingress.EventDeliveryResult;
import dev.semel.server.ingress.RunDepthLimit;
import dev.semel.server.ingress.EventOrigin;
import dev.semel.server.ingress.InboundEvent;
import dev.semel.server.ingress.EventIngress;
import dev.semel.server.ingress.ParallelTasks;
import dev.semel.server.settings.WebhookSetting;
import dev.semel.server.settings.WorkspaceSettings;
import dev.semel.server.settings.SettingRepository;
import dev.semel.store.WebhookDelivery;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoredRows;
import dev.semel.trigger.TriggerSource;
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
public final class WebhookReceiver {
    /** Deduplication window; providers retry for up to three days. */
    private static final Duration WINDOW = Duration.ofDays(7);

    private static final int MOST_FULL = 10_000;

    private final SemelRuntime semel;
    private final WorkspaceSettings settings;
    private final EventIngress events;
    private final InstantSource clock;

    /** Webhooks whose limit of recorded forgeries for this hour is reached; further ones cost no write. */
    private final ConcurrentHashMap<String, Long> full = new ConcurrentHashMap<>();

    public WebhookReceiver(SemelRuntime semel, WorkspaceSettings settings, EventIngress events, InstantSource clock) {
        this.semel = semel;
        this.settings = settings;
        this.events = events;
        this.clock = clock;
    }

    /** The result of a delivery. */
    public sealed interface Outcome {
        /**
         * @param delivered the runs it started or found
         * @param signalledRuns the runs that waited for this message and received it
         */
        record Received(WebhookDelivery delivery, EventDeliveryResult delivered, List<String> signalledRuns) implements Outcome {
            /** Whether the delivery was a duplicate and started nothing. */
            public boolean replayed() {
                boolean known = delivery.verdict() == WebhookDelivery.DeliveryVerdict.REPEATED;
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
        record Rejected(SemelException problem) implements Outcome {}
    }

    /** @param depth length of the chain of runs that started each other */
    private record ResolvedWebhook(int workspace, String name, WebhookSetting hook, int depth) {
        WebhookPreset plan() {
            return WebhookPreset.of(hook);
        }
    }

    /** Processes a delivery. Throws the error response if it is rejected. */
    public Outcome receive(String source, WebhookRequest letter) {
        ResolvedWebhook found = find(source, RunDepthLimit.parse(letter.header(RunDepthLimit.HEADER)));
        WebhookPreset plan = found.plan();
        SignatureVerifier.VerificationInputs proofs = verificationInputs(found);
        return switch (SignatureVerifier.verify(plan.scheme(), plan.tolerance(), letter, proofs)) {
            case SignatureVerifier.Verdict.Genuine(String proof) -> accept(found, letter, proof);
            case SignatureVerifier.Verdict.Forged _ -> {
                recordRejection(found, WebhookDelivery.DeliveryVerdict.FORGED, "");
                throw WebhookRejections.invalidSignature();
            }
            case SignatureVerifier.Verdict.Stale _ -> {
                recordRejection(found, WebhookDelivery.DeliveryVerdict.STALE, "");
                throw WebhookRejections.staleTimestamp();
            }
            case SignatureVerifier.Verdict.Unknown(String rule) -> {
                recordRejection(found, WebhookDelivery.DeliveryVerdict.REFUSED, rule);
                throw WebhookRejections.secretUnavailable();
            }
        };
    }

    /** Resolves the source; malformed, unknown and almost correct sources get the same error. */
    private ResolvedWebhook find(String text, int depth) {
        WebhookSourceId source = WebhookSourceId.parse(text);
        SettingRepository.StoredSetting<WebhookSetting> kept = source == null ? null : settings.webhooks().find(source.workspace(), source.name());
        // Compares even if no webhook exists, so that timing does not reveal which ones exist.
        byte[] expected = utf8(kept == null ? "src_" : kept.value().source());
        boolean right = MessageDigest.isEqual(expected, utf8(text));
        if (source == null || kept == null || !right) {
            throw WebhookRejections.unknownSource();
        }
        return new ResolvedWebhook(source.workspace(), source.name(), kept.value(), depth);
    }

    private SignatureVerifier.VerificationInputs verificationInputs(ResolvedWebhook found) {
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
        return new SignatureVerifier.VerificationInputs(secrets, missing, clock.instant());
    }

    private Outcome accept(ResolvedWebhook found, WebhookRequest letter, String proof) {
        if (found.hook().preset().equals("cloudevents")) {
            return acceptCloud(found, letter, proof);
        }
        WebhookPreset plan = found.plan();
        VerifiedWebhookEvent told;
        try {
            JsonNode data = WebhookBodyParser.parse(letter, WebhookPreset.acceptsForms(found.hook()));
            String challenge = found.hook().preset().equals("slack") ? challenge(data) : null;
            if (challenge != null) {
                return new Outcome.Challenge(challenge);
            }
            told = VerifiedWebhookEvent.read(plan, letter, data, found.name());
        } catch (SemelException e) {
            recordRejection(found, WebhookDelivery.DeliveryVerdict.REFUSED, e.code().slug());
            throw e;
        }
        return storeAndDeliver(found, told, plan.signsIdAndType() ? null : digest(proof));
    }

    private Outcome acceptCloud(ResolvedWebhook found, WebhookRequest letter, String proof) {
        CloudEventsDelivery delivery;
        try {
            delivery = CloudEventsDelivery.of(letter, found.name());
        } catch (SemelException e) {
            recordRejection(found, WebhookDelivery.DeliveryVerdict.REFUSED, e.code().slug());
            throw e;
        }
        boolean named = delivery.signed() || found.hook().check() == WebhookSetting.VerificationMethod.BEARER;
        String signature = named ? null : digest(proof);
        AtomicReferenceArray<Outcome> items =
                new AtomicReferenceArray<>(delivery.events().size());
        ParallelTasks.runAll(
                IntStream.range(0, items.length()).boxed().toList(),
                at -> items.set(at, acceptOne(found, delivery.events().get(at), signature)));
        List<Outcome> all =
                IntStream.range(0, items.length()).mapToObj(items::get).toList();
        for (Outcome one : all) {
            boolean alone = !delivery.batch();
            if (one instanceof Outcome.Rejected(SemelException problem)
                    && (alone || problem.code().retryable())) {
                throw problem; // a retryable error fails the whole batch after every event was tried
            }
        }
        return delivery.batch() ? new Outcome.Batch(all) : all.getFirst();
    }

    private Outcome acceptOne(ResolvedWebhook found, Supplier<VerifiedWebhookEvent> event, @Nullable String signature) {
        VerifiedWebhookEvent told;
        try {
            told = event.get();
        } catch (SemelException e) {
            recordRejection(found, WebhookDelivery.DeliveryVerdict.REFUSED, e.code().slug());
            return new Outcome.Rejected(e);
        }
        try {
            return storeAndDeliver(found, told, signature);
        } catch (SemelException e) {
            return new Outcome.Rejected(e);
        }
    }

    private Outcome storeAndDeliver(ResolvedWebhook found, VerifiedWebhookEvent told, @Nullable String signature) {
        WebhookDelivery delivery = semel.changeOrNull(prepareReceive(found, told, signature));
        if (delivery == null) {
            throw new IllegalStateException("an accepted delivery must be stored");
        }
        if (delivery.verdict() == WebhookDelivery.DeliveryVerdict.REFUSED) {
            throw WebhookRejections.reusedSignature();
        }
        // CRASH(delivery-stored): the delivery is stored and no run started. The provider's retry starts them.
        semel.crashPoint("delivery-stored");
        List<String> answered = signalWaitingRuns(found, told);
        return new Outcome.Received(delivery, deliver(found.workspace(), told.event(), originOf(found)), answered);
    }

    /** Signals the runs that wait for this sender, once per message, however often the provider sends it. */
    private List<String> signalWaitingRuns(ResolvedWebhook found, VerifiedWebhookEvent told) {
        WebhookSetting.ReplyFields reply = found.hook().reply();
        String from = reply == null ? null : VerifiedWebhookEvent.textAt(told.event().data(), reply.from());
        if (reply == null || from == null || !isSender(from)) {
            return List.of(); // not a message from a sender, such as a delivery receipt
        }
        String text = VerifiedWebhookEvent.textAt(told.event().data(), reply.text());
        JsonNode value = JsonNodeFactory.instance
                .objectNode()
                .put("from", from)
                .put("text", text == null ? "" : text)
                .put("hook", found.name())
                .put("id", told.id());
        String once = "hook:" + found.name() + "/" + told.id();
        return KeyedSignals.of(semel).sendReply(found.workspace(), from, value, once).runIds();
    }

    private static boolean isSender(String from) {
        return !from.isBlank()
                && from.length() <= dev.semel.store.KeyedSignalOperation.MAX_KEY_LENGTH
                && from.chars().noneMatch(Character::isISOControl);
    }

    private static @Nullable String challenge(JsonNode data) {
        JsonNode challenge = data.path("challenge");
        return "url_verification".equals(data.path("type").asString("")) && challenge.isString()
                ? challenge.stringValue()
                : null;
    }

    private EventDeliveryResult deliver(int workspace, InboundEvent event, EventOrigin entrance) {
        return events.deliver(workspace, event, entrance);
    }

    private static EventOrigin originOf(ResolvedWebhook found) {
        return new EventOrigin(TriggerSource.HOOK, "hook:" + found.name(), null, Trigger.AdmissionChecks.NONE, found.depth());
    }

    /**
     * Reprocesses a stored delivery: existing runs are replayed, missing runs start. Null if it is no longer stored.
     *
     * @param begin called after all checks passed and before any run starts
     */
    public @Nullable EventDeliveryResult reprocess(WebhookDelivery delivery, Runnable begin) {
        if (delivery.payload() == null) {
            return null;
        }
        if (events.isTooOld(delivery.at())) {
            throw WebhookRejections.tooOldToReprocess();
        }
        begin.run();
        EventOrigin entrance = new EventOrigin(TriggerSource.HOOK, "hook:" + delivery.source(), null);
        return deliver(delivery.ws(), VerifiedWebhookEvent.parseStored(delivery.payload()), entrance);
    }

    /** The event of a stored delivery; null if its payload was deleted. */
    public @Nullable InboundEvent eventOf(StoredRows.EventRow kept) {
        WebhookDelivery first = semel.view(reads ->
                reads.firstDelivery(kept.ws(), VerifiedWebhookEvent.webhookNameOf(kept.source()), VerifiedWebhookEvent.deliveryIdOf(kept.source(), kept.id())));
        return first == null || first.payload() == null ? null : VerifiedWebhookEvent.parseStored(first.payload());
    }

    private StoreCommand.RecordDelivery prepareReceive(ResolvedWebhook found, VerifiedWebhookEvent told, @Nullable String signature) {
        var row = new WebhookDelivery(
                semel.newId(),
                found.workspace(),
                found.name(),
                0,
                told.id(),
                told.event().type(),
                WebhookDelivery.DeliveryVerdict.ACCEPTED,
                "",
                StrictJson.write(told.event().envelope()));
        return new StoreCommand.RecordDelivery(row, memory(found.hook(), signature));
    }

    private static WebhookDelivery.DedupSettings memory(WebhookSetting hook, @Nullable String signature) {
        return new WebhookDelivery.DedupSettings(
                signature,
                switch (hook.reuse()) {
                    case FLAG -> WebhookDelivery.SignatureReuse.FLAG;
                    case REJECT -> WebhookDelivery.SignatureReuse.REJECT;
                    case ALLOW -> WebhookDelivery.SignatureReuse.ALLOW;
                },
                micros(WINDOW),
                micros(hook.retention()));
    }

    private void recordRejection(ResolvedWebhook found, WebhookDelivery.DeliveryVerdict verdict, String note) {
        String place = found.workspace() + " " + found.name();
        long hour = clock.millis() / Duration.ofHours(1).toMillis();
        Long since = full.get(place);
        if (since != null && since == hour) {
            return;
        }
        var row = new WebhookDelivery(semel.newId(), found.workspace(), found.name(), 0, "", "", verdict, note, null);
        if (semel.changeOrNull(new StoreCommand.RecordDelivery(row, memory(found.hook(), null))) == null) {
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
