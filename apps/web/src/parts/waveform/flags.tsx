import { useRef, type KeyboardEvent, type PointerEvent } from 'react';
import { classes } from '../../look/classes.ts';
import { flagDeed } from './flag-keys.ts';
import { fittingLabels, pixelOf, timeAt, type View } from './scale.ts';
import type { Silences } from './snap.ts';
import styles from './waveform.module.css';

/** A break on the waveform. */
export interface Flag {
  readonly key: string;
  readonly name: string;
  readonly atMs: number;
  /** Whether it stands where it has to, before or behind the sound. */
  readonly isFixed: boolean;
}

/** What can be done with flags. */
export interface FlagDeeds {
  readonly onSelect: (key: string) => void;
  readonly onMove: (key: string, toMs: number) => void;
  readonly onRemove: (key: string) => void;
  readonly onHear: (key: string) => void;
}

/** The id of a flag's button, and of what adds flags. */
const flagId = (key: string): string => `break-${key}`;
export const addFlagId = 'add-break';

/** Gives a flag the focus once it is shown; what adds flags, where there is none or it is out of sight. */
export const revealFlag = (key: string | undefined): number =>
  requestAnimationFrame(() =>
    (document.getElementById(flagId(key ?? '')) ?? document.getElementById(addFlagId))?.focus(),
  );

/** About the width of a name in the flags' type, with the space around it. */
const widthOf = (name: string) => Math.round(name.length * 6.6 + 18);
/** The least that a finger hits. */
const bareWidthPx = 24;

function useDrag(flag: Flag, view: View, widthPx: number, { onSelect, onMove }: FlagDeeds) {
  const grip = useRef<{ readonly px: number; readonly atMs: number } | undefined>(undefined);
  return {
    onPointerDown: (event: PointerEvent<HTMLElement>) => {
      onSelect(flag.key);
      if (flag.isFixed || event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      grip.current = { px: event.clientX, atMs: flag.atMs };
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      if (!grip.current || event.clientX === grip.current.px) return;
      const { px, atMs } = grip.current;
      onMove(flag.key, timeAt(view, widthPx, pixelOf(view, widthPx, atMs) + event.clientX - px));
    },
    onPointerUp: () => void (grip.current = undefined),
    onPointerCancel: () => void (grip.current = undefined),
  };
}

function FlagButton({
  flag,
  place,
  view,
  widthPx,
  durationMs,
  silences,
  isSelected,
  spoken,
  deeds,
}: {
  readonly flag: Flag;
  /** The middle of its label, and whether its name is shown. */
  readonly place: { readonly px: number; readonly isNamed: boolean };
  readonly view: View;
  readonly widthPx: number;
  readonly durationMs: number;
  readonly silences: Silences;
  readonly isSelected: boolean;
  readonly spoken: (ms: number) => string;
  readonly deeds: FlagDeeds;
}) {
  const { key, name, atMs, isFixed } = flag;
  const drag = useDrag(flag, view, widthPx, deeds);
  const press = (event: KeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey) return;
    const deed = flagDeed(event, atMs, silences);
    if (deed === undefined || (isFixed && typeof deed === 'object')) return;
    event.preventDefault();
    event.stopPropagation();
    if (deed === 'remove') deeds.onRemove(key);
    else if (deed === 'hear') deeds.onHear(key);
    else deeds.onMove(key, deed.toMs);
  };
  const slider = {
    ...{ role: 'slider', 'aria-valuemin': 0, 'aria-valuemax': durationMs, 'aria-valuenow': atMs },
    'aria-valuetext': spoken(atMs),
  };
  return (
    <button
      type="button"
      id={flagId(key)}
      {...(isFixed ? { 'aria-pressed': isSelected } : slider)}
      aria-label={name}
      title={name}
      className={classes(styles.flag, isSelected && styles.selected, !place.isNamed && styles.bare)}
      style={{ left: place.px, width: place.isNamed ? widthOf(name) : bareWidthPx }}
      onFocus={() => deeds.onSelect(key)}
      onKeyDown={press}
      {...drag}
    >
      {place.isNamed && name}
    </button>
  );
}

/** Breaks as flags above the waveform, each a slider for the keyboard and for the hand. */
export function Flags({
  flags,
  selected,
  ...shared
}: {
  readonly flags: readonly Flag[];
  readonly selected: string | undefined;
  readonly view: View;
  readonly widthPx: number;
  readonly durationMs: number;
  readonly silences: Silences;
  readonly spoken: (ms: number) => string;
  readonly deeds: FlagDeeds;
}) {
  const { view, widthPx } = shared;
  const shown = flags
    .map((flag) => ({ flag, px: pixelOf(view, widthPx, flag.atMs) }))
    .filter(({ px }) => px >= -1 && px <= widthPx + 1);
  const middle = (px: number, width: number) => Math.min(Math.max(px, width / 2), widthPx - width / 2);
  const labels = shown.map(({ flag: { key, name }, px }) => ({
    key,
    px: middle(px, widthOf(name)),
    widthPx: widthOf(name),
  }));
  const named = fittingLabels(labels, selected);
  return (
    <div className={styles.flags}>
      {shown.map(({ flag, px }, at) => {
        const isNamed = named.has(flag.key);
        const place = { px: isNamed ? labels[at]!.px : middle(px, bareWidthPx), isNamed };
        return <FlagButton key={flag.key} flag={flag} place={place} isSelected={flag.key === selected} {...shared} />;
      })}
      {shown.map(({ flag: { key }, px }) => (
        <i
          key={key}
          aria-hidden
          className={classes(styles.stem, key === selected && styles.selected)}
          style={{ left: Math.min(Math.max(px, 1), widthPx - 1) }}
        />
      ))}
    </div>
  );
}
