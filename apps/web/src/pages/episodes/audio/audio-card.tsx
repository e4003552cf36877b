import { Plus, ZoomIn, ZoomOut } from 'lucide-react';
import { useEffect, useState, type KeyboardEvent } from 'react';
import { t } from '../../../messages/messages.ts';
import { Button, buttonClass } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { Icon } from '../../../parts/icon.tsx';
import { Menu } from '../../../parts/menu.tsx';
import { PlayerBar } from '../../../parts/player/player-bar.tsx';
import { playerDeed } from '../../../parts/player/player-keys.ts';
import { player, usePlayer } from '../../../parts/player/use-player.ts';
import { addFlagId, type FlagDeeds } from '../../../parts/waveform/flags.tsx';
import { positionText } from '../../../parts/waveform/position.ts';
import { revealing, zoomed, type View } from '../../../parts/waveform/scale.ts';
import type { Silences } from '../../../parts/waveform/snap.ts';
import { Waveform, type Stretch } from '../../../parts/waveform/waveform.tsx';
import { breakName } from './break-name.ts';
import { placeFor } from './breaks.ts';
import type { Breaks } from './use-breaks.ts';
import { usePeaks } from './use-sound.ts';
import styles from './audio-card.module.css';

function AddBreak({ breaks, durationMs }: { readonly breaks: Breaks; readonly durationMs: number }) {
  const placeMs = usePlayer(({ positionMs }) => placeFor(breaks.list, positionMs, durationMs));
  const has = (kind: string) => breaks.list.some((each) => each.kind === kind);
  return (
    <Menu
      buttonId={addFlagId}
      name={t('audio.add')}
      className={buttonClass({ size: 'small' })}
      button={
        <>
          <Icon of={Plus} size={14} />
          {t('audio.add')}
        </>
      }
      entries={[
        { name: t('audio.add_mid', { position: positionText(placeMs) }), onChoose: () => breaks.add('mid', placeMs) },
        ...(has('pre') ? [] : [{ name: t('audio.add_pre'), onChoose: () => breaks.add('pre', 0) }]),
        ...(has('post') ? [] : [{ name: t('audio.add_post'), onChoose: () => breaks.add('post', durationMs) }]),
      ]}
    />
  );
}

/** What is shown of the recording: it follows where it plays. */
function useView(durationMs: number) {
  const [view, setView] = useState<View>({ startMs: 0, lengthMs: durationMs });
  useEffect(
    () => player.subscribe(() => setView((former) => revealing(former, durationMs, player.state().positionMs))),
    [durationMs],
  );
  return {
    view,
    reveal: (ms: number) => setView((former) => revealing(former, durationMs, ms)),
    zoom: (factor: number, aroundMs: number) => setView((former) => zoomed(former, durationMs, factor, aroundMs)),
  };
}

const chapterAt = (chapters: readonly Stretch[], ms: number) =>
  chapters.findLast(({ startMs, endMs }) => startMs <= ms && ms < endMs)?.title;

function Place({ chapters }: { readonly chapters: readonly Stretch[] }) {
  const chapter = usePlayer(({ positionMs }) => chapterAt(chapters, positionMs) ?? '');
  return chapter === '' ? null : <span className={`voice ${styles.place}`}>{chapter}</span>;
}

const Legend = () => (
  <span className={styles.legend}>
    <span>
      <i className={styles.break} />
      {t('audio.break')}
    </span>
    <span>
      <i className={styles.silence} />
      {t('audio.silence')}
    </span>
  </span>
);

/** The recording of an episode: to hear it, and to set its breaks on it. */
export function AudioCard({
  productionId,
  durationMs,
  silences,
  chapters,
  breaks,
  onHear,
}: {
  readonly productionId: string;
  readonly durationMs: number;
  readonly silences: Silences;
  readonly chapters: readonly Stretch[];
  readonly breaks: Breaks;
  readonly onHear: (key: string) => void;
}) {
  const peaks = usePeaks(productionId);
  const { view, reveal, zoom } = useView(durationMs);
  const spoken = (ms: number) => {
    const [position, chapter] = [positionText(ms), chapterAt(chapters, ms)];
    return chapter === undefined ? position : t('audio.in_chapter', { position, chapter });
  };
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const target = event.target as HTMLElement;
    const deed = playerDeed(event, target.tagName, target.role === 'slider');
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (deed === 'toggle') player.toggle();
    else if (deed) player.skip(deed.skipMs);
    else if (event.key.toLowerCase() === 'b' && isPlain) breaks.add('mid', player.state().positionMs);
    else return;
    event.preventDefault();
  };
  const deeds: FlagDeeds = {
    onSelect: (key) => breaks.select(key),
    onRemove: breaks.remove,
    onHear,
    onMove: (key, toMs) => {
      breaks.move(key, toMs);
      reveal(toMs);
    },
  };
  const aroundMs = () => breaks.selected?.positionMs ?? player.state().positionMs;
  const zoomButton = (icon: typeof ZoomIn, name: 'audio.zoom_in' | 'audio.zoom_out', factor: number) => (
    <Button
      kind="quiet"
      size="small"
      square
      icon={icon}
      aria-label={t(name)}
      busy={factor < 1 && view.lengthMs >= durationMs}
      onClick={() => zoom(factor, aroundMs())}
    />
  );
  return (
    <div onKeyDown={press}>
      <Card
        plain
        title={t('audio.title')}
        basis={t('audio.basis')}
        end={
          <>
            {zoomButton(ZoomOut, 'audio.zoom_out', 0.5)}
            {zoomButton(ZoomIn, 'audio.zoom_in', 2)}
            <AddBreak breaks={breaks} durationMs={durationMs} />
          </>
        }
      >
        <Waveform
          {...{ peaks, durationMs, view, silences, chapters, spoken, deeds }}
          flags={breaks.list.map((each) => ({
            key: each.key,
            name: breakName(each),
            atMs: each.positionMs,
            isFixed: each.kind !== 'mid',
          }))}
          selected={breaks.selected?.key}
        />
        <PlayerBar durationMs={durationMs} place={<Place chapters={chapters} />} legend={<Legend />} />
      </Card>
    </div>
  );
}
