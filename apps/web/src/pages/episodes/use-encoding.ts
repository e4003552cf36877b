import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

/** How far an encoding is. */
export interface Encoding {
  /** 0 to 1; undefined before the encoder has begun. */
  readonly progress: number | undefined;
}

/** Follows an encoding by its events while it is shown, and reads the episode and its productions again when its state has changed. */
export function useEncoding(productionId: string | undefined): Encoding {
  const queries = useQueryClient();
  const [progress, setProgress] = useState<number>();
  useEffect(() => {
    if (productionId === undefined) return undefined;
    const events = new EventSource(`/api/v1/productions/${productionId}/events`);
    let shown = '';
    events.addEventListener('progress', ({ data }: MessageEvent<string>) =>
      setProgress((JSON.parse(data) as { readonly progress: number }).progress),
    );
    events.addEventListener('state', ({ data }: MessageEvent<string>) => {
      const { state } = JSON.parse(data) as { readonly state: string };
      if (shown !== '') void queries.invalidateQueries({ queryKey: ['rest'] });
      shown = state;
      if (state === 'encoded' || state === 'error') {
        void queries.invalidateQueries({ queryKey: ['rest'] });
        events.close();
      }
    });
    return () => events.close();
  }, [productionId, queries]);
  return { progress };
}
