import type { AppTrace } from '../listeners/app-trace.ts';
import type { Binding } from './binding-table.ts';

/** The client that asks for chapters or a transcript. */
export interface DocumentClient extends AppTrace {
  /** The listener's key now and, early in a month, the one of the month before. */
  readonly listenerKeys: readonly string[];
}

type Candidate = Pick<Binding, 'listenerKey' | 'addressKey' | 'arrangementId' | 'app' | 'system'>;

const isSameApp = (asker: AppTrace, { app }: Candidate): boolean => app !== undefined && app === asker.app;

/** True when one of the two does not name its app and nothing says that they run on different systems. */
const mayBeSameApp = (asker: AppTrace, { app, system }: Candidate): boolean =>
  (app === undefined || asker.app === undefined) &&
  (system === undefined || asker.system === undefined || system === asker.system);

/** True for the file that new listeners of an address share. */
const isShared = ({ listenerKey, addressKey }: Candidate): boolean => listenerKey === addressKey;

const arrangementsOf = (candidates: readonly Candidate[]) => [
  ...new Set(candidates.map(({ arrangementId }) => arrangementId)),
];

/**
 * The arrangement that a client most likely has, of the plays that began at its address: its own play; else the file that new listeners
 * of the address share; else the newest play of the same app; else the only play of an app that may be the same, because many apps fetch
 * audio by a library of the system and documents under their own name; else the only play at all. Undefined when several are left.
 * @param candidates newest first
 */
export function chooseBoundPlay(asker: DocumentClient, candidates: readonly Candidate[]): string | undefined {
  const own =
    candidates.find(({ listenerKey }) => asker.listenerKeys.includes(listenerKey)) ??
    candidates.find(isShared) ??
    candidates.find((candidate) => isSameApp(asker, candidate));
  if (own) return own.arrangementId;
  for (const left of [candidates.filter((candidate) => mayBeSameApp(asker, candidate)), candidates]) {
    const [only, ...others] = arrangementsOf(left);
    if (only !== undefined && others.length === 0) return only;
  }
  return undefined;
}
