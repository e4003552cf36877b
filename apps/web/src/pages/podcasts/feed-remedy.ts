import type { Answer } from '../../api/queries.ts';

export type Finding = Answer<'/podcasts/{id}/feed_check'>['findings'][number];

/** Where what a check found is mended: on the settings of the podcast, in an episode, or by who runs the installation. */
export type RemedyPlace = 'settings' | 'episodes' | 'host';

const inSettings = new Set(['channel_element_missing', 'explicit_missing', 'link_is_feed']);
const inEpisodes = new Set(['no_episodes', 'enclosure_missing']);
/** Artwork that is there, and not what directories take; how it is sent is a matter of the host. */
const artworkOfPodcast = new Set(['missing', 'format', 'square', 'size', 'extension']);

/** The place where a finding is mended. */
export function remedyOf({ code, text }: Pick<Finding, 'code' | 'text'>): RemedyPlace {
  const [kind, rest] = [code.split('_')[0], code.slice(code.indexOf('_') + 1)];
  if (code === 'description_too_long') return text.includes('of the channel') ? 'settings' : 'episodes';
  if (inSettings.has(code) || kind === 'category' || (kind === 'artwork' && artworkOfPodcast.has(rest)))
    return 'settings';
  return inEpisodes.has(code) || kind === 'item' ? 'episodes' : 'host';
}
