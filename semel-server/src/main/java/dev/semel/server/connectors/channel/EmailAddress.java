package dev.semel.server.connectors.channel;

import jakarta.mail.internet.InternetAddress;
import java.io.UnsupportedEncodingException;
import java.net.IDN;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One validated email address with an optional display name. Lists, groups, comments and quoted local parts are
 * rejected, because attackers use them to disguise addresses.
 *
 * @param name display name; null for none
 * @param address in ASCII
 */
public record EmailAddress(@Nullable String name, String address) {
    private static final int LONGEST = 254;
    private static final int LONGEST_LOCAL = 64;
    private static final int LONGEST_NAME = 200;
    private static final String ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
    private static final Pattern LOCAL = Pattern.compile(ATOM + "(\\." + ATOM + ")*+");
    private static final Pattern DOMAIN = Pattern.compile(
            "([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)*+[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?");
    private static final Pattern NAMED = Pattern.compile("(.*)<([^<>]*)>\\s*", Pattern.DOTALL);

    /** Parses `ann@example.com`. Empty if the text is anything else. */
    public static Optional<EmailAddress> parseAddress(String text) {
        int at = text.lastIndexOf('@');
        if (at < 1
                || at > LONGEST_LOCAL
                || !LOCAL.matcher(text.substring(0, at)).matches()) {
            return Optional.empty();
        }
        try {
            String domain = IDN.toASCII(text.substring(at + 1), IDN.USE_STD3_ASCII_RULES);
            String address = text.substring(0, at) + "@" + domain;
            boolean fits = address.length() <= LONGEST && DOMAIN.matcher(domain).matches();
            return fits ? Optional.of(new EmailAddress(null, address)) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** Domains outside ASCII have an ASCII form; local parts have none. */
    static boolean hasNonAsciiLocalPart(String text) {
        int at = text.lastIndexOf('@');
        return at > 0 && text.substring(0, at).chars().anyMatch(c -> c > 0x7e);
    }

    /** Parses `Ann Lee <ann@example.com>` or a plain address. */
    public static Optional<EmailAddress> parseWithName(String text) {
        Matcher named = NAMED.matcher(text);
        if (!named.matches()) {
            return parseAddress(text);
        }
        String name = String.valueOf(named.group(1)).strip();
        boolean fits = name.length() <= LONGEST_NAME && name.chars().noneMatch(Character::isISOControl);
        return fits
                ? parseAddress(String.valueOf(named.group(2)).strip())
                        .map(box -> new EmailAddress(name.isEmpty() ? null : unquote(name), box.address))
                : Optional.empty();
    }

    private static String unquote(String name) {
        boolean quoted = name.length() >= 2 && name.startsWith("\"") && name.endsWith("\"");
        return quoted ? name.substring(1, name.length() - 1) : name;
    }

    String domain() {
        return address.substring(address.lastIndexOf('@') + 1);
    }

    InternetAddress toInternetAddress() {
        try {
            var header = new InternetAddress();
            header.setAddress(address);
            if (name != null) {
                header.setPersonal(name, StandardCharsets.UTF_8.name());
            }
            return header;
        } catch (UnsupportedEncodingException e) {
            throw new IllegalStateException("every Java has UTF-8", e);
        }
    }
}
