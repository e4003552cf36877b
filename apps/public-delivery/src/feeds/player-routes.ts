import { Problem } from '@longwave/problems';
import type { Pool } from '@longwave/postgres';
import { episodeIdShape, parameter, subdomainShape, tokenShape } from '../http/parameter.ts';
import type { Exchange, Route } from '../http/route.ts';
import { sendPage } from '../http/send-page.ts';
import { findPlayerEpisode, type PlayerEpisode } from '../projection/player-table.ts';
import { renderPlayerPage } from './player-page.ts';

/**
 * Players of published episodes: 404 for one that is not public, whose audio is hosted outside, or whose podcast another platform hosts;
 * 410 once it was archived. The pages of the podcast name the same player at an address of theirs, where an archived one is 404 as they are.
 */
export function playerRoutes({ pool, mediaUrl }: { readonly pool: Pool; readonly mediaUrl: string }): readonly Route[] {
  async function get(exchange: Exchange): Promise<void> {
    const found = await findPlayerEpisode(pool, { kind: 'alias', alias: parameter(exchange, 'alias', tokenShape) });
    if (found === 'ended') throw new Problem('resource_gone');
    if (!found) throw new Problem('not_found');
    sendPlayer(exchange, found);
  }

  async function getOfSite(exchange: Exchange): Promise<void> {
    const subdomain = parameter(exchange, 'subdomain', subdomainShape);
    const episodeId = parameter(exchange, 'episode', episodeIdShape);
    const found = await findPlayerEpisode(pool, { kind: 'site', subdomain, episodeId });
    if (!found || found === 'ended') throw new Problem('not_found');
    sendPlayer(exchange, found);
  }

  function sendPlayer(exchange: Exchange, episode: PlayerEpisode): void {
    const { html, policy } = renderPlayerPage(episode, mediaUrl);
    sendPage(exchange, html, policy);
  }

  return [
    { name: 'player.read', path: '/delivery/v1/e/:alias/player', get },
    { name: 'site_player.read', path: '/site/:subdomain/:episode/embed', get: getOfSite },
  ];
}
