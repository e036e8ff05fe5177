package dev.semel.store;

final class MemoryStoreTest extends StoreContract {
    @Override
    Place place() {
        return new MemoryPlace();
    }
}
