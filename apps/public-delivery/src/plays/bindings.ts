import { inBatches, type Pool } from '@longwave/postgres';
import type { KnownArrangements } from '../arrangements/known-arrangements.ts';
import {
  findBinding,
  findBindingOfHlsPlay,
  findLatestBindings,
  saveBindings,
  type AdFiles,
  type BindingKeys,
  type Binding,
  type LatestBindings,
} from './binding-table.ts';
import type { NewArrangement } from '../arrangements/arrangement-table.ts';

/** Another binding of this decision has a listener that was erased since (docs/privacy.md), so the decision is nobody's any more. */
export class DecisionOfErasedListener extends Error {}

/** Finds and stores bindings; concurrent calls share a statement. Both reject when the database does not answer. */
export interface Bindings {
  /** The newest bindings of an episode under the keys of a listener, of any age. */
  findLatest(keys: BindingKeys, episodeId: string): Promise<LatestBindings>;
  /** The binding of a play that began by HLS; undefined while its ads are not decided. */
  findOfHlsPlay(playId: string): Promise<Binding | undefined>;
  /**
   * Stores an arrangement, its binding and the files of its ads; answers the stored binding, which is that of a concurrent request if it came first. Rejects
   * with `DecisionOfErasedListener` when the decision is bound to somebody who was erased.
   */
  bind(arrangement: NewArrangement, binding: Binding, files: AdFiles): Promise<Binding>;
}

export function createBindings(pool: Pool, arrangements: KnownArrangements): Bindings {
  const findLatest = inBatches((questions: readonly Parameters<Bindings['findLatest']>[]) =>
    findLatestBindings(pool, questions),
  );
  const save = inBatches(
    async (requests: readonly { arrangement: NewArrangement; binding: Binding; files: AdFiles }[]) => {
      const unknown = requests.map(({ arrangement }) => arrangement).filter(({ id }) => !arrangements.has(id));
      const bound = await saveBindings(
        pool,
        unknown,
        requests.map(({ binding }) => binding),
        {
          tracks: new Map(requests.flatMap(({ files }) => [...files.tracks])),
          pictures: new Map(requests.flatMap(({ files }) => [...files.pictures])),
        },
      );
      for (const arrangement of unknown) arrangements.keep(arrangement);
      return bound;
    },
  );
  return {
    findLatest: (keys, episodeId) => findLatest([keys, episodeId]),
    findOfHlsPlay: (playId) => findBindingOfHlsPlay(pool, playId),
    bind: async (arrangement, binding, files) => {
      if (await save({ arrangement, binding, files })) return binding;
      const winner = await findBinding(pool, binding);
      if (!winner) throw new DecisionOfErasedListener(`decision ${binding.decisionId} is bound to nobody`);
      return winner;
    },
  };
}
