import type { Transaction } from '@longwave/postgres';

/** Three of them within this time hold the stream back. */
const countedHours = 24;

export interface Equivocation {
  readonly digest: string;
  readonly workspaceId: string;
  readonly streamId: string;
  readonly sequence: number;
  readonly kind: 'changed_duplicate' | 'chain_fork';
  readonly acceptedDigest: string;
  readonly keyId: string;
  readonly protected: string;
  readonly payload: string;
  readonly signature: string;
}

/**
 * Keeps a message with a valid signature that contradicts an accepted one. Answers how many different ones the stream has had in the last
 * 24 h, since it was last opened again.
 */
export async function keepEquivocation(
  tx: Transaction,
  found: Equivocation,
  since: Date | undefined,
  now: Date,
): Promise<number> {
  await tx.query({
    name: 'keep_equivocation',
    text: `insert into equivocation (digest, workspace_id, stream_id, sequence, kind, accepted_digest, key_id, protected, payload,
             signature, received_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict (digest) do nothing`,
    values: [
      ...[found.digest, found.workspaceId, found.streamId, found.sequence, found.kind, found.acceptedDigest],
      ...[found.keyId, found.protected, found.payload, found.signature, now],
    ],
  });
  const dayAgo = new Date(now.getTime() - countedHours * 3_600_000);
  const { rows } = await tx.query<{ readonly found: number }>({
    name: 'count_equivocations',
    text: `select count(*)::int as found from equivocation where workspace_id = $1 and stream_id = $2 and received_at > $3`,
    values: [found.workspaceId, found.streamId, since && since > dayAgo ? since : dayAgo],
  });
  return rows[0]!.found;
}

/**
 * The keys that signed equivocations of a stream since it was last opened, and those of the accepted messages that they contradict: nobody
 * knows which of the two was stolen.
 */
export async function listEquivocatingKeys(
  tx: Transaction,
  { workspaceId, streamId }: { readonly workspaceId: string; readonly streamId: string },
  since: Date | undefined,
): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ readonly key_id: string }>({
    name: 'equivocating_keys',
    text: `select key_id from equivocation where workspace_id = $1 and stream_id = $2 and received_at > $3
           union select m.key_id from equivocation e join message m on m.digest = e.accepted_digest
           where e.workspace_id = $1 and e.stream_id = $2 and e.received_at > $3`,
    values: [workspaceId, streamId, since ?? new Date(0)],
  });
  return new Set(rows.map(({ key_id: id }) => id));
}
