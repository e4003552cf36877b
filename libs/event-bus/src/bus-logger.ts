/** The part of a pino logger that a bus uses. Fields hold names, positions and counts, never payloads. */
export interface BusLogger {
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}
