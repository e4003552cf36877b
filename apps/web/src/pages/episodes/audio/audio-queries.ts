import { get } from '../../../api/queries.ts';

export const markersQuery = (id: string) => get('/episodes/{id}/markers', { path: { id } });

export const chaptersQuery = (id: string) => get('/episodes/{id}/chapters', { path: { id } });

/** Addresses of the peaks and the audio of an encoding, which expire, and its silences. */
export const waveformQuery = (id: string) => get('/productions/{id}/waveform', { path: { id } });

export const transcriptsQuery = (id: string) => get('/episodes/{id}/transcripts', { path: { id } });
