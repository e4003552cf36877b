import { expect, test } from '@jest/globals';
import { curveAgesMs } from '@longwave/pacing';
import { createReturnCurves, type AgeClient } from './return-curves.ts';

const hourMs = 3_600_000;
const hours = curveAgesMs.stream.map((ageMs) => ageMs / hourMs);

/** Confirmed servings of a workspace, by ages of streams: this many of the decided within two hours, the last of them by half a day. */
const agesOf = (workspaceId: string, decided: number, early: number, all: number) => ({
  workspaceId,
  bases: [
    {
      countingBasis: 'ad_delivered',
      decided: BigInt(decided),
      reached: curveAgesMs.stream.map((ageMs) => BigInt(ageMs < 12 * hourMs ? early : all)),
    },
  ],
});

function curvesWith(workspaces: readonly ReturnType<typeof agesOf>[]) {
  const world = { workspaces, asked: 0, isAway: false };
  const client: AgeClient = {
    readAges: async ({ surfaceClass, afterWorkspaceId }) => {
      world.asked++;
      if (world.isAway) throw new Error('analytics-sink is away');
      const found = world.workspaces.find((one) => surfaceClass === 'stream' && one.workspaceId > afterWorkspaceId);
      return found ?? { workspaceId: '', bases: [] };
    },
  };
  return { world, curves: createReturnCurves(client) };
}

test('what came later than an age is owed at it and a quarter more, and all of a workspace that was measured too little', async () => {
  const { curves } = curvesWith([agesOf('ws_1', 10_000, 7_800, 8_000), agesOf('ws_2', 999, 800, 800)]);
  expect(curves.curvesOf('ws_1', 'ad_delivered')).toEqual({});
  await curves.refresh(0);
  const { stream, download } = curves.curvesOf('ws_1', 'ad_delivered');
  const owed = (hour: number) => stream![hours.indexOf(hour)]!;
  expect(owed(3)).toBeGreaterThan(1.25 * 0.02);
  expect(owed(3)).toBeLessThan(0.035);
  expect(owed(12)).toBeLessThan(0.001);
  expect(download).toBeUndefined();
  expect(curves.curvesOf('ws_2', 'ad_delivered').stream).toBeUndefined();
  expect(curves.curvesOf('ws_1', 'served_bytes')).toEqual({});
});

test('no workspace owes less than all of the installation together', async () => {
  const { curves } = curvesWith([agesOf('ws_1', 10_000, 8_000, 8_000), agesOf('ws_2', 10_000, 6_000, 8_000)]);
  await curves.refresh(0);
  const owedBy = (workspaceId: string) => curves.curvesOf(workspaceId, 'ad_delivered').stream![hours.indexOf(3)]!;
  expect(owedBy('ws_1')).toBeGreaterThan(1.25 * 0.1);
  expect(owedBy('ws_2')).toBeGreaterThan(1.25 * 0.2);
});

test('curves are measured once a day; while analytics-sink is away the last ones stand, and it is asked again soon', async () => {
  const { world, curves } = curvesWith([agesOf('ws_1', 10_000, 7_800, 8_000)]);
  await curves.refresh(0);
  const [before, { asked }] = [curves.curvesOf('ws_1', 'ad_delivered'), world];
  await curves.refresh(23 * hourMs);
  expect(world.asked).toBe(asked);
  world.isAway = true;
  await expect(curves.refresh(24 * hourMs)).rejects.toThrow('away');
  await curves.refresh(24 * hourMs + 60_000);
  expect(curves.curvesOf('ws_1', 'ad_delivered')).toBe(before);
  world.isAway = false;
  world.workspaces = [];
  await curves.refresh(24 * hourMs + 600_000);
  expect(curves.curvesOf('ws_1', 'ad_delivered')).toEqual({});
});
