import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { pictureFields, pictureOf, usualRate } from './source-picture.ts';

const schema = z.object({ codec_type: z.string(), duration: z.coerce.number().catch(0), ...pictureFields });
/** A stream as ffprobe prints it. */
const stream = (fields: object = {}) =>
  schema.parse({
    ...{ codec_type: 'video', width: 1440, height: 1080, avg_frame_rate: '25/1', r_frame_rate: '25/1' },
    ...{ duration: '60.0', nb_frames: '1500', disposition: { attached_pic: 0, timed_thumbnails: 0 } },
    ...fields,
  });
const rate = { frames: 25, seconds: 1 };

test('the size of a picture is that in which it is shown', () => {
  expect(pictureOf([stream()])).toEqual({ width: 1440, height: 1080, frameRate: rate });
  expect(pictureOf([stream({ sample_aspect_ratio: '4:3' })])).toMatchObject({ width: 1920, height: 1080 });
  expect(pictureOf([stream({ sample_aspect_ratio: '0:1' })])).toMatchObject({ width: 1440 });
  for (const rotation of [90, -90, 270])
    expect(pictureOf([stream({ side_data_list: [{ rotation }] })])).toMatchObject({ width: 1080, height: 1440 });
  expect(pictureOf([stream({ side_data_list: [{ rotation: 180 }] })])).toMatchObject({ width: 1440, height: 1080 });
});

test('a cover image, images of chapters, a single picture and sound are no moving picture', () => {
  const cover = stream({ disposition: { attached_pic: 1, timed_thumbnails: 0 } });
  const thumbnails = stream({ disposition: { attached_pic: 0, timed_thumbnails: 1 } });
  for (const none of [
    [],
    [cover],
    [thumbnails],
    [stream({ nb_frames: '1' })],
    [stream({ nb_frames: undefined, duration: '0.04' })],
    [stream({ codec_type: 'audio' })],
  ])
    expect(pictureOf(none)).toBeUndefined();
  expect(pictureOf([cover, stream({ nb_frames: undefined })])).toBeDefined();
});

test.each([
  ['0/0', '30000/1001', { frames: 30_000, seconds: 1001 }],
  ['0/0', '0/0', { frames: 30, seconds: 1 }],
  ['N/A', undefined, { frames: 30, seconds: 1 }],
])('a rate of %s and %s is read as %j', (avg_frame_rate, r_frame_rate, frameRate) => {
  expect(pictureOf([stream({ avg_frame_rate, r_frame_rate })])).toMatchObject({ frameRate });
});

test.each([
  [30_000, 1001, 30_000, 1001],
  [24_000, 1001, 24_000, 1001],
  [24, 1, 24, 1],
  [50, 2, 25, 1],
  [2998, 100, 30_000, 1001],
  [15, 1, 30, 1],
  [28_471, 1000, 30, 1],
  [1, 10, 30, 1],
])('%d/%d pictures a second are shown at %d/%d', (frames, seconds, ...expected) => {
  const { frames: shown, seconds: of } = usualRate({ frames, seconds });
  expect([shown, of]).toEqual(expected);
});
