package dev.semel.server.connectors.webhooks;

import dev.semel.run.Base62;
import java.nio.ByteBuffer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The `src_…` id in a webhook's URL: 128 random bits, workspace and name. A request also needs a valid signature. */
public record WebhookSourceId(int workspace, String name, String text) {
    private static final Pattern FORM =
            Pattern.compile("src_[0-9A-Za-z]{22}-([1-9][0-9]{0,8})-([A-Za-z][A-Za-z0-9._-]{0,63})");

    public static final int RANDOM_BYTES = 16;
    public static final String PREFIX = "src_";

    /** @param random {@link #RANDOM_BYTES} random bytes */
    public static WebhookSourceId of(int workspace, String name, byte[] random) {
        ByteBuffer bits = ByteBuffer.wrap(random);
        String text = PREFIX + Base62.encode(bits.getLong(), bits.getLong()) + "-" + workspace + "-" + name;
        return new WebhookSourceId(workspace, name, text);
    }

    static @Nullable WebhookSourceId parse(String text) {
        Matcher form = FORM.matcher(text);
        return form.matches() ? new WebhookSourceId(Integer.parseInt(form.group(1)), form.group(2), text) : null;
    }
}
