package dev.semel.server.http;

/** Answers one request. A thrown {@link dev.semel.error.SemelException} becomes its problem document. */
@FunctionalInterface
public interface Handler {
    Answer handle(Request request) throws Exception;
}
