import type { EventOf } from '@longwave/command-catalog';
import { findResource, type ResourceRow } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { createGate } from '@longwave/service-kit';
import { pollLoop } from '@longwave/worker-kit';
import type { Send } from '../../background/send-as-management.ts';
import { listDueRevocations } from '../subject-table.ts';
import { findVersion } from './snapshot-table.ts';
import { subjectOfSnapshot } from './snapshot.ts';

interface Deps {
  readonly send: Send;
  readonly pool: Pool;
  readonly clock: () => Date;
}

type Revocation = ResourceRow<'content_revocations'>;

/** Delivery learns of a newer version by an event: for so long after it, a play may still have begun with the version before. */
const learningMs = 5_000;

/** Due revocations that one round carries out, in all and of each authority: the backlog of one platform holds up itself alone. */
const inRound = { limit: 100, ofEach: 5 };
/** Authorities whose revocations are carried out at the same time; those of one follow each other. */
const authoritiesAtOnce = 4;

/** Commands under keys of the revocation: a step that was done is not done again. */
const stepsOf = ({ id, workspace_id }: Revocation) => ({ id, workspace_id });

async function endServing(
  revocation: Revocation,
  snapshot: ResourceRow<'content_snapshots'>,
  { send, pool, clock }: Deps,
): Promise<void> {
  const { mode } = revocation.attributes.revocation;
  const { episode_id: episodeId, superseded_at: supersededAt, rendition } = snapshot.attributes;
  if (episodeId === undefined) return;
  const steps = stepsOf(revocation);
  const episode = await findResource(pool, revocation.workspace_id, 'episodes', episodeId);
  if (!episode) return;
  const { id, version } = episode;
  // Two processes may carry out one revocation, each at its own time: whose plays end first does not matter.
  const endPlays = (before: Date) =>
    send(steps, `end-plays-${version}-${before.getTime()}`, {
      type: 'episode.end_plays',
      id,
      changes: { before: before.toISOString() },
    });
  const now = clock();
  if (episode.attributes.snapshot_id !== snapshot.id) {
    // A newer version serves: its own plays go on.
    if (mode === 'stop_all' && rendition && supersededAt !== undefined)
      await endPlays(new Date(Math.min(now.getTime(), Date.parse(supersededAt) + learningMs)));
  } else if (episode.lifecycle_state === 'published') {
    // Another version that serves meanwhile makes another version of the episode, and this is tried again.
    await send(steps, `unpublish-${version}`, { type: 'episode.unpublish', id, version, changes: { mode } });
  } else if (mode === 'stop_all') await endPlays(now);
}

/**
 * Carries out a revocation whose time has come: the version is revoked, and no longer served if it was. A repetition, also one beside
 * another process, changes nothing.
 */
async function carryOut(revocation: Revocation, deps: Deps): Promise<void> {
  const { send, pool } = deps;
  const { workspace_id: workspaceId, attributes } = revocation;
  const { revoke_version: version, cause } = attributes.revocation;
  const find = () => findVersion(pool, subjectOfSnapshot(workspaceId, attributes), version);
  const steps = stepsOf(revocation);
  const known = await find();
  if (known && known.lifecycle_state !== 'revoked')
    await send(steps, 'revoke', {
      type: 'content_snapshot.revoke',
      id: known.id,
      changes: { revocation_id: revocation.id, cause },
    });
  // Revoked, nothing puts it on its episode any more.
  const snapshot = await find();
  if (snapshot) await endServing(revocation, snapshot, deps);
  const changes = snapshot ? { snapshot_id: snapshot.id } : {};
  await send(steps, `apply-${snapshot?.id ?? 'alone'}`, {
    type: 'content_revocation.apply',
    id: revocation.id,
    changes,
  });
}

/** Carries out a revocation at once, if its time has come. */
export async function applyRevocation(event: EventOf<'content_revocation.accepted'>, deps: Deps): Promise<void> {
  const row = await findResource(deps.pool, event.workspace_id, 'content_revocations', event.subject.id);
  if (row?.lifecycle_state !== 'accepted') return;
  if (Date.parse(row.attributes.revocation.effective_at) <= deps.clock().getTime()) await carryOut(row, deps);
}

/** Carries out the first due revocations of each authority; answers whether further ones of some may be due. */
async function runRound(options: Deps & { readonly onError: (error: unknown) => void }): Promise<boolean> {
  const due = await listDueRevocations(options.pool, options.clock(), inRound);
  const lines = [...Map.groupBy(due, ({ attributes }) => attributes.authority_id).values()];
  const gate = createGate(authoritiesAtOnce);
  let applied = 0;
  const carryOutLine = async (line: readonly Revocation[]) => {
    for (const revocation of line) await carryOut(revocation, options).then(() => (applied += 1), options.onError);
  };
  await Promise.all(lines.map((line) => gate(() => carryOutLine(line))));
  const isFull = due.length === inRound.limit || lines.some((line) => line.length === inRound.ofEach);
  return isFull && applied > 0;
}

/** Carries out revocations when their time comes, until it is disposed. */
export const followRevocations = (
  options: Deps & { readonly everyMs: number; readonly onError: (error: unknown) => void },
): AsyncDisposable => pollLoop({ everyMs: options.everyMs, run: () => runRound(options), onError: options.onError });
