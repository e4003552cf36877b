import { Problem } from '@longwave/problems';
import type { Exchange } from '../http/route.ts';
import { sendText } from '../http/send-text.ts';
import type { FoundAudio } from '../projection/content-table.ts';
import type { RecentProjection } from '../projection/recent-projection.ts';
import type { OpenPresentations } from './open-presentation.ts';
import { playlistType, renderMain } from './presentation-files.ts';

export interface AnswerPresentationOptions {
  readonly projection: Pick<RecentProjection, 'findPresentedDigest'>;
  readonly presentations: OpenPresentations;
  /** Without a slash at the end. */
  readonly mediaUrl: string;
}

/**
 * Answers the lasting address of an episode by HLS: leads to its presentation or, with `?direct=1`, answers with the multivariant playlist
 * itself. Rejects with `resource_gone` for an archived episode, with `not_found` for one that is not public or has no presentation.
 */
export type AnswerPresentation = (exchange: Exchange, found: FoundAudio | undefined) => Promise<void>;

const lasting = 'private, no-store';

export const createAnswerPresentation =
  ({ projection, presentations, mediaUrl }: AnswerPresentationOptions): AnswerPresentation =>
  async (exchange, found) => {
    if (found?.kind === 'ended') throw new Problem('resource_gone');
    if (found?.kind !== 'ours' || found.episode.rights) throw new Problem('not_found');
    const { episodeId, rendition } = found.episode;
    const digest = await projection.findPresentedDigest(episodeId, exchange.startedAt);
    const presentation = digest === undefined ? undefined : await presentations.find(digest);
    // The audio was replaced a moment ago.
    if (presentation?.renditionDigest !== rendition.digest) throw new Problem('not_found');
    const base = `/delivery/v1/h/${presentation.digest}/`;
    if (exchange.query['direct'] === '1')
      return sendText(exchange, renderMain(presentation, base), {
        ...{ 'content-type': playlistType, 'cache-control': lasting },
      });
    const { response } = exchange;
    const location = `${mediaUrl}${base}main.m3u8`;
    response.writeHead(302, { location, 'cache-control': lasting, 'content-length': '0' }).end();
  };
