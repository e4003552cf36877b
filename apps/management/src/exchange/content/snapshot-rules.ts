import type { productCatalog } from '@longwave/command-catalog';
import { findResource, lockResource, type RuleInput, type Rules } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { finishJob, insertJob, stopJobs } from '../../background/job-table.ts';
import { holdMessage, messageSourceOf } from '../signed-message.ts';
import { findNewestVersion, findSourceOfEpisode, isRevoked } from './snapshot-table.ts';
import { areRightsOver, refuseState, subjectOfSnapshot, type Snapshot } from './snapshot.ts';

type SnapshotCommand = Extract<keyof Rules<typeof productCatalog>, `content_snapshot.${string}`>;
type SnapshotRules = Pick<Rules<typeof productCatalog>, SnapshotCommand>;

/** Queues the job that takes a version over. */
const queueMapping =
  ({ workspaceId, subjectId, now }: Pick<RuleInput<Snapshot, unknown>, 'workspaceId' | 'subjectId' | 'now'>) =>
  (tx: Transaction, { version }: { readonly version: number }) =>
    insertJob(tx, {
      kind: 'map_content',
      workspaceId,
      subjectType: 'content_snapshots',
      subjectId,
      subjectVersion: version,
      input: {},
      now,
    });

/** Throws `source_revoked` or `source_version_regression` when the version cannot follow those that were accepted. */
async function checkVersion({ tx, workspaceId, changes }: RuleInput<Snapshot, Snapshot>): Promise<void> {
  const { source_version: version } = changes;
  const subject = subjectOfSnapshot(workspaceId, changes);
  if (await isRevoked(tx, subject, version)) throw new Problem('source_revoked', `Version ${version} is revoked.`);
  const newest = await findNewestVersion(tx, subject);
  if (newest && newest.attributes.source_version >= version)
    throw new Problem('source_version_regression', `Version ${newest.attributes.source_version} was accepted before.`);
}

/** Throws `state_not_allowed` unless a later version was accepted and the episode does not play this one. */
async function checkSuperseded(input: RuleInput<Snapshot, unknown>): Promise<void> {
  const { tx, workspaceId, subjectId, current } = input;
  const newest = await findNewestVersion(tx, subjectOfSnapshot(workspaceId, current));
  if (newest?.id === subjectId) refuseState('It is the newest version.');
  if (current.episode_id === undefined) return;
  const episode = await findResource(tx, workspaceId, 'episodes', current.episode_id);
  if (episode?.attributes.snapshot_id === subjectId) refuseState('The episode plays this version.');
}

/** Throws `value_taken` when the episode is that of another subject. Locks the episode, so that two subjects cannot both take it. */
async function checkEpisode(input: RuleInput<Snapshot, unknown>, episodeId: string): Promise<void> {
  const { tx, workspaceId, current } = input;
  await lockResource(tx, workspaceId, 'episodes', episodeId);
  const sourceId = (await findSourceOfEpisode(tx, workspaceId, episodeId)) ?? current.source_id;
  if (sourceId !== current.source_id)
    throw new Problem('value_taken', 'Another episode of this stream has the same GUID.');
}

const withoutMapping = ({
  problem: _problem,
  notes: _notes,
  transcripts: _transcripts,
  production_id: _production,
  ...kept
}: Readonly<Snapshot>): Snapshot => kept;

/** Rules of the content snapshots. */
export const snapshotRules: SnapshotRules = {
  'content_snapshot.accept': async (input) => {
    await holdMessage(input);
    await checkVersion(input);
    const { changes } = input;
    return {
      attributes: { ...messageSourceOf(changes), content: changes.content },
      also: queueMapping(input),
    };
  },

  'content_snapshot.map': async (input) => {
    const { current, changes, subjectId, reason } = input;
    const { notes, transcripts, ...mapping } = changes;
    await checkEpisode(input, mapping.episode_id);
    return {
      attributes: {
        ...current,
        ...mapping,
        ...(notes.length > 0 && { notes }),
        ...(transcripts.length > 0 && { transcripts }),
      },
      also: (tx) => finishJob(tx, subjectId, reason),
    };
  },

  'content_snapshot.record_ready': ({ current, changes }) => ({ attributes: { ...current, ...changes } }),

  'content_snapshot.record_failed': ({ current, changes: { problem }, subjectId, reason }) => ({
    attributes: { ...current, problem },
    also: (tx) => (reason ? finishJob(tx, subjectId, reason) : stopJobs(tx, subjectId, 'map_content')),
  }),

  'content_snapshot.retry': (input) => ({
    attributes: withoutMapping(input.current),
    also: queueMapping(input),
  }),

  'content_snapshot.lapse': ({ current, now }) => {
    if (!areRightsOver(current, now)) refuseState('The platform still grants its rights.');
    return { attributes: current };
  },

  'content_snapshot.supersede': async (input) => {
    await checkSuperseded(input);
    return {
      attributes: { ...input.current, superseded_at: input.now.toISOString() },
      also: (tx) => stopJobs(tx, input.subjectId, 'map_content'),
    };
  },

  'content_snapshot.revoke': async ({ tx, workspaceId, subjectId, current, changes, now }) => {
    const { revocation_id: revocationId } = changes;
    const found = (await findResource(tx, workspaceId, 'content_revocations', revocationId))?.attributes;
    const isOfThis =
      found?.authority_id === current.authority_id &&
      found.source_id === current.source_id &&
      found.revocation.revoke_version === current.source_version;
    if (!isOfThis || Date.parse(found.revocation.effective_at) > now.getTime())
      refuseState('No revocation of this version is in effect.');
    return {
      attributes: { ...current, revocation_id: revocationId },
      also: (inner) => stopJobs(inner, subjectId, 'map_content'),
    };
  },
};
