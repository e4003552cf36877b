import { readFileSync } from 'node:fs';
import type { ResourceView } from '@longwave/events';
import { decideAccess } from '@longwave/principal';
import { principalOf } from './_principals.ts';
import type { Scene } from './_scene.ts';

export const readCases = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../cases/${name}`, import.meta.url), 'utf8'));

/** Resources by fixture name; each is complete, as management shows it. */
export const fixtures = readCases('fixtures.json') as Readonly<Record<string, ResourceView>>;

/** The podcast that a fixture belongs to, or is. */
export function podcastOf({ id, resource_type: type, links }: ResourceView): string | undefined {
  if (type === 'podcasts') return id;
  const parent = links['podcast'] ?? links['episode'];
  const found = Object.values(fixtures).find((fixture) => fixture.id === parent);
  return found && podcastOf(found);
}

export const sees = (statement: string | undefined, workspaceId: string, podcastId: string | undefined): boolean =>
  decideAccess(principalOf(statement), { workspaceId, podcastId }).outcome !== 'unknown';

/** The fixtures in the states that the scene gives them. */
export function visibleFixtures(scene: Scene) {
  const current = (name: string): ResourceView => {
    const resource = fixtures[name]!;
    return { ...resource, lifecycle_state: scene.given.states?.[name] ?? resource.lifecycle_state };
  };
  const visible = (statement: string | undefined, type: string) =>
    Object.keys(fixtures)
      .filter((name) => !scene.given.without?.includes(name))
      .map(current)
      .filter(
        (resource) => resource.resource_type === type && sees(statement, resource.workspace_id, podcastOf(resource)),
      );
  return { current, visible };
}
