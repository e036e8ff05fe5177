package dev.semel.server.connectors.outbound;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Collectors;

/** Encodes `application/x-www-form-urlencoded` bodies and percent-encoded URL parts. */
public final class FormUrlEncoder {
    public static final String TYPE = "application/x-www-form-urlencoded";

    private FormUrlEncoder() {}

    public static String encode(Map<String, String> fields) {
        return fields.entrySet().stream()
                .map(field -> encode(field.getKey()) + "=" + encode(field.getValue()))
                .collect(Collectors.joining("&"));
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    /** Encodes a path or query part: everything except letters, digits and -._~. */
    public static String percentEncode(String text) {
        var out = new StringBuilder();
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xff);
            boolean plain = c < 0x80 && (Character.isLetterOrDigit(c) || "-._~".indexOf(c) >= 0);
            out.append(plain ? String.valueOf(c) : "%%%02X".formatted((int) c));
        }
        return out.toString();
    }
}
