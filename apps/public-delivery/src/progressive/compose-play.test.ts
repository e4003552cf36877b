import { expect, test } from '@jest/globals';
import { bytesOfFrames, durationMsOfFrames } from '@longwave/audio';
import fc from 'fast-check';
import { arrangementDocumentSchema, partsOf, type ArrangementPart } from '../arrangements/arrangement.ts';
import type { Composition, PlayableEpisode } from '../projection/content-table.ts';
import { filledBreaksOf, slotName, type FilledBreak } from '../arrangements/arranged-breaks.ts';
import { composePlay } from './compose-play.ts';
import { fadeSpans } from './fade-content.ts';
import { createTimeMap, stretchesOf } from '../arrangements/time-map.ts';

const digest = (of: string | number) => String(of).padStart(64, '0');

const episodeOf = (frames: number): PlayableEpisode => ({
  ...{ workspaceId: 'ws_1', podcastId: 'pod_1', episodeId: 'ep_1', publishedAt: new Date(0), fileName: 'x' },
  ...{ title: 'One', podcastTitle: 'Tides', author: 'Ana' },
  playsEndBefore: undefined,
  withoutAds: false,
  rights: undefined,
  rendition: { digest: digest('c'), sizeBytes: bytesOfFrames(frames), durationMs: durationMsOfFrames(frames) },
});

const segmentOf = (of: string, frames: number) => ({
  ...{ stream_format: 'mp3/128000/48000/2', storage_key: `media/${of}`, sha256: digest(of) },
  ...{ size_bytes: bytesOfFrames(frames), duration_ms: durationMsOfFrames(frames) },
});

const adOf = (slot: string, frames: number): FilledBreak['ads'][number] => ({
  ...{ digest: digest(frames), sizeBytes: bytesOfFrames(frames), durationMs: durationMsOfFrames(frames) },
  ...{ kind: 'ad', slot },
});

const length = fc.integer({ min: 1, max: 2_000 });

/** An episode with breaks inside of it, before it and behind it. */
const plays = fc.integer({ min: 2, max: 5_000 }).chain((frames) =>
  fc.record({
    frames: fc.constant(frames),
    intro: fc.option(length, { nil: undefined }),
    outro: fc.option(length, { nil: undefined }),
    chapters: fc.uniqueArray(fc.nat(durationMsOfFrames(frames)), { maxLength: 8 }),
    pre: fc.array(length, { maxLength: 3 }),
    post: fc.array(length, { maxLength: 3 }),
    mid: fc.uniqueArray(
      fc.record({ at: fc.integer({ min: 1, max: frames - 1 }), ads: fc.array(length, { minLength: 1, maxLength: 3 }) }),
      { maxLength: 5, selector: ({ at }) => at },
    ),
  }),
);
type PlayShape = typeof plays extends fc.Arbitrary<infer T> ? T : never;

const breaksOf = ({ frames, pre, mid, post }: PlayShape): FilledBreak[] =>
  [
    { key: 'pre', position: 'pre' as const, at: 0, ads: pre },
    ...mid
      .toSorted((a, b) => a.at - b.at)
      .map(({ at, ads }) => ({ key: `m:${at}`, position: 'mid' as const, at, ads })),
    { key: 'post', position: 'post' as const, at: frames, ads: post },
  ]
    .filter(({ ads }) => ads.length > 0)
    .map(({ key, position, at, ads }) => ({
      ...{ key, position, contentMs: durationMsOfFrames(at) },
      ads: ads.map((each, slot) => adOf(slotName(key, slot), each)),
    }));

const compositionOf = ({ intro, outro, chapters }: PlayShape): Composition => ({
  intro: intro === undefined ? undefined : segmentOf('a', intro),
  outro: outro === undefined ? undefined : segmentOf('b', outro),
  chapters: chapters.toSorted((a, b) => a - b).map((start_ms, i) => ({ start_ms, title: `Chapter ${i}` })),
  ...{ artwork: undefined, track: undefined, page: undefined, breakFadeMs: 0, silences: [] },
});

const compose = (shape: PlayShape, breaks = breaksOf(shape)) =>
  composePlay(episodeOf(shape.frames), compositionOf(shape), breaks, undefined);

const isOwn = ({ content_ms: ms }: ArrangementPart) => ms !== undefined;

test('the pieces of the content, one after the other, are the content, and the breaks of the arrangement are those given', () => {
  fc.assert(
    fc.property(plays, (shape) => {
      const { document } = compose(shape);
      expect(arrangementDocumentSchema.parse(document)).toEqual(document);
      let at = 0;
      for (const piece of partsOf(document).filter(isOwn)) {
        expect([piece.blob, piece.blob_bytes, piece.from]).toEqual([digest('c'), bytesOfFrames(shape.frames), at]);
        at += piece.length;
      }
      expect(at).toBe(bytesOfFrames(shape.frames));
      expect(filledBreaksOf(document)).toEqual(breaksOf(shape));
    }),
  );
});

