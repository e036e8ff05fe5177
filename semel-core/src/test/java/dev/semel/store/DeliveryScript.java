package dev.semel.store;

import dev.semel.run.RunId;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;

/** Deliveries of webhooks, few ids and few signatures. Has dice of its own, as {@link SettingScript} has. */
final class DeliveryScript {
    static final List<String> HOOKS = List.of("stripe", "github");
    private static final List<WebhookDelivery.DeliveryOutcome> ASKED = List.of(
            WebhookDelivery.DeliveryOutcome.ACCEPTED,
            WebhookDelivery.DeliveryOutcome.ACCEPTED,
            WebhookDelivery.DeliveryOutcome.INVALID_SIGNATURE);

    private final RandomGenerator random = new Random(11);
    private int made;

    StoreCommand<?> next() {
        if (random.nextInt(5) == 0) {
            return new StoreCommand.DeleteExpiredDeliveries(1_000);
        }
        var row = new WebhookDelivery(
                new RunId(900_000 + ++made, 3),
                1 + random.nextInt(2),
                HOOKS.get(random.nextInt(2)),
                0,
                "evt_" + random.nextInt(4),
                "type",
                ASKED.get(random.nextInt(3)),
                "",
                "{\"n\":" + made + "}");
        WebhookDelivery.SignatureReuse reuse = WebhookDelivery.SignatureReuse.values()[random.nextInt(3)];
        String signature = random.nextBoolean() ? "s" + random.nextInt(3) : null;
        return new StoreCommand.RecordDelivery(
                row, new WebhookDelivery.DedupSettings(signature, reuse, 3_600_000_000L, 1_000_000L));
    }
}
