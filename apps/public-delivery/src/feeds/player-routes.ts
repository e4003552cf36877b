import { Problem } from '@longwave/problems';
import type { Pool } from '@longwave/postgres';
import { parameter, tokenShape } from '../http/parameter.ts';
import type { Exchange, Route } from '../http/route.ts';
import { sendPage } from '../http/send-page.ts';
import { findPlayerEpisode } from '../projection/player-table.ts';
import { renderPlayerPage } from './player-page.ts';

/**
 * Players of published episodes: 404 for one that is not public, whose audio is hosted outside, or whose podcast another platform hosts;
 * 410 once it was archived.
 */
export function playerRoutes({ pool, mediaUrl }: { readonly pool: Pool; readonly mediaUrl: string }): readonly Route[] {
  async function get(exchange: Exchange): Promise<void> {
    const found = await findPlayerEpisode(pool, parameter(exchange, 'alias', tokenShape));
    if (found === 'ended') throw new Problem('resource_gone');
    if (!found) throw new Problem('not_found');
    const { html, policy } = renderPlayerPage(found, mediaUrl);
    sendPage(exchange, html, policy);
  }
  return [{ name: 'player.read', path: '/delivery/v1/e/:alias/player', get }];
}
