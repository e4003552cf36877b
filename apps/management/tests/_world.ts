import { createAdvertising } from './_advertising.ts';
import { createAuthority } from './_authority.ts';
import { createExchange } from './_exchange.ts';
import { createHosting } from './_hosting.ts';
import type { TestManagement } from './_management.ts';

/** Creates a workspace's content, advertising and authority by commands. */
export function createWorld(management: TestManagement, workspaceId?: string) {
  const hosting = createHosting(management, workspaceId);
  const authority = createAuthority(hosting);
  return { ...hosting, ...createAdvertising(hosting), ...authority, ...createExchange(hosting, authority) };
}

export type World = ReturnType<typeof createWorld>;

/** Gives a workspace something of most types, so that generated requests find what they name. */
export async function fillWorkspace(world: World): Promise<void> {
  await world.provisioned();
  await world.booked();
  await world.publishedBreakPlan();
  await world.readyPlan();
  await world.waiting();
  await world.episode();
}
