import { findResource, listLinked, type ResourceRow } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import type { RefusedAd } from '@longwave/vast';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import { askSource, type AskDeps } from './ask-source.ts';
import { findDemandKey, saveAnswer, type AnsweredKey } from './demand-table.ts';
import { answerKeyOf, demandKeyOf, type UsableAd } from './judge-ad.ts';
import { reportErrors } from './report-errors.ts';
import { sellingFault, type SettleDeps } from './settle-ads.ts';
import { takeMedia } from './take-media.ts';
import { judgeAnswer } from './validate-source.ts';

export interface RefreshDeps extends SettleDeps, AskDeps {
  readonly store: ObjectStore;
}

/** How long the address of a file is remembered after its ad is over. */
const rememberedMs = 7 * 86_400_000;

/** States of a creative whose trackers are kept up to date. */
const livingStates: readonly string[] = ['processing', 'processing_failed', 'pending_review', 'approved', 'suspended'];

type Source = ResourceRow<'demand_sources'>;
/** Creatives of the source by their keys; undefined for one that this refresh has made. */
type Creatives = Map<string, ResourceRow<'creatives'> | undefined>;

/** Makes a creative of an ad that has none. Its media is downloaded once; the sentence says why it cannot be. */
async function importAd(
  deps: RefreshDeps,
  source: Source,
  ad: UsableAd,
  creatives: Creatives,
): Promise<{ readonly demandKey: string } | { readonly fault: string }> {
  const stored = await takeMedia(deps, source.attributes, ad);
  if ('fault' in stored) return stored;
  const demandKey = demandKeyOf(ad, stored.sha256);
  if (creatives.has(demandKey)) return { demandKey };
  await executeAsManagement(
    deps.execute,
    { workspaceId: source.workspace_id, idempotencyKey: `demand:${source.id}:${demandKey}` },
    {
      type: 'creative.import',
      id: null,
      changes: {
        demand_source_id: source.id,
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
  creatives.set(demandKey, undefined);
  return { demandKey };
}

/** Records the trackers of an ad where they are others than before. */
async function recordTrackers({ execute }: RefreshDeps, creative: ResourceRow<'creatives'>, { trackers }: UsableAd) {
  const { id, version, workspace_id: workspaceId, lifecycle_state: state, attributes } = creative;
  if (!livingStates.includes(state) || JSON.stringify(attributes.trackers) === JSON.stringify(trackers)) return;
  await executeAsManagement(
    execute,
    { workspaceId, idempotencyKey: `demand:${id}:${version}:trackers` },
    { type: 'creative.record_trackers', id, version, changes: { trackers } },
  );
}

/** Takes one ad over, or refuses it: its file cannot be downloaded (401), or no encoder could prepare it (403). */
async function takeAd(
  deps: RefreshDeps,
  source: Source,
  ad: UsableAd,
  creatives: Creatives,
): Promise<AnsweredKey | RefusedAd> {
  const refuse = (code: 401 | 403, reason: string): RefusedAd => ({
    ...{ id: ad.name, code, reason, errorUrls: ad.errorUrls },
  });
  const answerKey = answerKeyOf(ad);
  const known = await findDemandKey(deps.pool, source.id, answerKey);
  const taken = known === undefined ? await importAd(deps, source, ad, creatives) : { demandKey: known };
  if ('fault' in taken) return refuse(401, taken.fault);
  const creative = creatives.get(taken.demandKey);
  if (creative?.lifecycle_state === 'processing_failed')
    return refuse(403, creative.attributes.problem?.detail ?? 'The media file could not be prepared.');
  if (creative) await recordTrackers(deps, creative, ad);
  return { ...{ answerKey, demandKey: taken.demandKey }, validUntil: new Date(deps.clock().getTime() + ad.lifeMs) };
}

/**
 * Asks an active source, makes creatives of its new ads, and saves which ads it answered with. Answers with what was wrong when nothing can be
 * used: then what it answered with before stays until its time is over, unless the source has said that it has other ads now.
 */
export async function refreshSource(deps: RefreshDeps, source: Source): Promise<RefusedAd | undefined> {
  const { pool, clock } = deps;
  const { workspace_id: workspaceId, id } = source;
  const lineItem = await findResource(pool, workspaceId, 'line_items', source.attributes.line_item_id);
  const unsold = sellingFault(source, lineItem!);
  if (unsold !== undefined) return { id: undefined, code: 900, reason: unsold, errorUrls: [] };
  const answer = await askSource(deps, source.attributes);
  const { usable, refusals } = judgeAnswer(deps, source.attributes, answer);
  const rows = await listLinked(pool, workspaceId, 'creatives', 'demand_source', id);
  const creatives: Creatives = new Map(rows.map((creative) => [creative.attributes.demand_key!, creative]));
  /** By their answer keys: a document may have the same ad in several places of a pod. */
  const taken = new Map<string, AnsweredKey>();
  for (const ad of usable) {
    const outcome = await takeAd(deps, source, ad, creatives);
    if ('code' in outcome) refusals.push(outcome);
    else taken.set(outcome.answerKey, outcome);
  }
  await reportErrors(deps, refusals);
  const now = clock();
  if (answer.kind !== 'refused')
    await saveAnswer(pool, id, [...taken.values()], { now, forgetBefore: new Date(now.getTime() - rememberedMs) });
  return taken.size === 0 ? refusals[0] : undefined;
}
