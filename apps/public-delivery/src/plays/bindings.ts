import { inBatches, type Pool } from '@longwave/postgres';
import type { KnownArrangements } from '../arrangements/known-arrangements.ts';
import {
  findLatestBindings,
  saveBindings,
  type BindingKeys,
  type Binding,
  type LatestBindings,
} from './binding-table.ts';
import type { NewArrangement } from '../arrangements/arrangement-table.ts';

/** Who was given what; many listeners' questions are one statement. Each rejects when the database does not answer. */
export interface Bindings {
  /** What holds of an episode for a listener, by any of the keys, of any age. */
  findLatest(keys: BindingKeys, episodeId: string): Promise<LatestBindings>;
  /** Stores an arrangement and its binding; answers the binding that holds, which is another one if a concurrent request stored it first. */
  bind(arrangement: NewArrangement, binding: Binding): Promise<Binding>;
}

export function createBindings(pool: Pool, arrangements: KnownArrangements): Bindings {
  const findLatest = inBatches((questions: readonly Parameters<Bindings['findLatest']>[]) =>
    findLatestBindings(pool, questions),
  );
  const save = inBatches(async (wanted: readonly { arrangement: NewArrangement; binding: Binding }[]) => {
    const unknown = wanted.map(({ arrangement }) => arrangement).filter(({ id }) => !arrangements.has(id));
    const bound = await saveBindings(
      pool,
      unknown,
      wanted.map(({ binding }) => binding),
    );
    for (const arrangement of unknown) arrangements.keep(arrangement);
    return bound;
  });
  return {
    findLatest: (keys, episodeId) => findLatest([keys, episodeId]),
    bind: async (arrangement, binding) => {
      if (await save({ arrangement, binding })) return binding;
      const { own: winner } = await findLatest([{ listener: [binding.listenerKey], shared: [] }, binding.episodeId]);
      if (!winner) throw new Error('a conflicting binding is not visible');
      return winner;
    },
  };
}
