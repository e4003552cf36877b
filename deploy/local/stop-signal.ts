/**
 * Resolves once somebody wants this process to end: Ctrl-C, SIGTERM, SIGHUP, or the launcher's death (its channel closes).
 * A second Ctrl-C ends it at once; the children then end by their death signal or at the next start.
 */
export function stopRequested(): Promise<string> {
  process.channel?.unref();
  return new Promise((resolve) => {
    let asked = false;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => {
        if (asked && signal === 'SIGINT') process.exit(130);
        asked = true;
        resolve(signal);
      });
    process.once('disconnect', () => resolve('disconnect'));
  });
}
