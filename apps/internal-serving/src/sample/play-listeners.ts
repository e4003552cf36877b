import { idToUuid } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import { insertPlayListeners, type PlayListener } from './play-listener-table.ts';
import { findOrMakeSecret, listenerCode, monthOf } from './sample-secret-table.ts';

/** Plays that wait in memory; those of a node that meets more in ten seconds are sampled without their listeners. */
const maxWaiting = 100_000;

interface WaitingPlay {
  readonly decisionId: string;
  readonly workspaceId: string;
  readonly atMs: number;
  /** 16 bytes in hex. */
  readonly bucket: string;
}

/** Keeps the listeners of decided plays until they are sampled. */
export interface PlayListeners {
  /** Takes note of a play; nothing is read or written. */
  add(play: WaitingPlay): void;
  /** Writes the codes of the plays that wait; their buckets are forgotten, whether they could be written or not. */
  flush(): Promise<void>;
}

export function createPlayListeners(pool: Pool): PlayListeners {
  let waiting: WaitingPlay[] = [];
  return {
    add: (play) => {
      if (waiting.length < maxWaiting) waiting.push(play);
    },
    flush: async () => {
      const plays = waiting;
      waiting = [];
      const secrets = new Map<string, Buffer>();
      const rows: PlayListener[] = [];
      for (const { decisionId, workspaceId, atMs, bucket } of plays) {
        const at = new Date(atMs);
        const month = monthOf(at);
        const secret = secrets.get(month) ?? (await findOrMakeSecret(pool, month));
        secrets.set(month, secret);
        rows.push({
          decisionId: idToUuid(decisionId),
          workspaceId,
          at,
          code: listenerCode(secret, { workspaceId, bucket }),
        });
      }
      if (rows.length > 0) await insertPlayListeners(pool, rows);
    },
  };
}
