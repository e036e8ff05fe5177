package dev.semel.server.connectors.webhooks;

import dev.semel.admission.TriggerQuota;
import dev.semel.admission.TriggerSource;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.KeyedSignalSender;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.connectors.ingress.InboundEvent;
import dev.semel.server.connectors.ingress.InboundEventOrigin;
import dev.semel.server.connectors.ingress.InboundEventProcessor;
import dev.semel.server.connectors.ingress.InboundEventResult;
import dev.semel.server.connectors.ingress.ParallelTaskRunner;
import dev.semel.server.connectors.ingress.RunTriggerChainDepthLimit;
import dev.semel.server.settings.InboundWebhookSetting;
import dev.semel.server.settings.WorkspaceSettingRepositories;
import dev.semel.server.settings.WorkspaceSettingRepository;
import dev.semel.store.DatabaseRows;
import dev.semel.store.InboundWebhookDelivery;
import dev.semel.store.StoreWriteCommand;
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
    private final WorkspaceSettingRepositories settings;
    private final InboundEventProcessor events;
    private final InstantSource clock;

    /** Webhooks whose limit of recorded forgeries for this hour is reached; further ones cost no write. */
    private final ConcurrentHashMap<String, Long> full = new ConcurrentHashMap<>();

    public WebhookReceiver(
            SemelRuntime semel,
            WorkspaceSettingRepositories settings,
            InboundEventProcessor events,
            InstantSource clock) {
        this.semel = semel;
        this.settings = settings;
        this.events = events;
        this.clock = clock;
    }

    public sealed interface Outcome {
        /**
         * @param delivered the runs it started or found
         * @param signalledRuns the runs that waited for this message and received it
         */
        record Received(InboundWebhookDelivery delivery, InboundEventResult delivered, List<String> signalledRuns)
                implements Outcome {
            /** Whether the delivery was a duplicate and started nothing. */
            public boolean replayed() {
                boolean known = delivery.outcome() == InboundWebhookDelivery.DeliveryOutcome.REPLAYED;
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
    private record ResolvedWebhook(int workspace, String name, InboundWebhookSetting setting, int depth) {
        WebhookPreset plan() {
            return WebhookPreset.of(setting);
        }
    }

    /** Processes a delivery. Throws the error response if it is rejected. */
    public Outcome receive(String source, InboundWebhookRequest webhookRequest) {
        ResolvedWebhook found =
                find(source, RunTriggerChainDepthLimit.parse(webhookRequest.header(RunTriggerChainDepthLimit.HEADER)));
        WebhookPreset plan = found.plan();
        WebhookSignatureVerifier.VerificationInputs proofs = verificationInputs(found);
        return switch (WebhookSignatureVerifier.verify(plan.scheme(), plan.tolerance(), webhookRequest, proofs)) {
            case WebhookSignatureVerifier.Verdict.Genuine(String proof) -> accept(found, webhookRequest, proof);
            case WebhookSignatureVerifier.Verdict.Forged _ -> {
                recordRejection(found, InboundWebhookDelivery.DeliveryOutcome.INVALID_SIGNATURE, "");
                throw InboundWebhookErrorFactory.invalidSignature();
            }
            case WebhookSignatureVerifier.Verdict.Stale _ -> {
                recordRejection(found, InboundWebhookDelivery.DeliveryOutcome.STALE, "");
                throw InboundWebhookErrorFactory.staleTimestamp();
            }
            case WebhookSignatureVerifier.Verdict.Unknown(String rule) -> {
                recordRejection(found, InboundWebhookDelivery.DeliveryOutcome.REJECTED, rule);
                throw InboundWebhookErrorFactory.secretUnavailable();
            }
        };
    }

    /**
     * Meta's verification of the URL: the response must contain the challenge of the request.
     *
     * @throws SemelException 404 if the source verifies no URL, 401 if the token is wrong
     */
    public String verifyUrl(String source, String token, String challenge) {
        ResolvedWebhook found = find(source, 0);
        String name = found.setting().verifyToken();
        if (name == null) {
            throw InboundWebhookErrorFactory.unknownSource();
        }
        String expected;
        try {
            expected = settings.secrets().reveal(found.workspace(), name);
        } catch (SemelException e) {
            throw e.code().retryable() ? e : InboundWebhookErrorFactory.secretUnavailable();
        }
        if (!MessageDigest.isEqual(HmacSignatureFormat.utf8(expected), HmacSignatureFormat.utf8(token))) {
            throw InboundWebhookErrorFactory.wrongVerifyToken();
        }
        return challenge;
    }

    /** Resolves the source; malformed, unknown and almost correct sources get the same error. */
    private ResolvedWebhook find(String text, int depth) {
        WebhookSourceId source = WebhookSourceId.parse(text);
        WorkspaceSettingRepository.StoredSetting<InboundWebhookSetting> stored =
                source == null ? null : settings.webhooks().find(source.workspace(), source.name());
        // Compares even if no webhook exists, so that timing does not reveal which ones exist.
        byte[] expected = HmacSignatureFormat.utf8(
                stored == null ? "src_" : stored.value().source());
        boolean right = MessageDigest.isEqual(expected, HmacSignatureFormat.utf8(text));
        if (source == null || stored == null || !right) {
            throw InboundWebhookErrorFactory.unknownSource();
        }
        return new ResolvedWebhook(source.workspace(), source.name(), stored.value(), depth);
    }

    private WebhookSignatureVerifier.VerificationInputs verificationInputs(ResolvedWebhook found) {
        List<String> secrets = new ArrayList<>();
        String missing = null;
        for (String name : found.setting().secrets()) {
            try {
                secrets.add(settings.secrets().reveal(found.workspace(), name));
            } catch (SemelException e) {
                if (e.code().retryable()) {
                    throw e;
                }
                missing = "secret " + name + " is missing or cannot be decrypted";
            }
        }
        return new WebhookSignatureVerifier.VerificationInputs(secrets, missing, clock.instant());
    }

    private Outcome accept(ResolvedWebhook found, InboundWebhookRequest webhookRequest, String proof) {
        if (found.setting().preset().equals("cloudevents")) {
            return acceptCloud(found, webhookRequest, proof);
        }
        WebhookPreset plan = found.plan();
        VerifiedWebhookEvent verifiedWebhookEvent;
        try {
            JsonNode data = WebhookBodyParser.parse(webhookRequest, WebhookPreset.acceptsForms(found.setting()));
            String challenge = found.setting().preset().equals("slack") ? challenge(data) : null;
            if (challenge != null) {
                return new Outcome.Challenge(challenge);
            }
            verifiedWebhookEvent = VerifiedWebhookEvent.read(plan, webhookRequest, data, found.name());
        } catch (SemelException e) {
            recordRejection(
                    found,
                    InboundWebhookDelivery.DeliveryOutcome.REJECTED,
                    e.code().slug());
            throw e;
        }
        return storeAndDeliver(found, verifiedWebhookEvent, plan.signsIdAndType() ? null : digest(proof));
    }

    private Outcome acceptCloud(ResolvedWebhook found, InboundWebhookRequest webhookRequest, String proof) {
        CloudEventsWebhookDelivery delivery;
        try {
            delivery = CloudEventsWebhookDelivery.of(webhookRequest, found.name());
        } catch (SemelException e) {
            recordRejection(
                    found,
                    InboundWebhookDelivery.DeliveryOutcome.REJECTED,
                    e.code().slug());
            throw e;
        }
        boolean named = delivery.signed() || found.setting().check() == InboundWebhookSetting.VerificationMethod.BEARER;
        String signature = named ? null : digest(proof);
        AtomicReferenceArray<Outcome> items =
                new AtomicReferenceArray<>(delivery.events().size());
        ParallelTaskRunner.runAll(
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
        VerifiedWebhookEvent verifiedWebhookEvent;
        try {
            verifiedWebhookEvent = event.get();
        } catch (SemelException e) {
            recordRejection(
                    found,
                    InboundWebhookDelivery.DeliveryOutcome.REJECTED,
                    e.code().slug());
            return new Outcome.Rejected(e);
        }
        try {
            return storeAndDeliver(found, verifiedWebhookEvent, signature);
        } catch (SemelException e) {
            return new Outcome.Rejected(e);
        }
    }

    private Outcome storeAndDeliver(ResolvedWebhook found, VerifiedWebhookEvent received, @Nullable String signature) {
        InboundWebhookDelivery delivery = semel.changeOrNull(prepareReceive(found, received, signature));
        if (delivery == null) {
            throw new IllegalStateException("an accepted delivery must be stored");
        }
        if (delivery.outcome() == InboundWebhookDelivery.DeliveryOutcome.REJECTED) {
            throw InboundWebhookErrorFactory.reusedSignature();
        }
        // CRASH(delivery-stored): the delivery is stored and no run started. The provider's retry starts them.
        semel.crashPoint("delivery-stored");
        VerifiedWebhookEvent verifiedWebhookEvent =
                delivery.outcome() == InboundWebhookDelivery.DeliveryOutcome.REPLAYED && signature != null
                        ? firstOf(found, delivery, signature)
                        : received;
        if (verifiedWebhookEvent == null) {
            var nothing = new InboundEventResult(delivery.eventId(), true, List.of(), List.of());
            return new Outcome.Received(delivery, nothing, List.of());
        }
        List<String> answered = signalWaitingRuns(found, verifiedWebhookEvent);
        return new Outcome.Received(
                delivery, events.deliver(found.workspace(), verifiedWebhookEvent.event(), originOf(found)), answered);
    }

    /**
     * The event of the first delivery with this signature, so that a duplicate under another id reaches the same runs.
     * Null if its payload was deleted.
     */
    private @Nullable VerifiedWebhookEvent firstOf(
            ResolvedWebhook found, InboundWebhookDelivery delivery, String signature) {
        InboundWebhookDelivery first = semel.view(reads -> {
            InboundWebhookDelivery sameType =
                    reads.firstDelivery(found.workspace(), found.name(), delivery.signatureAndTypeKey(signature));
            return sameType != null
                    ? sameType
                    : reads.firstDelivery(
                            found.workspace(), found.name(), InboundWebhookDelivery.signatureKey(signature));
        });
        return first == null || first.payload() == null
                ? null
                : new VerifiedWebhookEvent(first.eventId(), VerifiedWebhookEvent.parseStored(first.payload()));
    }

    /** Signals the runs that wait for this sender, once per message, however often the provider sends it. */
    private List<String> signalWaitingRuns(ResolvedWebhook found, VerifiedWebhookEvent verifiedWebhookEvent) {
        InboundWebhookSetting.ReplyFields reply = found.setting().reply();
        String from = reply == null
                ? null
                : VerifiedWebhookEvent.textAt(verifiedWebhookEvent.event().data(), reply.from());
        if (reply == null || from == null || !isSender(from)) {
            return List.of(); // not a message from a sender, such as a delivery receipt
        }
        String text = VerifiedWebhookEvent.textAt(verifiedWebhookEvent.event().data(), reply.text());
        JsonNode value = JsonNodeFactory.instance
                .objectNode()
                .put("from", from)
                .put("text", text == null ? "" : text)
                .put("webhook", found.name())
                .put("id", verifiedWebhookEvent.id());
        String once = "webhook:" + found.name() + "/" + verifiedWebhookEvent.id();
        return KeyedSignalSender.of(semel)
                .sendReply(found.workspace(), from, value, once)
                .runIds();
    }

    private static boolean isSender(String from) {
        return !from.isBlank()
                && from.length() <= dev.semel.store.KeyedSignalStoreWriteCommand.MAX_KEY_LENGTH
                && from.chars().noneMatch(Character::isISOControl);
    }

    private static @Nullable String challenge(JsonNode data) {
        JsonNode challenge = data.path("challenge");
        return "url_verification".equals(data.path("type").asString("")) && challenge.isString()
                ? challenge.stringValue()
                : null;
    }

    private static InboundEventOrigin originOf(ResolvedWebhook found) {
        return new InboundEventOrigin(
                TriggerSource.WEBHOOK, "webhook:" + found.name(), null, TriggerQuota.NONE, found.depth());
    }

    /**
     * Reprocesses a stored delivery: existing runs are replayed, missing runs start. Null if it is no longer stored.
     *
     * @param begin called after all checks passed and before any run starts
     */
    public @Nullable InboundEventResult reprocess(InboundWebhookDelivery delivery, Runnable begin) {
        if (delivery.payload() == null) {
            return null;
        }
        if (events.isTooOld(delivery.at())) {
            throw InboundWebhookErrorFactory.tooOldToReprocess();
        }
        begin.run();
        InboundEventOrigin entrance =
                new InboundEventOrigin(TriggerSource.WEBHOOK, "webhook:" + delivery.source(), null);
        return events.deliver(delivery.ws(), VerifiedWebhookEvent.parseStored(delivery.payload()), entrance);
    }

    /** The event of a stored delivery; null if its payload was deleted. */
    public @Nullable InboundEvent eventOf(DatabaseRows.EventRow eventRow) {
        InboundWebhookDelivery first = semel.view(reads -> reads.firstDelivery(
                eventRow.ws(),
                VerifiedWebhookEvent.webhookNameOf(eventRow.source()),
                InboundWebhookDelivery.dedupKey(VerifiedWebhookEvent.deliveryIdOf(eventRow.source(), eventRow.id()))));
        return first == null || first.payload() == null ? null : VerifiedWebhookEvent.parseStored(first.payload());
    }

    private StoreWriteCommand.RecordDelivery prepareReceive(
            ResolvedWebhook found, VerifiedWebhookEvent verifiedWebhookEvent, @Nullable String signature) {
        var row = new InboundWebhookDelivery(
                semel.newId(),
                found.workspace(),
                found.name(),
                0,
                verifiedWebhookEvent.id(),
                verifiedWebhookEvent.event().type(),
                InboundWebhookDelivery.DeliveryOutcome.ACCEPTED,
                "",
                StrictJsonCodec.write(verifiedWebhookEvent.event().envelope()));
        return new StoreWriteCommand.RecordDelivery(row, memory(found.setting(), signature));
    }

    private static InboundWebhookDelivery.DedupSettings memory(
            InboundWebhookSetting webhook, @Nullable String signature) {
        return new InboundWebhookDelivery.DedupSettings(
                signature, webhook.reuse(), micros(WINDOW), micros(webhook.retention()));
    }

    private void recordRejection(
            ResolvedWebhook found, InboundWebhookDelivery.DeliveryOutcome deliveryOutcome, String note) {
        String place = found.workspace() + " " + found.name();
        long hour = clock.millis() / Duration.ofHours(1).toMillis();
        Long since = full.get(place);
        if (since != null && since == hour) {
            return;
        }
        var row = new InboundWebhookDelivery(
                semel.newId(), found.workspace(), found.name(), 0, "", "", deliveryOutcome, note, null);
        if (semel.changeOrNull(new StoreWriteCommand.RecordDelivery(row, memory(found.setting(), null))) == null) {
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
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(HmacSignatureFormat.utf8(proof)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
