import { useCallback, useMemo } from 'react';
import { usePlayer } from '../player/use-player.ts';
import { columnsOf, reduce, type Peaks } from './columns.ts';
import { Drawing, type Paint } from './drawing.tsx';
import { pixelOf, type View } from './scale.ts';
import type { Silences } from './snap.ts';
import styles from './waveform.module.css';

/** A bar and the gap beside it, in pixels. */
const pitchPx = 3;
const barPx = 2;
const waveHeightPx = 116;

function usePaint(peaks: Peaks | undefined, { startMs, lengthMs }: View): Paint {
  const levels = useMemo(() => peaks && reduce(peaks.data), [peaks]);
  return useCallback(
    (context, widthPx, heightPx) => {
      const count = Math.floor(widthPx / pitchPx);
      const pair = (ms: number) => ms / (peaks?.pairMs ?? 1);
      const columns = levels && columnsOf(levels, pair(startMs), pair(startMs + lengthMs), count);
      const middle = heightPx / 2;
      for (let column = 0; column < count; column += 1) {
        const [min, max] = [columns?.[column * 2] ?? 0, columns?.[column * 2 + 1] ?? 0];
        const [top, bottom] = [(max / 127) * (middle - 2), (min / -128) * (middle - 2)];
        context.beginPath();
        context.roundRect(
          column * pitchPx,
          middle - Math.max(top, 1),
          barPx,
          Math.max(top, 1) + Math.max(bottom, 1),
          1,
        );
        context.fill();
      }
    },
    [levels, peaks?.pairMs, startMs, lengthMs],
  );
}

/** The sound; what has been heard is in another colour. */
export function Wave({
  peaks,
  view,
  widthPx,
}: {
  readonly peaks: Peaks | undefined;
  readonly view: View;
  readonly widthPx: number;
}) {
  const paint = usePaint(peaks, view);
  const heardPx = usePlayer(({ positionMs }) =>
    Math.round(Math.min(Math.max(0, pixelOf(view, widthPx, positionMs)), widthPx)),
  );
  const size = { widthPx, heightPx: waveHeightPx, paint };
  return (
    <>
      <Drawing className={styles.rest} {...size} />
      <div className={styles.heard} style={{ width: heardPx }}>
        <Drawing className={styles.played} {...size} />
      </div>
    </>
  );
}

/** A dot for each silence that is worth a cut. */
export function SilenceDots({
  silences,
  view,
  widthPx,
}: {
  readonly silences: Silences;
  readonly view: View;
  readonly widthPx: number;
}) {
  const { startMs, lengthMs } = view;
  const paint: Paint = useCallback(
    (context, width, heightPx) => {
      for (const [fromMs, toMs] of silences) {
        const px = pixelOf({ startMs, lengthMs }, width, (fromMs + toMs) / 2);
        if (px < 0 || px > width) continue;
        context.beginPath();
        context.arc(px, heightPx / 2, 1.5, 0, 2 * Math.PI);
        context.fill();
      }
    },
    [silences, startMs, lengthMs],
  );
  return <Drawing className={styles.dots} widthPx={widthPx} heightPx={8} paint={paint} />;
}
