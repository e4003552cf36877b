import { findResource } from '@longwave/command-pipeline';
import type { Pool, Transaction } from '@longwave/postgres';

/** The zone of a workspace, in which its days begin; UTC where it has none. */
export async function timeZoneOf(db: Transaction | Pool, workspaceId: string): Promise<string> {
  const workspace = await findResource(db, workspaceId, 'workspaces', workspaceId);
  return workspace?.attributes.time_zone ?? 'UTC';
}
