import { randomBytes } from 'node:crypto';
import { transaction, type Pool } from '@longwave/postgres';
import { getErasure, insertErasure, saveErased, type Erased, type ErasureName } from './listener-erasure-table.ts';
import { listAddresses, lockHeldKeys, lockListeners, replaceKeys, type Replacement } from './listener-rows-table.ts';

/** A random key for each: nobody can tell what it was made for. */
const replacementOf = (keys: readonly string[]): Replacement => ({
  old: keys,
  new: keys.map(() => randomBytes(32).toString('hex')),
});

const without = (keys: readonly string[], held: readonly string[]) => keys.filter((key) => !held.includes(key));

/**
 * The keys of an erasure with all linked ones, as they were first collected; empty once they are erased. Throws `not_found` when another
 * workspace has the erasure.
 */
export async function collectListeners(
  pool: Pool,
  name: ErasureName,
  listenerKeys: readonly string[],
): Promise<readonly string[]> {
  await insertErasure(pool, name, listenerKeys);
  const erasure = await getErasure(pool, name);
  return erasure.state === 'collected' ? erasure.listenerKeys : [];
}

/**
 * Erases the collected listeners of a workspace in one transaction (docs/privacy.md): random keys take the place of theirs, and of the keys
 * of their addresses. No number changes, recounted or stored. Repeated, it answers as before. Throws `not_found` for an unknown erasure.
 */
export function eraseListeners(pool: Pool, name: ErasureName): Promise<Erased> {
  return transaction(pool, async (tx) => {
    const erasure = await getErasure(tx, name, 'for update');
    if (erasure.state === 'erased') return erasure.erased;
    const { listenerKeys } = erasure;
    const { workspaceId } = name;
    await lockListeners(tx, workspaceId, listenerKeys);
    const addressKeys = await listAddresses(tx, workspaceId, listenerKeys);
    const held = await lockHeldKeys(tx, workspaceId, listenerKeys, addressKeys);
    const listeners = replacementOf(without(listenerKeys, held.listeners));
    const addresses = replacementOf(without(addressKeys, held.addresses));
    const first = await replaceKeys(tx, workspaceId, listeners, addresses);
    // A statement that waits for a row sees that row as another transaction left it, and nothing else that this transaction has inserted.
    const rest = await replaceKeys(tx, workspaceId, listeners, addresses);
    const rows = Object.fromEntries(Object.entries(first).map(([table, count]) => [table, count + (rest[table] ?? 0)]));
    const erased = { rows, keptListeners: held.listeners.length };
    await saveErased(tx, name, listenerKeys, erased);
    return erased;
  });
}
