/** Loaded into the service (`--expose-gc --import`): answers every message with the bytes of buffers that are not garbage. */
process.on('message', () => {
  // The first one frees in the background, the second one waits for it.
  globalThis.gc!();
  globalThis.gc!();
  process.send!(process.memoryUsage().external);
});
process.channel?.unref();
