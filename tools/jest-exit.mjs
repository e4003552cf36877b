/**
 * Imported by jest's process: ends it once nothing is left to wait for, as it would end by itself. By itself Node 24.21 was seen to run for ever in
 * the cleanup behind that moment (`Environment::CleanupHandles`), after tests had broken off TLS connections. What holds a process open still does.
 */
process.once('beforeExit', () => process.exit());
