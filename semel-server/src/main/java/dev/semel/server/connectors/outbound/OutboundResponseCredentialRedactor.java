package dev.semel.server.connectors.outbound;

import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Runs before a response is recorded: servers may repeat the credential, and only the request knows a fresh token. */
final class OutboundResponseCredentialRedactor {
    private static final String MARK = "•••";
    private static final int SHORTEST = 4;

    private OutboundResponseCredentialRedactor() {}

    static OutboundResponse removeEchoes(OutboundResponse answer, OutboundRequest request) {
        Set<String> needles = searchTexts(request);
        if (needles.isEmpty()) {
            return answer;
        }
        // Latin 1 maps every byte to one character and back, whatever the encoding of the body.
        String text = new String(answer.body(), StandardCharsets.ISO_8859_1);
        String mark = new String(MARK.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        Map<String, List<String>> headers = new LinkedHashMap<>();
        answer.headers().map().forEach((name, values) -> {
            List<String> clean = new ArrayList<>();
            values.forEach(value -> clean.add(replaceAll(value, needles, MARK)));
            headers.put(name, clean);
        });
        return new OutboundResponse(
                answer.status(),
                HttpHeaders.of(headers, (_, _) -> true),
                replaceAll(text, needles, mark).getBytes(StandardCharsets.ISO_8859_1));
    }

    private static Set<String> searchTexts(OutboundRequest request) {
        Set<String> needles = new HashSet<>();
        for (OutboundRequestHeader header : request.headers()) {
            if (header.secret() && header.value().length() >= SHORTEST) {
                int space = header.value().indexOf(' ');
                String token = header.value().substring(space + 1);
                needles.add(token.length() >= SHORTEST ? token : header.value());
            }
        }
        return needles;
    }

    private static String replaceAll(String text, Set<String> needles, String mark) {
        String clean = text;
        for (String needle : needles) {
            clean = clean.replace(needle, mark);
        }
        return clean;
    }
}
