import { useQuery } from '@tanstack/react-query';
import type { Answer } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Card, Pairs } from '../../parts/card.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Length } from '../../parts/time.tsx';
import { levelText, sizeText } from '../../parts/format.ts';
import { usePlace } from '../../shell/place.ts';
import { productionQuery } from './episode-queries.ts';

type Production = Answer<'/productions/{id}'>;

const tones: Readonly<Record<Production['state'], Tone>> = {
  initial: 'plain',
  encoding: 'tide',
  encoded: 'good',
  error: 'bad',
};

/** The files of an encoding in words: `MP3 128 kbit/s, 46.3 MB`. */
function filesText(files: Production['files'], role: string, language: string): string {
  return files
    .filter((file) => file.role === role)
    .map(({ format, bitrate, size }) => {
      const rate = bitrate === undefined ? '' : ` ${t('recording.bitrate', { rate: Math.round(bitrate / 1000) })}`;
      return `${format.toUpperCase()}${rate}, ${sizeText(size, language)}`;
    })
    .join('; ');
}

function Recording({ production }: { readonly production: Production }) {
  const { language } = usePlace();
  const { state, files, loudness, audio_duration_ms: ms, problem } = production;
  const lufs = (value: number | null | undefined) =>
    value === null || value === undefined ? undefined : t('recording.lufs', { level: levelText(value, language) });
  return (
    <Pairs
      of={[
        [t('state'), <Badge tone={tones[state]} name={`production.${state}`} />],
        [t('recording.problem'), problem && <span lang="en">{problem.detail}</span>],
        [t('recording.length'), ms !== null && <Length ms={ms} />],
        [t('recording.source'), filesText(files, 'source', language)],
        [t('recording.encoded'), filesText(files, 'rendition', language)],
        [t('recording.loudness'), lufs(loudness?.output_lufs)],
        [t('recording.loudness_before'), lufs(loudness?.input_lufs)],
        [
          t('recording.true_peak'),
          typeof loudness?.true_peak_dbtp === 'number' &&
            t('recording.dbtp', { level: levelText(loudness.true_peak_dbtp, language) }),
        ],
      ]}
    />
  );
}

function ById({ id }: { readonly id: string }) {
  const query = useQuery(productionQuery(id));
  return <Loaded query={query}>{(production) => <Recording production={production} />}</Loaded>;
}

/** What was recorded and what was made of it. */
export const RecordingCard = ({ productionId }: { readonly productionId: string | undefined }) => (
  <Card title={t('recording.title')}>
    {productionId === undefined ? <p>{t('recording.none')}</p> : <ById id={productionId} />}
  </Card>
);
