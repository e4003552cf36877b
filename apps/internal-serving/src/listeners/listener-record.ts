import { hash } from 'node:crypto';

/** One serving that a cap may count: its key, time and decision. */
export interface ServingEntry {
  /** First 8 bytes of the SHA-256 of the cap key, base64url: it does not show which ad was played. */
  readonly key: string;
  readonly atMs: number;
  /** First 6 bytes of the SHA-256 of the decision id, base64url. */
  readonly decision: string;
}

/** Listener keys live a month, and their predecessors are read two days longer; nothing older can be asked for. */
export const recordLifeMs = 34 * 86_400_000;
/** The newest are kept. Only many people behind one address reach this number. */
const maxEntries = 1_000;

const shortHash = (text: string, bytes: number) =>
  hash('sha256', text, 'buffer').subarray(0, bytes).toString('base64url');

const entryKey = (capKey: string) => shortHash(capKey, 8);
const decisionTag = (decisionId: string) => shortHash(decisionId, 6);

/** Entries of a stored record: one a line, time in base 36, oldest first. Other lines are skipped. */
export function parseRecord(text: string | null): readonly ServingEntry[] {
  return (text ?? '').split('\n').flatMap((line) => {
    const [key, time, decision] = line.split(' ');
    const atMs = parseInt(time ?? '', 36);
    return key && decision && !Number.isNaN(atMs) ? [{ key, atMs, decision }] : [];
  });
}

const renderRecord = (entries: readonly ServingEntry[]) =>
  entries.map(({ key, atMs, decision }) => `${key} ${atMs.toString(36)} ${decision}`).join('\n');

/**
 * The record with exactly these servings of the decision, whatever it held of it before, so that retries change nothing; without
 * what is too old to be asked for.
 */
export function putServings(
  entries: readonly ServingEntry[],
  decisionId: string,
  capKeys: readonly string[],
  atMs: number,
): string {
  const decision = decisionTag(decisionId);
  const others = entries.filter((entry) => entry.decision !== decision && entry.atMs > atMs - recordLifeMs);
  const own = capKeys.map((capKey) => ({ key: entryKey(capKey), atMs, decision }));
  return renderRecord([...others, ...own].sort((a, b) => a.atMs - b.atMs).slice(-maxEntries));
}

/** Counts servings by cap key since a time, those of the decision itself left out. */
export function countServings(
  entries: readonly ServingEntry[],
  decisionId: string,
): (capKey: string, sinceMs: number) => number {
  if (entries.length === 0) return () => 0;
  const decision = decisionTag(decisionId);
  const times = Map.groupBy(
    entries.filter((entry) => entry.decision !== decision),
    (entry) => entry.key,
  );
  return (capKey, sinceMs) => (times.get(entryKey(capKey)) ?? []).filter((entry) => entry.atMs > sinceMs).length;
}
