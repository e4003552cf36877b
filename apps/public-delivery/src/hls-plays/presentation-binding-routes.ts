import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { openedToken } from '../http/parameter.ts';
import { parseJson, parseRequest } from '../http/parse-request.ts';
import { readBody } from '../http/read-body.ts';
import type { Exchange, Route } from '../http/route.ts';
import { sendText } from '../http/send-text.ts';
import type { Bindings } from '../plays/bindings.ts';
import type { FindHlsPlay } from './find-hls-play.ts';
import type { HlsTokens } from './hls-tokens.ts';

export interface PresentationBindingRoutesOptions {
  readonly findPlay: FindHlsPlay;
  readonly bindings: Pick<Bindings, 'findOfHlsPlay'>;
  readonly tokens: Pick<
    HlsTokens,
    'openPresentation' | 'openBinding' | 'mintBinding' | 'mintAssetList' | 'mintOpportunity' | 'expiryOf'
  >;
  /** Without a slash at the end. */
  readonly mediaUrl: string;
}

/** What a play by HLS is bound to, as a player reads it. Times are content time. */
interface PresentationBinding {
  /** The token of its own address. */
  readonly binding_id: string;
  /** SHA-256 (hex) of the presentation. */
  readonly presentation: string;
  /** `open` while the ads are not decided; they are at the first question for the ads of a break, or by the MP3. */
  readonly state: 'open' | 'resolved';
  readonly expires_at: string;
  readonly breaks: readonly {
    readonly key: string;
    readonly position: 'pre' | 'mid' | 'post';
    readonly start_ms: number;
    /** The addresses of its ads as an asset list and, for 24 h after the play was opened, as VAST. */
    readonly asset_list: string;
    readonly vast: string;
  }[];
}

const bodySchema = z.strictObject({ presentation_token: z.string().max(500) });
const maxBodyBytes = 1_024;
const never = { 'content-type': 'application/json', 'cache-control': 'no-store' };

/** Presentation bindings: what a player that does not read playlists must know of a play by HLS. They are read, and decide and store nothing. */
export function presentationBindingRoutes(options: PresentationBindingRoutesOptions): readonly Route[] {
  const { findPlay, bindings, tokens, mediaUrl } = options;
  const base = `${mediaUrl}/delivery/v1`;

  async function bindingOf(playId: string, at: Date): Promise<PresentationBinding> {
    const { play } = await findPlay(playId, at);
    return {
      binding_id: tokens.mintBinding(play),
      presentation: play.presentation,
      state: (await bindings.findOfHlsPlay(playId)) ? 'resolved' : 'open',
      expires_at: tokens.expiryOf(play).toISOString(),
      breaks: play.schedule.map(({ key, position, startMs }, place) => ({
        ...{ key, position, start_ms: startMs },
        asset_list: `${base}/al/${tokens.mintAssetList(play, place)}`,
        vast: `${base}/v/${tokens.mintOpportunity(play, place)}`,
      })),
    };
  }

  async function create(exchange: Exchange): Promise<void> {
    const { response, startedAt } = exchange;
    const body = parseRequest(bodySchema, parseJson(await readBody(exchange, maxBodyBytes)));
    const opened = tokens.openPresentation(body.presentation_token, startedAt);
    if (!opened) throw new Problem('not_found');
    const binding = await bindingOf(opened.playId, startedAt);
    const text = JSON.stringify(binding);
    const location = `${base}/pb/${binding.binding_id}`;
    response.writeHead(201, { ...never, location, 'content-length': String(Buffer.byteLength(text)) }).end(text);
  }

  async function read(exchange: Exchange): Promise<void> {
    const { playId } = openedToken(exchange, tokens.openBinding);
    await sendText(exchange, JSON.stringify(await bindingOf(playId, exchange.startedAt)), never);
  }

  return [
    { name: 'presentation_binding.create', path: '/delivery/v1/pb', post: create },
    { name: 'presentation_binding.read', path: '/delivery/v1/pb/:token', get: read },
  ];
}
