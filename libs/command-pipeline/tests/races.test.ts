import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { startTestStore, type TestStore } from './_store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(async () => store[Symbol.asyncDispose]());

test('of two writers on one version exactly one wins, 1,000 times', async () => {
  /** Two writers revise each version of a resource of its own workspace; answers how often each of them won. */
  async function race(rounds: number): Promise<readonly number[]> {
    const workspaceId = newId('ws');
    const { resource } = await store.create(workspaceId);
    const wins = [0, 0];
    for (let version = 1; version <= rounds; version++) {
      const attempts = await Promise.allSettled(
        wins.map((_, writer) =>
          store.send({
            workspaceId,
            commandType: 'advertiser.revise',
            subject: { type: 'advertisers', id: resource.id, version },
            changes: { legal_name: `Writer ${writer}, version ${version}` },
          }),
        ),
      );
      for (const [writer, attempt] of attempts.entries())
        if (attempt.status === 'fulfilled') {
          wins[writer]!++;
          expect(attempt.value.resource?.version).toBe(version + 1);
        } else {
          expect(attempt.reason).toBeInstanceOf(Problem);
          expect(attempt.reason).toMatchObject({ code: 'version_conflict', status: 409 });
        }
      expect(wins[0]! + wins[1]!).toBe(version);
    }
    return wins;
  }
  const wins = await Promise.all(Array.from({ length: 8 }, () => race(125)));
  expect(wins.flat().reduce((sum, each) => sum + each, 0)).toBe(1_000);
});
