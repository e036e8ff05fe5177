package dev.semel.server.monitoring;

import java.math.BigDecimal;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Sums the amounts that prevented duplicates would have cost. Texts without amount and currency are ignored. */
public final class DuplicateSavingsByCurrency {
    private static final Pattern AMOUNT_FIRST = Pattern.compile("(-?\\d{1,15}(?:\\.\\d{1,6})?)\\s*([A-Za-z]{1,16})");
    private static final Pattern CURRENCY_FIRST = Pattern.compile("([A-Za-z]{1,16})\\s*(-?\\d{1,15}(?:\\.\\d{1,6})?)");

    private final Map<String, BigDecimal> sums = new TreeMap<>();

    public void add(@Nullable String text, long times) {
        if (text == null) {
            return;
        }
        Matcher amountFirst = AMOUNT_FIRST.matcher(text.strip());
        Matcher currencyFirst = CURRENCY_FIRST.matcher(text.strip());
        if (amountFirst.matches()) {
            add(amountFirst.group(2), amountFirst.group(1), times);
        } else if (currencyFirst.matches()) {
            add(currencyFirst.group(1), currencyFirst.group(2), times);
        }
    }

    private void add(String currency, String amount, long times) {
        BigDecimal all = new BigDecimal(amount).multiply(BigDecimal.valueOf(times));
        sums.merge(currency.toUpperCase(java.util.Locale.ROOT), all, BigDecimal::add);
    }

    /** By currency. */
    public Map<String, BigDecimal> sums() {
        return sums;
    }
}
