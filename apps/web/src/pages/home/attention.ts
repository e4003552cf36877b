import type { PodcastRow } from '../podcasts/podcast-queries.ts';

/** Something of a podcast that goes on only when a person does something. */
export interface Attention {
  readonly podcastId: string;
  readonly podcastTitle: string;
  readonly kind: 'intro' | 'outro' | 'import';
  /** The server's sentence, in English; undefined where it has none. */
  readonly detail: string | undefined;
}

/** What has failed of podcasts: intros and outros that could not be encoded, imports that ended or left items out. */
export function attentionOf(podcasts: readonly PodcastRow[]): readonly Attention[] {
  return podcasts.flatMap((podcast) => {
    const found = (kind: Attention['kind'], detail: string | undefined): Attention => ({
      podcastId: podcast.id,
      podcastTitle: podcast.title,
      kind,
      detail,
    });
    const { intro, outro, import: moved } = podcast;
    return [
      ...(intro?.state === 'failed' ? [found('intro', intro.problem?.detail)] : []),
      ...(outro?.state === 'failed' ? [found('outro', outro.problem?.detail)] : []),
      ...(moved && (moved.problem || moved.failed > 0) ? [found('import', moved.problem?.detail)] : []),
    ];
  });
}
