import { idPrefixes, newId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { OpenPreviewRequest, OpenPreviewResponse } from '@longwave/rpc/delivery';
import { createGates } from '@longwave/service-kit';
import { timelineOf } from '../companions/timeline-document.ts';
import type { Compose } from '../plays/bound-plays.ts';
import { findEditedEpisode } from '../projection/content-table.ts';
import { areOver, holdIn } from '../projection/hosted-elsewhere.ts';
import type { DecidePreview } from './decide-preview.ts';
import { savePreview } from './preview-table.ts';
import { previewMs, type PreviewTokens } from './preview-token.ts';

/** @param signal aborted when the caller gives up: what is made for it ends then */
export type OpenPreview = (asked: OpenPreviewRequest, signal: AbortSignal) => Promise<OpenPreviewResponse>;

export interface OpenPreviewOptions {
  readonly pool: Pool;
  readonly decide: DecidePreview;
  readonly compose: Compose;
  readonly tokens: Pick<PreviewTokens, 'mint'>;
  /** Without a slash at the end. */
  readonly mediaUrl: string;
  readonly now: () => Date;
}

/** Previews that are made at a time: listeners go first. */
const maxAtOnce = 8;
/** Those of a workspace among them; its next ones wait, so that others have theirs. */
const maxOfWorkspace = 2;
/** How long a caller waits for others of its workspace. */
const turnWaitMs = 5_000;

const tooMany = () => new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 1 });

/**
 * Makes a play that an editor tries: decided dry, composed as for listeners, and kept apart for an hour. Throws `episode_has_no_audio` for an
 * episode of which listeners would have no file of ours, and `temporarily_unavailable` where its ads cannot be decided or too many are made.
 */
export function createOpenPreview({ pool, decide, compose, tokens, mediaUrl, now }: OpenPreviewOptions): OpenPreview {
  async function open(
    { workspaceId, episodeId, atMs, ...listener }: OpenPreviewRequest,
    signal: AbortSignal,
  ): Promise<OpenPreviewResponse> {
    const madeAt = now();
    const at = atMs === undefined ? madeAt : new Date(Number(atMs));
    const episode = await findEditedEpisode(pool, workspaceId, episodeId, madeAt);
    const rights = episode?.rights;
    if (
      !episode ||
      (rights && (!holdIn(rights, listener.country) || [at, madeAt].some((each) => areOver(rights, each))))
    )
      throw new Problem('episode_has_no_audio');
    const time = { at, asPaced: atMs === undefined };
    const { ads, told } = await decide(newId(idPrefixes.decision), episode, listener, time, signal);
    signal.throwIfAborted();
    const { document, headers } = await compose(episode, ads.breaks, madeAt);
    const id = newId(idPrefixes.preview);
    const expiresAt = new Date(madeAt.getTime() + previewMs);
    const { podcastId } = episode;
    await savePreview(pool, {
      ...{ id, workspaceId, podcastId, episodeId, document, headers },
      ...{ ads: ads.counted, madeAt, expiresAt },
    });
    const root = `${mediaUrl}/delivery/v1/pv/${tokens.mint(id, madeAt)}`;
    return {
      previewId: id,
      expiresAtMs: BigInt(expiresAt.getTime()),
      audioUrl: `${root}/preview.mp3`,
      timelineUrl: `${root}/timeline.json`,
      timelineJson: JSON.stringify(previewTimelineOf(document)),
      decisionJson: JSON.stringify(told),
    };
  }

  let underWay = 0;
  async function openOneOfAll(asked: OpenPreviewRequest, signal: AbortSignal): Promise<OpenPreviewResponse> {
    if (underWay >= maxAtOnce) throw tooMany();
    underWay += 1;
    return open(asked, signal).finally(() => (underWay -= 1));
  }

  const gateOfWorkspace = createGates(maxOfWorkspace);
  return async (asked, signal) => {
    const turn = AbortSignal.any([signal, AbortSignal.timeout(turnWaitMs)]);
    try {
      return await gateOfWorkspace(asked.workspaceId)(() => openOneOfAll(asked, signal), turn);
    } catch (error) {
      throw [turn, signal].some(({ aborted, reason }) => aborted && error === reason) ? tooMany() : error;
    }
  };
}

/** The timeline of a preview: marked, and without an address for reports or clicks. */
export const previewTimelineOf = (document: Parameters<typeof timelineOf>[0]) => ({
  ...timelineOf(document, () => ({})),
  preview: true,
});
