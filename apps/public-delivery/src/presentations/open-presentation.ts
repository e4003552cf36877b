import { durationTicks } from '@longwave/hls-media';
import type { Pool } from '@longwave/postgres';
import { LRUCache } from 'lru-cache';
import { fromStore } from '../http/from-store.ts';
import type { LoadIndex } from './load-index.ts';
import { openTrack, type OpenTrack } from './open-track.ts';
import { findPresentation, findPresentationOfTrack, shortIdOf, type StoredPresentation } from './presentation-table.ts';

/** A presentation with what is needed to send it. */
export interface OpenPresentation extends StoredPresentation {
  readonly audio: OpenTrack;
  /** Length of the intro, and of everything, in ticks of the track. */
  readonly contentStart: number;
  readonly duration: number;
}

/** Opens presentations. Rejects with `temporarily_unavailable` when an index cannot be had. */
export interface OpenPresentations {
  /** By its digest or the part of it that tokens carry. */
  find(digest: string): Promise<OpenPresentation | undefined>;
  findByTrack(track: string): Promise<OpenPresentation | undefined>;
}

/** One of an hour takes about half a megabyte, most of it the pieces of a track behind an intro. */
const maxOpen = 100;

export async function openPresentation(stored: StoredPresentation, loadIndex: LoadIndex): Promise<OpenPresentation> {
  const { track, indexes, own } = stored.document.audio;
  const audio = await openTrack(track, indexes, loadIndex);
  return {
    ...stored,
    audio,
    contentStart: track.parts[own]!.rebase,
    duration: durationTicks(audio.reader.index),
  };
}

/** Presentations never change; the last ones stay open. */
export function createOpenPresentations(pool: Pool, loadIndex: LoadIndex): OpenPresentations {
  const open = new LRUCache<string, OpenPresentation>({ max: maxOpen });
  const byTrack = new LRUCache<string, string>({ max: 10 * maxOpen });

  async function keep(stored: StoredPresentation | undefined): Promise<OpenPresentation | undefined> {
    if (!stored) return undefined;
    const presentation = await fromStore(openPresentation(stored, loadIndex));
    open.set(shortIdOf(stored.digest), presentation);
    byTrack.set(presentation.audio.digest, stored.digest);
    return presentation;
  }

  const find = async (digest: string) => open.get(shortIdOf(digest)) ?? keep(await findPresentation(pool, digest));
  return {
    find,
    findByTrack: async (track) => {
      const known = byTrack.get(track);
      return known === undefined ? keep(await findPresentationOfTrack(pool, track)) : find(known);
    },
  };
}
