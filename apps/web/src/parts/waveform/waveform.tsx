import type { KeyboardEvent, PointerEvent } from 'react';
import { t } from '../../messages/messages.ts';
import { lengthText } from '../format.ts';
import { player, usePlayer } from '../player/use-player.ts';
import { useWidth } from '../use-width.ts';
import type { Peaks } from './columns.ts';
import { Flags, type Flag, type FlagDeeds } from './flags.tsx';
import { pixelOf, ticksOf, timeAt, type View } from './scale.ts';
import type { Silences } from './snap.ts';
import { SilenceDots, Wave } from './wave.tsx';
import styles from './waveform.module.css';

/** A chapter on the waveform, as long as it lasts. */
export interface Stretch {
  readonly title: string;
  readonly startMs: number;
  readonly endMs: number;
}

const steps: Readonly<Record<string, number>> = {
  ArrowLeft: -100,
  ArrowDown: -100,
  ArrowRight: 100,
  ArrowUp: 100,
  PageDown: -10_000,
  PageUp: 10_000,
};

function Playhead({
  view,
  widthPx,
  durationMs,
  spoken,
}: {
  readonly view: View;
  readonly widthPx: number;
  readonly durationMs: number;
  readonly spoken: (ms: number) => string;
}) {
  // A tenth of a second is what is said; a pixel is what is seen.
  const px = usePlayer(({ positionMs }) => Math.round(pixelOf(view, widthPx, positionMs)));
  const nowMs = usePlayer(({ positionMs }) => Math.round(positionMs / 100) * 100);
  const press = (event: KeyboardEvent) => {
    const step = steps[event.key];
    if (event.key === 'Home') player.seek(0);
    else if (event.key === 'End') player.seek(durationMs);
    else if (step !== undefined && !event.altKey) player.skip(event.shiftKey ? step * 10 : step);
    else return;
    event.preventDefault();
  };
  if (px < 0 || px > widthPx) return null;
  return (
    <button
      type="button"
      role="slider"
      aria-label={t('audio.position')}
      aria-valuemin={0}
      aria-valuemax={durationMs}
      aria-valuenow={nowMs}
      aria-valuetext={spoken(nowMs)}
      className={styles.playhead}
      style={{ left: px }}
      onKeyDown={press}
    />
  );
}

function Chapters({
  stretches,
  view,
  widthPx,
}: {
  readonly stretches: readonly Stretch[];
  readonly view: View;
  readonly widthPx: number;
}) {
  const inside = (ms: number) => Math.min(Math.max(0, pixelOf(view, widthPx, ms)), widthPx);
  const placed = stretches
    .map((stretch) => ({ ...stretch, from: inside(stretch.startMs), to: inside(stretch.endMs) - 3 }))
    .filter(({ from, to }) => to > from);
  return (
    <ol className={styles.chapters} aria-label={t('audio.chapters')}>
      {placed.map(({ title, startMs, from, to }) => (
        <li key={startMs} className={styles.chapter} style={{ left: from, width: to - from }}>
          {to - from >= 28 && (
            <button type="button" title={title} onClick={() => player.seek(startMs)}>
              {title}
            </button>
          )}
        </li>
      ))}
    </ol>
  );
}

/** About the width of a time of the axis. */
const tickPx = 40;

const Axis = ({ view, widthPx }: { readonly view: View; readonly widthPx: number }) => (
  <div className={styles.axis} aria-hidden>
    {ticksOf(view, widthPx).map((ms) => (
      <span
        key={ms}
        style={{ left: Math.min(Math.max(tickPx / 2, pixelOf(view, widthPx, ms)), widthPx - tickPx / 2) - tickPx / 2 }}
      >
        {lengthText(ms)}
      </span>
    ))}
  </div>
);

/** A stretch of the file that is not the recording. */
export interface Block {
  readonly kind: 'break' | 'intro' | 'outro';
  readonly startMs: number;
  readonly endMs: number;
}

const Blocks = ({
  blocks,
  view,
  widthPx,
}: {
  readonly blocks: readonly Block[];
  readonly view: View;
  readonly widthPx: number;
}) =>
  blocks.map(({ kind, startMs, endMs }) => {
    const left = pixelOf(view, widthPx, startMs);
    const width = Math.max(2, pixelOf(view, widthPx, endMs) - left);
    return (
      <i
        key={startMs}
        aria-hidden
        className={kind === 'break' ? styles.advertised : styles.joined}
        style={{ left, width }}
      />
    );
  });

/**
 * A recording as it sounds, in time: its peaks with the place where it plays, breaks as flags, silences, chapters.
 * @param blocks what of the file is not the recording
 * @param spoken a time in words, with what is there
 */
export function Waveform({
  peaks,
  durationMs,
  view,
  silences,
  chapters,
  blocks = [],
  flags,
  selected,
  spoken,
  deeds,
}: {
  readonly peaks: Peaks | undefined;
  readonly durationMs: number;
  readonly view: View;
  readonly silences: Silences;
  readonly chapters: readonly Stretch[];
  readonly blocks?: readonly Block[];
  readonly flags: readonly Flag[];
  readonly selected: string | undefined;
  readonly spoken: (ms: number) => string;
  readonly deeds: FlagDeeds;
}) {
  const [frame, widthPx] = useWidth();
  const shared = { view, widthPx };
  const goTo = (event: PointerEvent<HTMLElement>) => {
    if (event.button !== 0) return;
    const { left } = event.currentTarget.getBoundingClientRect();
    player.seek(timeAt(view, widthPx, event.clientX - left));
  };
  return (
    <div ref={frame} className={styles.frame}>
      {widthPx > 0 && (
        <>
          <Flags {...shared} {...{ flags, selected, durationMs, silences, spoken, deeds }} />
          <div className={styles.wave} onPointerDown={goTo}>
            <Wave {...shared} peaks={peaks} />
            <Blocks {...shared} blocks={blocks} />
            <Playhead {...shared} durationMs={durationMs} spoken={spoken} />
          </div>
          <SilenceDots {...shared} silences={silences} />
          {chapters.length > 0 && <Chapters {...shared} stretches={chapters} />}
          <Axis {...shared} />
        </>
      )}
    </div>
  );
}
