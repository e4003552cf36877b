import { createAdvertising } from './_advertising.ts';
import { createHosting } from './_hosting.ts';
import type { TestManagement } from './_management.ts';

/** Creates a workspace's content and advertising by commands. */
export function createWorld(management: TestManagement, workspaceId?: string) {
  const hosting = createHosting(management, workspaceId);
  return { ...hosting, ...createAdvertising(hosting) };
}

export type World = ReturnType<typeof createWorld>;
