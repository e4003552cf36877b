import type { ChangesOf, productCatalog } from '@longwave/command-catalog';
import {
  findResource,
  listLinked,
  type Consequence,
  type PreparedRule,
  type ResourceRow,
  type RuleInput,
  type Rules,
} from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { finishJob, stopJobs } from '../../background/job-table.ts';
import { moveBalance } from './encoding-balance-table.ts';
import { findSource } from './production-source.ts';
import {
  checkPublish,
  isReset,
  newProduction,
  resetProduction,
  withoutReservation,
  type Production,
} from './production.ts';
import { requireResources } from '../../workspace/require-resources.ts';
import { trackRules } from './track-rules.ts';
import { prepareEncoding, type EncodingOptions } from './start-encoding.ts';

type ProductionCommand = Extract<keyof Rules<typeof productCatalog>, `production.${string}`>;
type ProductionRules = Pick<Rules<typeof productCatalog>, ProductionCommand>;

/** Replaces the reservation of the start by the used time. The subject's row is locked, so that an encoding is settled once. */
async function settle(tx: Transaction, input: RuleInput<Production, unknown>, usedMs: number): Promise<void> {
  const { reserved_encoding_ms: reservedMs = 0, encoding_month: month } = input.current;
  if (month) await moveBalance(tx, input.workspaceId, month, { reservedMs: -reservedMs, usedMs });
}

/** The episode that plays the production, unless it is archived. */
async function audibleEpisode(input: RuleInput<Production, unknown>): Promise<ResourceRow<'episodes'> | undefined> {
  const { tx, workspaceId, current, subjectId } = input;
  const episode = await findResource(tx, workspaceId, 'episodes', current.episode_id);
  const isPlayed = episode?.attributes.current_production_id === subjectId;
  return isPlayed && episode.lifecycle_state !== 'archived' ? episode : undefined;
}

/** Throws while the production is the audio of its episode, which would be silent without the files. */
async function assertNotAudible(input: RuleInput<Production, unknown>): Promise<void> {
  const episode = await audibleEpisode(input);
  if (!episode) return;
  const { title } = episode.attributes;
  throw new Problem(
    'state_not_allowed',
    `It is the audio of “${title}”. Encode another production for the episode first.`,
  );
}

/** Deletes the clips that the production made. */
async function clipsDeleted(input: RuleInput<Production, unknown>): Promise<Consequence<'media_clips'>[]> {
  const { tx, workspaceId, subjectId } = input;
  const clips = await listLinked(tx, workspaceId, 'media_clips', 'production', subjectId);
  return clips.map(({ id }) => ({
    subject: { type: 'media_clips', id },
    decide: ({ attributes, lifecycle_state: state }) =>
      state === 'active' ? { attributes, state: 'deleted', event: 'media_clip.deleted' } : undefined,
  }));
}

type Created = ChangesOf<'production.create'>;
type Derived = ChangesOf<'production.derive'>;

const noSource: Awaited<ReturnType<typeof findSource>> = { source: {}, hold: async () => undefined };

const createFromFile = (options: EncodingOptions): PreparedRule<Production, Created & Omit<Derived, 'file_url'>> => ({
  prepare: async ({ workspaceId, actor, changes, deadline }) => {
    const { file_url: fileUrl, imported, publication_flag: publish, mode, state = 'initial' } = changes;
    if (publish) checkPublish(actor, workspaceId);
    const request = { workspaceId, actor, isImported: imported === true };
    const { source, hold } = fileUrl === undefined ? noSource : await findSource(options, { ...request, fileUrl });
    const production = newProduction(source, { ...changes, replacement_mode: mode });
    const start = state === 'encoding' ? await prepareEncoding(options, workspaceId, production, deadline) : undefined;
    return async (input) => {
      await hold(input.tx);
      if (!start) return { attributes: production, state };
      const { tx } = input;
      await requireResources(tx, {
        workspaceId,
        type: 'episodes',
        ids: [changes.episode_id],
        path: '/changes/episode_id',
      });
      return { ...(await start(input, production)), state };
    };
  },
});

/** Rules of the production commands. */
export const productionRules = (options: EncodingOptions): ProductionRules => ({
  ...trackRules(options),

  'production.create': createFromFile(options),
  'production.derive': createFromFile(options),

  'production.revise': {
    prepare: async ({ workspaceId, actor, changes: sent, state, current: before }) => {
      // A client may send the present address again.
      const { file_url: sentUrl, ...others } = sent;
      const fileUrl = sentUrl === before?.file_url ? undefined : sentUrl;
      const changes = { ...others, ...(fileUrl !== undefined && { file_url: fileUrl }) };
      if (state !== undefined) isReset(state, changes);
      const { publication_flag: publish, mode } = changes;
      const found = fileUrl === undefined ? undefined : await findSource(options, { workspaceId, actor, fileUrl });
      return async (input) => {
        if (publish && !input.current.publication_flag) checkPublish(actor, workspaceId);
        const current = {
          ...input.current,
          ...(publish !== undefined && { publication_flag: publish }),
          ...(mode !== undefined && { replacement_mode: mode }),
        };
        if (!isReset(input.state, changes)) return { attributes: current, state: input.state };
        await assertNotAudible(input);
        await found?.hold(input.tx);
        return {
          attributes: resetProduction(current, found?.source),
          state: 'initial',
          // A track of the previous source may be under way.
          also: (tx) => stopJobs(tx, input.subjectId),
        };
      };
    },
  },

  'production.delete': async (input) => ({
    attributes: withoutReservation(input.current),
    also: async (tx) => {
      await stopJobs(tx, input.subjectId);
      if (input.state === 'encoding') await settle(tx, input, 0);
    },
    consequences: (await audibleEpisode(input)) ? [] : await clipsDeleted(input),
  }),

  'production.start': {
    prepare: async ({ workspaceId, current, actor, changes, deadline }) => {
      if (!current) throw new Error('production.start creates nothing');
      if (changes.publish_episode) checkPublish(actor, workspaceId);
      const start = await prepareEncoding(options, workspaceId, current, deadline);
      return (input) => start(input, input.current, input.changes.publish_episode);
    },
  },

  'production.stop': (input) => ({
    attributes: withoutReservation(input.current),
    also: async (tx) => {
      await stopJobs(tx, input.subjectId);
      await settle(tx, input, 0);
    },
  }),

  'production.complete': (input) => ({
    attributes: { ...withoutReservation(input.current), ...input.changes },
    also: async (tx) => {
      await finishJob(tx, input.subjectId, input.reason);
      await settle(tx, input, input.changes.audio_duration_ms);
    },
  }),

  'production.fail': (input) => ({
    attributes: { ...withoutReservation(input.current), problem: input.changes.problem },
    also: async (tx) => {
      await finishJob(tx, input.subjectId, input.reason);
      await settle(tx, input, 0);
    },
  }),
});
