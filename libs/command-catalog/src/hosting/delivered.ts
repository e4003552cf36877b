/** The types of resources that listeners are served from, without the rest of the catalog, which costs a process memory and a longer start. */
export { episodes } from './episode.ts';
export { clipFormats, mediaClips } from './media-clip.ts';
export { podcasts } from './podcast.ts';
export { productions } from './production.ts';
