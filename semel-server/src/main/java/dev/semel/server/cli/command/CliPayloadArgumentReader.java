package dev.semel.server.cli.command;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;

/** `--data`: JSON, `@file`, or `-` for stdin. The text is sent unchanged, so no number is rounded. */
public final class CliPayloadArgumentReader {
    /** Far above any server's limit; it only keeps a wrong file from filling the memory. */
    private static final int LARGEST = 32 << 20;

    private CliPayloadArgumentReader() {}

    public static String read(String option, CliCommandEnvironment environment) {
        String text = switch (option) {
            case "-" -> decode(environment.in(), "stdin");
            case String file when file.startsWith("@") -> file(file.substring(1), environment);
            default -> option;
        };
        // U+FFFD marks what the locale could not decode. Sending it would silently change the payload.
        if (text.indexOf('\ufffd') >= 0) {
            throw bad(
                    "The data contains characters that this locale cannot decode. Nothing was sent.",
                    "Put the data into a UTF-8 file and pass --data @FILE.");
        }
        try {
            if (TerminalJsonFormatter.parse(text).isMissingNode()) {
                throw bad("The data is empty. Nothing was sent.", "Leave --data out to send {}.");
            }
        } catch (JacksonException invalid) {
            TokenStreamLocation at = invalid.getLocation();
            String where = at == null ? "" : ", at line " + at.getLineNr() + ", column " + at.getColumnNr();
            throw bad(
                    "The data is not one JSON value" + where + ". Nothing was sent.",
                    "Quote the data for the shell: --data '{\"amount\":4900}', or use --data @FILE.");
        }
        return text;
    }

    private static String file(String name, CliCommandEnvironment environment) {
        try (InputStream in = Files.newInputStream(environment.folder().resolve(name))) {
            return decode(in, name);
        } catch (IOException unreadable) {
            throw bad(
                    "The data file cannot be read: " + TerminalJsonFormatter.sanitize(name) + ". Nothing was sent.",
                    "Check the path after the @.");
        }
    }

    private static String decode(InputStream in, String where) {
        try {
            byte[] bytes = in.readNBytes(LARGEST + 1);
            if (bytes.length > LARGEST) {
                throw bad(
                        "The data in " + where + " is larger than 32 MiB. Nothing was sent.",
                        "Store the data elsewhere and send a reference to it.");
            }
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            return text.startsWith("\ufeff") ? text.substring(1) : text;
        } catch (CharacterCodingException notText) {
            throw bad("The data in " + where + " is not UTF-8. Nothing was sent.", "Convert it to UTF-8.");
        } catch (IOException broken) {
            throw bad("The data in " + where + " could not be read completely. Nothing was sent.", "Try again.");
        }
    }

    private static CliCommandException bad(String detail, String fix) {
        return CliCommandException.create(ExitCode.USAGE, "invalid-data", detail, fix);
    }
}