test('ads before the content stand before the intro, those behind it behind the outro', () => {
  fc.assert(
    fc.property(plays, (shape) => {
      const parts = partsOf(compose(shape).document).filter(({ kind }) => kind !== 'header');
      const sound = parts.map(({ blob }) =>
        blob === digest('a') ? 'intro' : blob === digest('b') ? 'outro' : 'other',
      );
      const own = [parts.findIndex(isOwn), parts.findLastIndex(isOwn)] as const;
      expect(own[0]).toBe(shape.pre.length + (shape.intro === undefined ? 0 : 1));
      expect(parts.length - 1 - own[1]).toBe(shape.post.length + (shape.outro === undefined ? 0 : 1));
      if (shape.intro !== undefined) expect(sound.indexOf('intro')).toBe(shape.pre.length);
      if (shape.outro !== undefined) expect(sound.indexOf('outro')).toBe(own[1] + 1);
    }),
  );
});

test('the header is as long as without ads, and the file is as long as its frames', () => {
  fc.assert(
    fc.property(plays, (shape) => {
      const sizeOf = ({ headers }: ReturnType<typeof compose>) =>
        headers.reduce((sum, { bytes }) => sum + bytes.length, 0);
      const play = compose(shape);
      expect(sizeOf(play)).toBe(sizeOf(compose(shape, [])));
      const soundBytes = play.document.total_bytes - sizeOf(play);
      const last = play.document.timeline.at(-1)!;
      expect(last.start_ms + last.dur_ms).toBe(durationMsOfFrames(soundBytes / 384));
    }),
  );
});

test('the time map rises, is undone by its inverse, and leaves out exactly what is not the content', () => {
  fc.assert(
    fc.property(plays, fc.nat(), fc.nat(), (shape, first, second) => {
      const { document } = compose(shape);
      const contentMs = durationMsOfFrames(shape.frames);
      const last = document.timeline.at(-1)!;
      const totalMs = last.start_ms + last.dur_ms;
      const map = createTimeMap(stretchesOf(document));
      const [a, b] = [first % (contentMs + 1), second % (contentMs + 1)].toSorted((x, y) => x - y) as [number, number];
      expect(map.beginOf(a)).toBeLessThanOrEqual(map.beginOf(b));
      expect(map.endOf(a)).toBeLessThanOrEqual(map.endOf(b));
      expect(map.endOf(a)).toBeLessThanOrEqual(map.beginOf(a));
      if (a < b) expect(map.beginOf(a)).toBeLessThan(map.endOf(b));
      for (const at of [map.beginOf(a), map.endOf(a)]) expect(map.contentOf(at)).toBe(a);
      const [c, d] = [first % (totalMs + 1), second % (totalMs + 1)].toSorted((x, y) => x - y) as [number, number];
      expect(map.contentOf(c)).toBeLessThanOrEqual(map.contentOf(d));
      const between = breaksOf(shape).filter((each) => each.position === 'mid');
      const adsMs = between.flatMap(({ ads }) => ads).reduce((sum, { durationMs }) => sum + durationMs, 0);
      expect(map.endOf(contentMs) - map.beginOf(0)).toBe(contentMs + adsMs);
    }),
  );
});

test('equal plays have equal ids, whether or not their ads have tracks of HLS, and one ad more has another', () => {
  const hls = {
    ...{ codec: 'mp4a.40.2', digest: digest('e'), size_bytes: 1, duration_ms: 1 },
    ...{ index_digest: digest('f'), index_size_bytes: 1 },
  };
  fc.assert(
    fc.property(plays, (shape) => {
      expect(compose(shape).id).toBe(compose(shape).id);
      const tracked = breaksOf(shape).map((each) => ({ ...each, ads: each.ads.map((ad) => ({ ...ad, hls })) }));
      expect(compose(shape, tracked)).toEqual(compose(shape));
      if (breaksOf(shape).length > 0) expect(compose(shape, []).id).not.toBe(compose(shape).id);
    }),
  );
});

test('with fades the pieces are the content still, one after the other, and the breaks those given', () => {
  fc.assert(
    fc.property(plays, fc.integer({ min: 24, max: 1_000 }), (shape, breakFadeMs) => {
      const [episode, breaks] = [episodeOf(shape.frames), breaksOf(shape)];
      const faded = fadeSpans(episode.rendition, breaks, { breakFadeMs, silences: [] }).map((span) => ({
        ...span,
        bytes: Buffer.alloc(bytesOfFrames(span.durationMs / 24), span.contentMs % 251),
      }));
      const { document, headers } = composePlay(episode, compositionOf(shape), breaks, undefined, faded);
      expect(arrangementDocumentSchema.parse(document)).toEqual(document);
      let contentMs = 0;
      for (const [index, piece] of partsOf(document).entries()) {
        if (!isOwn(piece)) continue;
        expect(piece.content_ms).toBe(contentMs);
        expect(piece.length).toBe(bytesOfFrames(document.timeline[index]!.dur_ms / 24));
        expect(piece.store === undefined ? piece.from : bytesOfFrames(contentMs / 24)).toBe(
          bytesOfFrames(contentMs / 24),
        );
        contentMs += document.timeline[index]!.dur_ms;
      }
      expect(contentMs).toBe(episode.rendition.durationMs);
      expect(document.total_bytes).toBe(compose(shape).document.total_bytes);
      expect(headers).toHaveLength(1 + faded.length);
      expect(filledBreaksOf(document)).toEqual(breaks);
    }),
  );
});
