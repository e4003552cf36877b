import { get } from '../../api/queries.ts';

export const episodeQuery = (id: string) => get('/episodes/{id}', { path: { id } });

/** One encoding of an episode's audio. */
export const productionQuery = (id: string) => get('/productions/{id}', { path: { id } });
