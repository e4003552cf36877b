import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';
import { redact } from './redact.ts';

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
