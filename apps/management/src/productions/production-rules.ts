import type { ChangesOf, productCatalog } from '@longwave/command-catalog';
import { findResource, type PreparedRule, type Rule, type RuleInput, type Rules } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { finishJob, insertJob, stopJobs, type LeaseReport } from '../jobs/job-table.ts';
import { encodeInput } from './encode-input.ts';
import { encodingMonth, lockBalance, moveBalance } from './encoding-balance-table.ts';
import { findSource, placeOf, type SourceOptions, type SourcePlace } from './production-source.ts';
import {
  checkPublish,
  isReset,
  newProduction,
  reservedTime,
  resetProduction,
  startedProduction,
  withoutReservation,
  type Production,
} from './production.ts';

type ProductionCommand = Extract<keyof Rules<typeof productCatalog>, `production.${string}`>;
type ProductionRules = Pick<Rules<typeof productCatalog>, ProductionCommand>;

/** Where audio lies: in the object store, or at an address that a client named. */
export type ProbeSource = { readonly storageKey: string } | { readonly sourceUrl: string };

/** Duration of an audio file in milliseconds, or 0 when it cannot be read: then the encoder finds out and says why. */
export type ProbeDuration = (source: ProbeSource, deadline?: Date) => Promise<number>;

/** Settles or returns what the start reserved. The subject's row is locked, so an encoding ends once. */
async function settle(tx: Transaction, input: RuleInput<Production, unknown>, usedMs: number): Promise<void> {
  const { reserved_encoding_ms: reservedMs = 0, encoding_month: month } = input.current;
  if (month) await moveBalance(tx, input.workspaceId, month, { reservedMs: -reservedMs, usedMs });
}

/** Throws while the production is the audio of its episode: without its files the episode would be silent. */
async function refuseWhileAudible(input: RuleInput<Production, unknown>): Promise<void> {
  const { tx, workspaceId, current, subjectId } = input;
  const episode = await findResource(tx, workspaceId, 'episodes', current.episode_id);
  if (!episode || episode.lifecycle_state === 'archived') return;
  if (episode.attributes['current_production_id'] === subjectId)
    throw new Problem(
      'state_not_allowed',
      `It is the audio of “${String(episode.attributes['title'])}”. Encode another production for the episode first.`,
    );
}

const probeSource = (place: SourcePlace): ProbeSource =>
  place.kind === 'stored' ? { storageKey: place.found.upload.storage_key } : { sourceUrl: place.url };

type Derived = ChangesOf<typeof productCatalog, 'production.derive'>;

const createFromFile = (options: SourceOptions): PreparedRule<Production, Derived> => ({
  prepare: async ({ workspaceId, actor, changes }) => {
    if (changes.publication_flag) checkPublish(actor);
    // An imported feed may name thousands of files of a host that is slow today.
    const look = changes.imported !== true;
    const { source, hold } = await findSource(options, { workspaceId, actor, fileUrl: changes.file_url, look });
    return async ({ tx }) => {
      await hold(tx);
      return { attributes: newProduction(source, changes) };
    };
  },
});

/** Rules of the production commands. */
export const productionRules = (
  options: SourceOptions & { readonly probeDuration: ProbeDuration },
): ProductionRules => ({
  'production.create': createFromFile(options),
  'production.derive': createFromFile(options),

  'production.revise': {
    prepare: async ({ workspaceId, actor, changes, state }) => {
      if (state !== undefined) isReset(state, changes);
      const { file_url: fileUrl, publication_flag: publish } = changes;
      const named = fileUrl === undefined ? undefined : await findSource(options, { workspaceId, actor, fileUrl });
      return async (input) => {
        if (publish && !input.current.publication_flag) checkPublish(actor);
        const current = { ...input.current, ...(publish !== undefined && { publication_flag: publish }) };
        if (!isReset(input.state, changes)) return { attributes: current, state: input.state };
        await refuseWhileAudible(input);
        await named?.hold(input.tx);
        return { attributes: resetProduction(current, named?.source), state: 'initial' };
      };
    },
  },

  'production.delete': async (input) => {
    await refuseWhileAudible(input);
    return { attributes: input.current };
  },

  /**
   * Reserves the file's duration, or a guess when it cannot be probed; what its encoding takes is counted in the end. Imported
   * audio uses no encoding time.
   */
  'production.start': {
    prepare: async ({ workspaceId, current, actor, changes, deadline }) => {
      if (!current) throw new Error('production.start creates nothing');
      if (changes.publish_episode) checkPublish(actor);
      const place = await placeOf(options, workspaceId, current);
      const durationMs = current.imported ? 0 : await options.probeDuration(probeSource(place), deadline);
      return start(current.file_url, place, durationMs);
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
      await finishJob(tx, input.subjectId, input.reason as LeaseReport);
      await settle(tx, input, input.changes.audio_duration_ms);
    },
  }),

  'production.fail': (input) => ({
    attributes: { ...withoutReservation(input.current), problem: input.changes.problem },
    also: async (tx) => {
      await finishJob(tx, input.subjectId, input.reason as LeaseReport);
      await settle(tx, input, 0);
    },
  }),
});

/** What a start takes from the month's encoding time. Throws `encoding_time_exhausted`. */
async function reserve(tx: Transaction, workspaceId: string, place: SourcePlace, durationMs: number, now: Date) {
  const month = encodingMonth(now);
  const sizeBytes = place.kind === 'stored' ? place.found.sizeBytes : undefined;
  return { durationMs: reservedTime(await lockBalance(tx, workspaceId, month), { durationMs, sizeBytes }), month };
}

/** Starts what was looked at before the transaction. */
function start(
  fileUrl: string,
  place: SourcePlace,
  durationMs: number,
): Rule<Production, { readonly publish_episode?: boolean | undefined }> {
  return async ({ tx, workspaceId, subjectId, current, changes, now }) => {
    if (current.file_url !== fileUrl)
      throw new Problem('temporarily_unavailable', 'The production changed at the same moment. Try again.', {
        retryAfterSeconds: 1,
      });
    const reservation = current.imported ? undefined : await reserve(tx, workspaceId, place, durationMs, now);
    const publish = changes.publish_episode ?? false;
    const attributes = startedProduction(current, { publish, ...(reservation && { reservation }) });
    const input = await encodeInput(tx, workspaceId, subjectId, attributes, place);
    return {
      attributes,
      also: async (inner, { version }) => {
        if (reservation)
          await moveBalance(inner, workspaceId, reservation.month, { reservedMs: reservation.durationMs, usedMs: 0 });
        await insertJob(inner, {
          kind: 'encode_production',
          workspaceId,
          subjectType: 'productions',
          subjectId,
          subjectVersion: version,
          input,
          now,
        });
      },
    };
  };
}
