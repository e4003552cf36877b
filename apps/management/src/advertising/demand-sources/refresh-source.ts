import { findResource, type ResourceRow } from '@longwave/command-pipeline';
import { jcsDigest } from '@longwave/idempotency';
import type { ObjectStore } from '@longwave/object-store';
import { isProblem, Problem } from '@longwave/problems';
import type { RefusedAd } from '@longwave/vast';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import { askSource, type AskDeps } from './ask-source.ts';
import { findDemandKey, saveAnswer, type AnsweredKey } from './demand-table.ts';
import { answerKeyOf, demandKeyOf, type UsableAd } from './judge-ad.ts';
import { reportErrors } from './report-errors.ts';
import { raceCodes, sellingFault, type SettleDeps } from './settle-ads.ts';
import { findArchived, listSourceCreatives, type SourceCreative } from './source-creative-table.ts';
import { removeReadMedia, storeMedia, takeMedia } from './take-media.ts';
import { judgeAnswer } from './validate-source.ts';

export interface RefreshDeps extends SettleDeps, AskDeps {
  readonly store: ObjectStore;
}

/** How long the address of a file is remembered after its ad is over; then its creative is archived. */
const rememberedMs = 7 * 86_400_000;
/** Creatives of a source that are neither rejected nor archived. */
const maxCreatives = 200;
/** Creatives that one look archives. */
const maxArchived = 20;

/** States of a creative whose trackers are kept up to date. */
const livingStates: readonly string[] = ['processing', 'processing_failed', 'pending_review', 'approved', 'suspended'];
/** States of a creative that is archived when it is over. One that a person has suspended is kept: it keeps its next version out. */
const archivedFrom: readonly string[] = ['processing', 'processing_failed', 'pending_review', 'approved'];

type Source = ResourceRow<'demand_sources'>;
/** Creatives of the source by their keys; undefined for one that this refresh has made. */
type Creatives = Map<string, SourceCreative | undefined>;

/** An ad that was taken over, and what it is answered as. */
interface TakenAd {
  readonly ad: UsableAd;
  readonly answered: AnsweredKey;
}

const fullBecause = `The source has ${maxCreatives} ads that are neither rejected nor archived. Archive some of its creatives.`;

const refusalOf = (ad: UsableAd, code: RefusedAd['code'], reason: string): RefusedAd => ({
  ...{ id: ad.name, code, reason, errorUrls: ad.errorUrls },
});

/** Whether a command was refused because of what the ad says: sent again, it would be refused again. */
const isRefusal = (error: unknown): error is Problem =>
  error instanceof Problem && error.status < 500 && !isProblem(error, ...raceCodes, 'rate_limited');

const inWords = ({ message, context }: Problem) => [message, context.errors?.[0]?.detail].join(' ').trim();

/** Makes a creative of an ad that has none. Its media is downloaded once; a refusal says why it cannot be. */
async function importAd(
  deps: RefreshDeps,
  source: Source,
  ad: UsableAd,
  creatives: Creatives,
): Promise<{ readonly demandKey: string } | RefusedAd> {
  const living = [...creatives.values()].filter((one) => one?.state !== 'rejected');
  const media = await takeMedia(deps, source.attributes, ad);
  if ('fault' in media) return refusalOf(ad, 401, media.fault);
  const demandKey = demandKeyOf(ad, media.sha256);
  if (creatives.has(demandKey)) return { demandKey };
  const { id: sourceId, workspace_id: workspaceId } = source;
  const archived = await findArchived(deps.pool, workspaceId, sourceId, demandKey);
  // A person has archived what the source still answers with.
  if (archived.count > 0 && archived.isRemembered) return { demandKey };
  if (living.length >= maxCreatives) return refusalOf(ad, 900, fullBecause);
  const stored = await storeMedia(deps.store, { sourceId, demandKey, mediaType: ad.mediaType }, media);
  try {
    await executeAsManagement(
      deps.execute,
      { workspaceId, idempotencyKey: `demand:${sourceId}:${demandKey}:${archived.count}` },
      {
        type: 'creative.import',
        id: null,
        changes: {
          demand_source_id: sourceId,
          demand_ad_key: ad.adKey,
          demand_key: demandKey,
          name: ad.name,
          universal_ad_id: ad.universalAdId,
          ...(ad.clickUrl !== undefined && { click_url: ad.clickUrl }),
          categories: [...ad.categories],
          trackers: ad.trackers,
          source: stored,
        },
      },
    );
  } catch (error) {
    if (isRefusal(error)) await deps.store.remove(stored.storage_key);
    throw error;
  }
  creatives.set(demandKey, undefined);
  return { demandKey };
}

