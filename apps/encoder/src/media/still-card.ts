import type { PictureSource } from './source-picture.ts';

/** Heights of the bars in the middle of the card, as of a voice: pixels of 1080. */
const bars = [120, 280, 440, 200, 360, 520, 360, 200, 440, 280, 120];
const [barWidth, barDistance] = [36, 84];

/** White bars around the middle. */
const drawBars = bars.map((height, at) => {
  const x = 960 - barWidth / 2 + (at - (bars.length - 1) / 2) * barDistance;
  return `drawbox=x=${x}:y=${540 - height / 2}:w=${barWidth}:h=${height}:color=white@0.9:t=fill`;
});

/**
 * The picture of an ad of sound: one for all, so that ads of equal length share its files, and without a word, so that it depends on no font.
 * It is drawn once, for half a second, and held.
 */
export const stillCard: PictureSource = {
  input: [
    ...['-f', 'lavfi', '-i'],
    [
      'gradients=size=1920x1080:rate=2:duration=0.5:nb_colors=2:c0=0x24365e:c1=0x0b1222:x0=0:y0=0:x1=1920:y1=1080:speed=0.00001',
      ...drawBars,
    ].join(','),
  ],
  frameRate: { frames: 25, seconds: 1 },
  offsetSeconds: 0,
};
