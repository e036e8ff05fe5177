package dev.semel.store;

import dev.semel.run.RunId;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;

/** Deliveries of webhooks, few ids and few signatures. Has dice of its own, as {@link SettingScript} has. */
final class DeliveryScript {
    static final List<String> HOOKS = List.of("stripe", "github");
    private static final List<InboundWebhookDelivery.DeliveryOutcome> ASKED = List.of(
            InboundWebhookDelivery.DeliveryOutcome.ACCEPTED,
            InboundWebhookDelivery.DeliveryOutcome.ACCEPTED,
            InboundWebhookDelivery.DeliveryOutcome.INVALID_SIGNATURE);

    private final RandomGenerator random = new Random(11);
    private int made;

    StoreWriteCommand<?> next() {
        if (random.nextInt(5) == 0) {
            return new StoreWriteCommand.DeleteExpiredDeliveries(1_000);
        }
        var row = new InboundWebhookDelivery(
                new RunId(900_000 + ++made, 3),
                1 + random.nextInt(2),
                HOOKS.get(random.nextInt(2)),
                0,
                "evt_" + random.nextInt(4),
                "type",
                ASKED.get(random.nextInt(3)),
                "",
                "{\"n\":" + made + "}");
        InboundWebhookDelivery.SignatureReuse[] reuses = InboundWebhookDelivery.SignatureReuse.values();
        InboundWebhookDelivery.SignatureReuse reuse = reuses[random.nextInt(reuses.length)];
        String signature = random.nextBoolean() ? "s" + random.nextInt(3) : null;
        return new StoreWriteCommand.RecordDelivery(
                row, new InboundWebhookDelivery.DedupSettings(signature, reuse, 3_600_000_000L, 1_000_000L));
    }
}
