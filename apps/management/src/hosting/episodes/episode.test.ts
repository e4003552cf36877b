import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { checkedChapters, checkedMarkers, checkSoundbites, withProduction, type Episode } from './episode.ts';

const id = (prefix: string) => `${prefix}_01234567890123456789012345`;
const atMs = fc.integer({ min: 0, max: 600_000 });
const durationMs = fc.integer({ min: 1, max: 600_000 });

/** Chapters, markers and soundbites as the commands accept them for some audio. */
const episodes = fc
  .record({
    durationMs,
    starts: fc.uniqueArray(atMs, { maxLength: 10 }),
    mids: fc.uniqueArray(fc.integer({ min: 1, max: 59 }), { maxLength: 5 }),
    soundbites: fc.array(fc.record({ start_ms: atMs, duration_ms: fc.integer({ min: 1, max: 120_000 }) })),
  })
  .map(({ durationMs: ms, starts, mids, soundbites }): Episode => {
    const inside = starts.filter((start) => start < ms);
    return {
      title: 'One',
      type: 'full',
      podcast_id: id('pod'),
      guid: 'g',
      duration_ms: ms,
      chapters: checkedChapters(
        inside.map((start) => ({ start_ms: start, title: 'C', end_ms: Math.min(start + 60_000, ms) })),
        ms,
      ),
      chapters_from: 'editor',
      markers: checkedMarkers(
        [
          { key: 'pre', kind: 'pre', position_ms: 0, max_slots: 1 },
          ...mids
            .filter((mid) => mid * 10_000 < ms)
            .map((mid) => ({ key: `m${mid}`, kind: 'mid' as const, position_ms: mid * 10_000, max_slots: 1 })),
          { key: 'post', kind: 'post', position_ms: ms, max_slots: 1 },
        ],
        ms,
      ),
      soundbites: soundbites.filter((bite) => bite.start_ms + bite.duration_ms <= ms),
    };
  });

test('with another file an episode keeps only chapters, markers and soundbites within the new length', () => {
  fc.assert(
    fc.property(episodes, durationMs, (episode, newMs) => {
      const after = withProduction(episode, id('pro'), { audio_duration_ms: newMs }, {});
      expect(after.duration_ms).toBe(newMs);
      expect(checkedChapters(after.chapters ?? [], newMs)).toEqual(after.chapters ?? []);
      expect(checkedMarkers(after.markers ?? [], newMs)).toEqual(after.markers ?? []);
      checkSoundbites(after.soundbites, newMs);
      // A file that is no shorter removes nothing.
      if (newMs >= episode.duration_ms!) {
        expect(after.chapters ?? []).toEqual(episode.chapters);
        expect(after.markers).toHaveLength(episode.markers!.length);
        expect(after.soundbites).toEqual(episode.soundbites);
      }
    }),
  );
});

test('attached audio brings the podcast’s present intro and outro, and the production’s batch encoding', () => {
  const segment = (n: number) => ({
    stream_format: 'mp3/128000/48000/2',
    storage_key: `media/${n}`,
    sha256: String(n).repeat(64),
    size_bytes: 384,
    duration_ms: 24,
  });
  const part = { file_url: 'https://m.example/a.mp3', upload_id: id('upl'), state: 'ready' as const };
  const episode: Episode = {
    title: 'One',
    type: 'full',
    podcast_id: id('pod'),
    guid: 'g',
    intro: segment(1),
    outro: segment(2),
    batch_encoding_id: id('bat'),
  };
  const attach = (production: object) =>
    withProduction(
      episode,
      id('pro'),
      { audio_duration_ms: 1000, ...production },
      { intro: { ...part, segment: segment(3) }, outro: { ...part, state: 'encoding' } },
    );
  expect(attach({})).toEqual({
    title: 'One',
    type: 'full',
    podcast_id: id('pod'),
    guid: 'g',
    duration_ms: 1000,
    current_production_id: id('pro'),
    intro: segment(3),
  });
  expect(attach({ batch_encoding_id: id('bat') })).toHaveProperty('batch_encoding_id', id('bat'));
});
