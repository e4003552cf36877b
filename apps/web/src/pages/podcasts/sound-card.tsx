import { Upload } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { Answer } from '../../api/queries.ts';
import { useSend } from '../../api/send.ts';
import { sendMedia } from '../../api/upload/send-media.ts';
import { t } from '../../messages/messages.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Length } from '../../parts/time.tsx';
import { ArrangeAll } from './arrange-all.tsx';
import styles from './sound-card.module.css';

type Podcast = Answer<'/podcasts/{id}'>;
type Part = 'intro' | 'outro';
type PartState = NonNullable<Podcast[Part]>['state'];

const tones: Readonly<Record<PartState, Tone>> = { encoding: 'tide', ready: 'good', failed: 'bad' };

/** A file on its way to the store; leaving the page stops it. */
function useSending(onAddress: (address: string) => void) {
  const [sent, setSent] = useState<number>();
  const [error, setError] = useState<unknown>(null);
  const stop = useRef(new AbortController());
  useEffect(() => {
    stop.current = new AbortController();
    return () => stop.current.abort();
  }, []);
  const send = async (file: File) => {
    const { signal } = stop.current;
    setError(null);
    setSent(0);
    try {
      const address = await sendMedia(file, 'template', { signal, onProgress: (bytes) => setSent(bytes / file.size) });
      if (!signal.aborted) onAddress(address);
    } catch (fault) {
      if (!signal.aborted) setError(fault);
    }
    if (!signal.aborted) setSent(undefined);
  };
  return { sent, error, send };
}

/** The intro or the outro: what it is, another file for it, and none. */
function PartRow({ podcast, part }: { readonly podcast: Podcast; readonly part: Part }) {
  const input = useRef<HTMLInputElement>(null);
  const path = { id: podcast.id };
  const set = useSend('put', `/podcasts/{id}/${part}`);
  const clear = useSend('delete', `/podcasts/{id}/${part}`);
  const { sent, error, send } = useSending((address) => set.mutate({ path, body: { file_url: address } }));
  const now = podcast[part];
  const isBusy = sent !== undefined || set.isPending || clear.isPending;
  const fault = error ?? set.error ?? clear.error;
  return (
    <div className={styles.part} role="group" aria-label={t(`sound.${part}`)}>
      <div className={styles.words}>
        <b>{t(`sound.${part}`)}</b>
        {now ? <Badge tone={tones[now.state]} name={`sound.state_${now.state}`} /> : <span>{t('sound.none')}</span>}
        {now?.duration_ms !== undefined && <Length ms={now.duration_ms} />}
        <span role="status">{sent !== undefined && t('sound.sending', { percent: Math.round(sent * 100) })}</span>
        {now?.problem && <p lang="en">{now.problem.detail}</p>}
      </div>
      <div className={styles.buttons}>
        <input
          ref={input}
          className="hidden"
          type="file"
          accept="audio/*"
          aria-label={t(`sound.file_${part}`)}
          onChange={(event) => {
            const file = event.target.files?.[0];
            event.target.value = '';
            if (file) void send(file);
          }}
        />
        <Button size="small" icon={Upload} busy={isBusy} onClick={() => input.current?.click()}>
          {t(now ? 'sound.replace' : 'sound.choose')}
        </Button>
        {now && (
          <Button size="small" kind="quiet" busy={isBusy} onClick={() => clear.mutate({ path })}>
            {t('sound.remove')}
          </Button>
        )}
      </div>
      {fault !== null && <ProblemBanner error={fault} />}
    </div>
  );
}

/** What stands before and after every episode, and the way to give it to the episodes that are here. */
export function SoundCard({ podcast }: { readonly podcast: Podcast }) {
  return (
    <Card title={t('sound.title')}>
      <div className={styles.stack}>
        <p className={styles.help}>{t('sound.help')}</p>
        <PartRow podcast={podcast} part="intro" />
        <PartRow podcast={podcast} part="outro" />
        <ArrangeAll podcastId={podcast.id} />
      </div>
    </Card>
  );
}

/** Whether a part is being prepared, so that the podcast is worth reading again. */
export const isPreparing = ({ intro, outro }: Podcast): boolean =>
  [intro, outro].some((part) => part?.state === 'encoding');
