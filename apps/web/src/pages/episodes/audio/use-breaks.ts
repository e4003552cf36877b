import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Answer, Versioned } from '../../../api/queries.ts';
import { useSend } from '../../../api/send.ts';
import { useForm, type Form } from '../../../parts/form/use-form.ts';
import { revealFlag } from '../../../parts/waveform/flags.tsx';
import { markersQuery } from './audio-queries.ts';
import { breaksFault, breaksOf, markersOf, moved, textsOf, textsOfMarkers, withBreak } from './breaks.ts';
import type { Break, NamedBreak } from './breaks.ts';

/** The one field of the form: a text for each break. */
type BreaksValues = Readonly<Record<'markers', readonly string[]>>;

/** Breaks as they are edited. */
export interface Breaks {
  readonly form: Form<BreaksValues>;
  readonly list: readonly NamedBreak[];
  readonly selected: NamedBreak | undefined;
  readonly select: (key: string) => void;
  readonly add: (kind: Break['kind'], atMs: number) => void;
  readonly move: (key: string, toMs: number) => void;
  readonly setSlots: (key: string, slots: number) => void;
  readonly remove: (key: string) => void;
}

/** Breaks of an episode as they were read, to be changed and saved at once. */
export function useBreaks(
  episodeId: string,
  { data, version }: Versioned<Answer<'/episodes/{id}/markers'>>,
  durationMs: number,
): Breaks {
  const queries = useQueryClient();
  const { queryKey } = markersQuery(episodeId);
  const { mutateAsync } = useSend('put', '/episodes/{id}/markers');
  const valuesOf = ({ markers }: Answer<'/episodes/{id}/markers'>) => ({ markers: textsOfMarkers(markers) });
  const form = useForm<BreaksValues>({
    draftId: `${episodeId}:breaks`,
    version: { etag: version, values: valuesOf(data) },
    check: ({ markers }) => {
      const fault = breaksFault(breaksOf(markers));
      return fault === undefined ? {} : { markers: fault };
    },
    save: async ({ markers }, _changed, seen) => {
      const saved = await mutateAsync({
        path: { id: episodeId },
        body: { markers: markersOf(markers) },
        version: seen,
      });
      const now = queries.getQueryData(queryKey);
      return { etag: now?.version, values: valuesOf(now?.data ?? saved) };
    },
    reload: () => void queries.invalidateQueries({ queryKey }),
  });
  const [key, select] = useState<string>();
  const list = breaksOf(form.state.values.markers);
  const set = (breaks: readonly Break[]) => form.set('markers', textsOf(breaks));
  return {
    form,
    list,
    selected: list.find((each) => each.key === key) ?? list[0],
    select,
    add: (kind, atMs) => {
      const added = withBreak(list, kind, atMs, durationMs);
      set(added.breaks);
      select(added.key);
      revealFlag(added.key);
    },
    move: (of, toMs) => set(moved(list, of, toMs, durationMs)),
    setSlots: (of, slots) => set(list.map((each) => (each.key === of ? { ...each, slots } : each))),
    remove: (of) => {
      const at = list.findIndex((each) => each.key === of);
      const next = list[at + 1] ?? list[at - 1];
      set(list.filter((each) => each.key !== of));
      if (next) select(next.key);
      revealFlag(next?.key);
    },
  };
}
