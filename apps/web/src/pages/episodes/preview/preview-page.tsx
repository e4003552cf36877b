import { useQuery } from '@tanstack/react-query';
import { RefreshCw } from 'lucide-react';
import { useMemo, useState, type ReactNode } from 'react';
import { t } from '../../../messages/messages.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { ProblemBanner } from '../../../parts/problem.tsx';
import { Skeleton } from '../../../parts/skeleton.tsx';
import type { Stretch } from '../../../parts/waveform/waveform.tsx';
import type { Heard } from '../audio/use-sound.ts';
import { countryOf, type ListeningAs } from './listening-as.ts';
import { ListeningFields } from './listening-fields.tsx';
import { PlayCard } from './play-card.tsx';
import { breaksOf } from './played.ts';
import { PreviewSound } from './preview-sound.tsx';
import { previewQuery } from './preview-query.ts';
import styles from './preview.module.css';

/**
 * An episode as listeners hear it: whom to listen as, the file with its ads to scale, what each slot has and why.
 * @param end what leads back to the recording
 * @param around places the card of the play among the others of the page
 */
export function AsListenersHear({
  episodeId,
  heard,
  chapters,
  end,
  around,
}: {
  readonly episodeId: string;
  readonly heard: Heard;
  readonly chapters: readonly Stretch[];
  readonly end: ReactNode;
  readonly around: (play: ReactNode) => ReactNode;
}) {
  const [as, setAs] = useState<ListeningAs>(() => ({
    ...{ country: countryOf(navigator.languages), app: 'Apple Podcasts', device: 'iphone' },
  }));
  const [turn, setTurn] = useState(0);
  const { data: preview, error, isFetching, refetch } = useQuery(previewQuery(episodeId, as, turn));
  const breaks = useMemo(() => (preview ? breaksOf(preview) : []), [preview]);
  return (
    <>
      <Card
        plain
        title={t('audio.title')}
        end={
          <>
            <Badge name="preview.never_counted" />
            <Button size="small" icon={RefreshCw} busy={isFetching} onClick={() => setTurn(turn + 1)}>
              {t('preview.again')}
            </Button>
            {end}
          </>
        }
      >
        <ListeningFields as={as} onChange={setAs} />
        <div className={styles.sound}>
          {preview ? (
            <PreviewSound {...{ preview, breaks, heard, chapters }} />
          ) : (
            error === null && <Skeleton lines={6} />
          )}
          {error !== null && <ProblemBanner error={error} onRetry={() => void refetch()} />}
        </div>
      </Card>
      {around(preview && <PlayCard {...{ preview, breaks }} />)}
    </>
  );
}