/** Takes one ad over, or refuses it: its file cannot be downloaded (401), no encoder could prepare it (403), or the source has too many (900). */
async function takeAd(
  deps: RefreshDeps,
  source: Source,
  ad: UsableAd,
  creatives: Creatives,
): Promise<TakenAd | RefusedAd> {
  const answerKey = answerKeyOf(ad);
  const known = await findDemandKey(deps.pool, source.id, answerKey);
  const taken = known === undefined ? await importAd(deps, source, ad, creatives) : { demandKey: known };
  if ('code' in taken) return taken;
  const creative = creatives.get(taken.demandKey);
  if (creative?.state === 'processing_failed') {
    const failed = await findResource(deps.pool, source.workspace_id, 'creatives', creative.id);
    return refusalOf(ad, 403, failed?.attributes.problem?.detail ?? 'The media file could not be prepared.');
  }
  const validUntil = new Date(deps.clock().getTime() + ad.lifeMs);
  return { ad, answered: { answerKey, demandKey: taken.demandKey, validUntil } };
}

/** Records the trackers of an ad where they are others than before. */
async function recordTrackers(deps: RefreshDeps, workspaceId: string, creativeId: string, { trackers }: UsableAd) {
  const creative = await findResource(deps.pool, workspaceId, 'creatives', creativeId);
  if (!creative || !livingStates.includes(creative.lifecycle_state)) return;
  const { id, version, attributes } = creative;
  if (JSON.stringify(attributes.trackers) === JSON.stringify(trackers)) return;
  try {
    await executeAsManagement(
      deps.execute,
      { workspaceId, idempotencyKey: `demand:${id}:${version}:trackers:${jcsDigest(trackers).slice(0, 32)}` },
      { type: 'creative.record_trackers', id, version, changes: { trackers } },
    );
  } catch (error) {
    // Somebody changed the creative at the same moment: the next look records them.
    if (!isProblem(error, ...raceCodes)) throw error;
  }
}

/** Archives ads that the source has not answered with for so long that they are forgotten. */
async function archiveForgotten(deps: RefreshDeps, { workspace_id: workspaceId, id: sourceId }: Source): Promise<void> {
  const before = deps.clock().getTime() - rememberedMs;
  const forgotten = (await listSourceCreatives(deps.pool, workspaceId, sourceId)).filter(
    ({ state, isRemembered, createdAt }) =>
      !isRemembered && archivedFrom.includes(state) && createdAt.getTime() < before,
  );
  for (const { id, version } of forgotten.slice(0, maxArchived))
    try {
      await executeAsManagement(
        deps.execute,
        { workspaceId, idempotencyKey: `demand:${id}:${version}:archive` },
        { type: 'creative.archive', id, version, changes: {} },
      );
    } catch (error) {
      // A person uses it elsewhere, or changed it at the same moment.
      if (!isProblem(error, ...raceCodes, 'still_in_use')) throw error;
    }
}

/** What a look at a source came to. */
export interface Refreshed {
  /** What was wrong, when nothing can be used. */
  readonly refusal: RefusedAd | undefined;
  /** Why ads were left out that could be used, in a sentence. */
  readonly fault: string | undefined;
}

/**
 * Asks an active source, makes creatives of its new ads, and saves which ads it answered with. When nothing can be used, what it answered with
 * before stays until its time is over, unless the source has said that it has other ads now. An ad whose command is refused is refused itself.
 */
export async function refreshSource(deps: RefreshDeps, source: Source): Promise<Refreshed> {
  const { pool, clock } = deps;
  const { workspace_id: workspaceId, id } = source;
  const lineItem = await findResource(pool, workspaceId, 'line_items', source.attributes.line_item_id);
  const unsold = sellingFault(source, lineItem!);
  if (unsold !== undefined)
    return { refusal: { id: undefined, code: 900, reason: unsold, errorUrls: [] }, fault: undefined };
  await archiveForgotten(deps, source);
  const answer = await askSource(deps, source.attributes);
  const { usable, refusals } = judgeAnswer(deps, source.attributes, answer);
  const rows = await listSourceCreatives(pool, workspaceId, id);
  const creatives: Creatives = new Map(rows.map((creative) => [creative.demandKey, creative]));
  /** By their answer keys: a document may have the same ad in several places of a pod. */
  const answered = new Map<string, AnsweredKey>();
  /** The first place of each creative. */
  const first = new Map<string, UsableAd>();
  for (const ad of usable) {
    const outcome = await takeAd(deps, source, ad, creatives).catch((error: unknown) => {
      if (!isRefusal(error)) throw error;
      return refusalOf(ad, 900, `The ad cannot be taken over. ${inWords(error)}`);
    });
    if ('code' in outcome) {
      refusals.push(outcome);
      continue;
    }
    const { answerKey, demandKey } = outcome.answered;
    answered.set(answerKey, outcome.answered);
    if (!first.has(demandKey)) first.set(demandKey, ad);
  }
  const now = clock();
  if (answer.kind !== 'refused')
    await saveAnswer(pool, id, [...answered.values()], { now, forgetBefore: new Date(now.getTime() - rememberedMs) });
  for (const [demandKey, ad] of first) {
    const creativeId = creatives.get(demandKey)?.id;
    if (creativeId !== undefined) await recordTrackers(deps, workspaceId, creativeId, ad);
  }
  await reportErrors(deps, source.attributes, refusals);
  await removeReadMedia(deps, workspaceId, id);
  return {
    refusal: answered.size === 0 ? refusals[0] : undefined,
    fault: refusals.find(({ reason }) => reason === fullBecause)?.reason,
  };
}
