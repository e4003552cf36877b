import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { t } from '../../messages/messages.ts';
import { Card } from '../../parts/card.tsx';
import { DropArea, Refused, useTaking } from './drop-zone.tsx';
import { UploadRow, useUploads } from './upload-row.tsx';

/** The pages of a podcast: files can be dropped anywhere on them, and its uploads stand on top. */
export function PodcastUploads({ podcastId, children }: { readonly podcastId: string; readonly children: ReactNode }) {
  const navigate = useNavigate();
  const own = useUploads().filter(({ group }) => group === podcastId);
  const { take, refused, error } = useTaking(podcastId, ([first, ...others]) => {
    if (others.length > 0) return;
    void navigate({ to: '/podcasts/$podcastId/new', params: { podcastId }, search: { episode: first! } });
  });
  return (
    <DropArea onFiles={(files) => void take(files)}>
      <Refused refused={refused} error={error} />
      {own.length > 0 && (
        <Card title={t('upload.list')}>
          {own.map((upload) => (
            <UploadRow key={upload.id} upload={upload} />
          ))}
        </Card>
      )}
      {children}
    </DropArea>
  );
}
