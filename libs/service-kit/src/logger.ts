import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';

/** Delivery tokens, credentials and presigned signatures, wherever they stand in a text (design: delivery.md). */
const secrets: readonly (readonly [RegExp, string])[] = [
  [/t1\.[A-Za-z0-9_-]{40,}/g, 't1.***'],
  [/\b(lw|svc)_(key|pat|mcp)_[A-Za-z0-9_-]{8,}/g, '$1_$2_***'],
  [/(X-Amz-(?:Signature|Credential|Security-Token)=)[^&\s"]+/gi, '$1***'],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+/g, 'jwt.***'],
  [/(:\/\/[^:@/?#\s"]*:)[^/?#\s"]+@/g, '$1***@'],
];

/** A text without credentials, delivery tokens or signatures. */
export function redact(text: string): string {
  return secrets.reduce((clean, [pattern, replacement]) => clean.replace(pattern, replacement), text);
}

/** A structured logger, one JSON line per event; every line passes `redact`. */
export function createLogger(service: string, level: string, destination?: DestinationStream): Logger {
  const target = destination ?? { write: (line: string) => void process.stdout.write(line) };
  return pino(
    {
      level,
      base: { service },
      messageKey: 'event',
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => target.write(redact(line)) },
  );
}

export type { Logger };
