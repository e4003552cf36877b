/** Loaded into the service (`--expose-gc --import`): answers every message with the bytes of what is not garbage: of its heap and of buffers. */
process.on('message', () => {
  // The first one frees in the background, the second one waits for it.
  globalThis.gc!();
  globalThis.gc!();
  const { heapUsed, external } = process.memoryUsage();
  process.send!({ heapUsed, external });
});
process.channel?.unref();
