import { UploadCloud } from 'lucide-react';
import { useState, type DragEvent, type ReactNode } from 'react';
import { t } from '../../messages/messages.ts';
import { classes } from '../../look/classes.ts';
import { buttonClass } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import styles from './drop-zone.module.css';
import { droppedFiles, takeFiles, type TakenFile, type TakenFiles } from './take-files.ts';

const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes('Files');

/** Takes files for a podcast and keeps what was refused of them. */
export function useTaking(podcastId: string, onTaken: (episodes: readonly string[]) => void) {
  const [refused, setRefused] = useState<TakenFiles['refused']>([]);
  const [error, setError] = useState<unknown>();
  const take = async (files: readonly TakenFile[]) => {
    setError(undefined);
    try {
      const taken = await takeFiles(files, podcastId);
      setRefused(taken.refused);
      if (taken.episodes.length > 0) onTaken(taken.episodes);
    } catch (cause) {
      setError(cause);
    }
  };
  return { take, refused, error };
}

/** What was refused, each with what to do. */
export const Refused = ({ refused, error }: { readonly refused: TakenFiles['refused']; readonly error: unknown }) => (
  <div role="alert">
    {error !== undefined && <ProblemBanner error={error} />}
    {refused.map(({ name, refusal }) => (
      <p key={name} className={styles.refused}>
        <b>{name}</b> {t(`upload.refused_${refusal}`)}
      </p>
    ))}
  </div>
);

/** A place on which files can be dropped anywhere, around what stands on it. */
export function DropArea({
  onFiles,
  children,
}: {
  readonly onFiles: (files: readonly TakenFile[]) => void;
  readonly children: ReactNode;
}) {
  const [depth, setDepth] = useState(0);
  const over = (event: DragEvent, change: number) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    setDepth((before) => Math.max(0, before + change));
  };
  const drop = (event: DragEvent) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    setDepth(0);
    void droppedFiles(event.dataTransfer).then(onFiles);
  };
  return (
    <div
      className={classes(styles.area, depth > 0 && styles.over)}
      onDragEnter={(event) => over(event, 1)}
      onDragLeave={(event) => over(event, -1)}
      onDragOver={(event) => over(event, 0)}
      onDrop={drop}
    >
      {children}
    </div>
  );
}

/** Chooses files by hand, or drops them here. */
export const DropZone = ({ onFiles }: { readonly onFiles: (files: readonly TakenFile[]) => void }) => (
  <label className={styles.zone}>
    <Icon of={UploadCloud} size={28} />
    <b>{t('upload.drop')}</b>
    <span>{t('upload.drop_hint')}</span>
    <span className={buttonClass()}>{t('upload.choose')}</span>
    <input
      className="hidden"
      type="file"
      multiple
      accept="audio/*,video/*"
      onChange={({ currentTarget }) => {
        onFiles([...(currentTarget.files ?? [])].map((file) => ({ file })));
        currentTarget.value = '';
      }}
    />
  </label>
);
