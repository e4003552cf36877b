import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { askManagement, resourceQuery } from '../../api/management.ts';
import { nameOf } from '../../commands/name-of.ts';
import { t } from '../../messages/messages.ts';
import { Card } from '../../parts/card.tsx';
import { levelText } from '../../parts/format.ts';
import { PlayerBar } from '../../parts/player/player-bar.tsx';
import { player } from '../../parts/player/use-player.ts';
import { usePlace } from '../../shell/place.ts';

/** A stream of a creative, as the card reads it. */
interface Stream {
  readonly sha256: string;
  readonly duration_ms: number;
  readonly loudness_lufs: number | null;
}

/** The address of an ad, which expires: nothing is asked for before somebody listens. */
const audioQuery = (workspace: string, id: string, sha256: string) => ({
  queryKey: ['creative_audio', workspace, id, sha256] as const,
  queryFn: () => askManagement<{ readonly url: string }>(`/workspaces/${workspace}/creatives/${id}/audio`),
});

/** Plays a prepared creative alone; nothing where it has no stream. It stops when the page is left. */
export function ListenCard({ workspace, id }: { readonly workspace: string; readonly id: string }) {
  const queries = useQueryClient();
  const { language } = usePlace();
  const { data } = useQuery({ ...resourceQuery(workspace, 'creatives', id), retry: false });
  const [stream] = (data?.attributes['media'] ?? []) as readonly Stream[];
  const title = data ? nameOf(data) : '';
  const durationMs = stream?.duration_ms ?? 0;
  const digest = stream?.sha256;
  useEffect(() => {
    if (digest === undefined) return undefined;
    player.take({
      ...{ key: `${id} ${digest}`, title, artist: undefined, artworkUrl: undefined, durationMs },
      findUrl: async (isNew) => {
        const query = audioQuery(workspace, id, digest);
        return (await queries.fetchQuery({ ...query, staleTime: isNew ? 0 : Infinity })).url;
      },
    });
    return () => player.pause();
  }, [queries, workspace, id, digest, title, durationMs]);
  if (!stream) return null;
  const loudness = stream.loudness_lufs;
  return (
    <Card
      plain
      title={t('ads.listen')}
      {...(loudness !== null && { basis: t('ads.loudness', { level: levelText(loudness, language) }) })}
    >
      <PlayerBar durationMs={durationMs} />
    </Card>
  );
}
