import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { scene, startAnalytics } from './_analytics-world.ts';

type World = Awaited<ReturnType<typeof startAnalytics>>;

/** Requests to a world, and the list that a good answer has. */
export function askAnalytics(world: () => World) {
  const get = (at: string, who?: string) => world().get(at, who);
  const objects = async (at: string, who?: string) => {
    const { status, body } = await get(at, who);
    expect({ status, body }).toMatchObject({ status: 200 });
    return body['objects'] as Record<string, unknown>[];
  };
  return { world, get, objects };
}

/** Gives the tests of a file one world, whose scene is as at first at the beginning of each. */
export function useAnalytics() {
  let analytics: World | undefined;
  beforeAll(async () => {
    analytics = await startAnalytics();
  });
  afterAll(() => analytics?.[Symbol.asyncDispose](), 30_000);
  beforeEach(() => void Object.assign(scene, { executed: [], refusal: undefined, exports: [] }));
  return askAnalytics(() => analytics!);
}

/** The one key of every dimension but country, in downloads of the catalogue. */
export const onlyKeys = [
  ['region', 'unknown'],
  ['app', 'Overcast'],
  ['device', 'Apple iPhone'],
  ['platform', 'mobile'],
  ['operating_system', 'iOS'],
] as const;
