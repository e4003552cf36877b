import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { withVersion, type Answer, type Versioned } from '../../../api/queries.ts';
import { withTexts } from '../../../messages/load-texts.ts';
import { t } from '../../../messages/messages.ts';
import { Card } from '../../../parts/card.tsx';
import { ProblemBanner } from '../../../parts/problem.tsx';
import { Segments } from '../../../parts/segments.tsx';
import { Skeleton } from '../../../parts/skeleton.tsx';
import { player } from '../../../parts/player/use-player.ts';
import { joinOf, type Silences } from '../../../parts/waveform/snap.ts';
import type { Stretch } from '../../../parts/waveform/waveform.tsx';
import { stretchesOf } from './chapters.ts';
import { AudioCard } from './audio-card.tsx';
import { chaptersQuery, markersQuery, waveformQuery } from './audio-queries.ts';
import { BreaksCard } from './breaks-card.tsx';
import { useBreaks } from './use-breaks.ts';
import { useMayHear, type Heard } from './use-sound.ts';

type Markers = Answer<'/episodes/{id}/markers'>;

/** Loaded once somebody asks for it, with the words of advertising for why an ad is there. */
const AsListenersHear = lazy(
  withTexts(
    'ads',
    withTexts('preview', async () => ({ default: (await import('../preview/preview-page.tsx')).AsListenersHear })),
  ),
);

const versions = [
  { value: 'made', name: 'audio.as_made' },
  { value: 'heard', name: 'audio.as_heard' },
] as const;
type Version = (typeof versions)[number]['value'];

/** How much is heard before a join, and after it. */
const joinMs = 3000;

function Editor({
  episodeId,
  heard,
  silences,
  read,
  chapters,
  around,
}: {
  readonly episodeId: string;
  readonly heard: Heard;
  readonly silences: Silences;
  readonly read: Versioned<Markers>;
  readonly chapters: readonly Stretch[];
  readonly around: (breaks: ReactNode) => ReactNode;
}) {
  const { durationMs } = heard;
  const breaks = useBreaks(episodeId, read, durationMs);
  const mayHear = useMayHear(heard.productionId);
  const hear = (key: string) => {
    const found = breaks.list.find((each) => each.key === key);
    if (!found || !mayHear) return;
    const { atMs } = joinOf(found.positionMs, found.kind === 'mid' ? silences : [], durationMs);
    player.playSpan(Math.max(0, atMs - joinMs), Math.min(durationMs, atMs + joinMs));
  };
  const [version, setVersion] = useState<Version>('made');
  const choice = mayHear ? (
    <Segments name={t('audio.version')} value={version} choices={versions} onChange={setVersion} />
  ) : undefined;
  if (version === 'heard' && mayHear)
    return (
      <Suspense fallback={<Card title={t('audio.title')}>{<Skeleton lines={6} />}</Card>}>
        <AsListenersHear {...{ episodeId, heard, chapters, around }} end={choice} />
      </Suspense>
    );
  return (
    <>
      <AudioCard {...{ heard, silences, chapters, breaks }} start={choice} onHear={hear} />
      {around(<BreaksCard {...{ breaks, silences, durationMs }} onHear={mayHear ? hear : undefined} />)}
    </>
  );
}

/** The recording of an episode with its breaks; `around` places their card among the others of the page. */
export function AudioAndBreaks({
  episodeId,
  heard,
  around,
}: {
  readonly episodeId: string;
  readonly heard: Heard;
  readonly around: (breaks: ReactNode) => ReactNode;
}) {
  const waveform = useQuery(waveformQuery(heard.productionId));
  const markers = useQuery({ ...markersQuery(episodeId), select: withVersion<Markers> });
  const chapters = useQuery(chaptersQuery(episodeId)).data?.chapters ?? [];
  if (waveform.data && markers.data)
    return (
      <Editor
        key={`${episodeId} ${heard.productionId}`}
        {...{ episodeId, heard, around }}
        silences={waveform.data.silences ?? []}
        read={markers.data}
        chapters={stretchesOf(chapters, heard.durationMs)}
      />
    );
  const error = waveform.error ?? markers.error;
  const again = () => void (waveform.error ? waveform : markers).refetch();
  return (
    <>
      <Card title={t('audio.title')}>
        {error ? <ProblemBanner error={error} onRetry={again} /> : <Skeleton lines={6} />}
      </Card>
      {around(undefined)}
    </>
  );
}
