import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { buildIndex, decide, noAdReasons, verdictCodes, type BreakPosition } from '../src/index.ts';
import { contextOf, planOf, type CaseLine } from './_support.ts';

interface GoldenCase {
  readonly guarantee: string;
  readonly line_items: readonly CaseLine[];
  readonly country?: string;
  /** Loudness of the content; null for unknown. Otherwise -16. */
  readonly content_lufs?: number | null;
  readonly breaks: readonly {
    readonly key: string;
    readonly position: BreakPosition;
    readonly max_slots: number;
    readonly max_duration_ms: number;
  }[];
  /** Line items whose goal is used up. */
  readonly refused?: readonly string[];
  readonly picks: readonly string[];
  /** Loudness of the stream of each pick. */
  readonly picked_lufs?: readonly (number | null)[];
  readonly no_ad_reason: string | null;
  readonly verdicts: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const folder = new URL('../cases/', import.meta.url);

describe.each(readdirSync(folder))('%s', (file) => {
  const cases = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as readonly GoldenCase[];

  test.each(cases.map((one) => [one.guarantee, one] as const))('%s', (_, golden) => {
    const index = buildIndex(planOf(golden.line_items));
    const breaks = golden.breaks.map(({ key, position, max_slots, max_duration_ms }) => ({
      key,
      position,
      maxSlots: max_slots,
      maxDurationMs: max_duration_ms,
      positionMs: 0,
      slotRules: [],
    }));
    const context = contextOf({
      breaks,
      ...(golden.country !== undefined && { country: golden.country }),
      ...(golden.content_lufs !== undefined && { loudnessLufs: golden.content_lufs ?? undefined }),
    });
    const decision = decide(
      index,
      context,
      (ordinal) => !(golden.refused ?? []).includes(index.lines[ordinal]!.lineItemId),
    );

    expect(decision.picks.map((pick) => `${pick.breakKey}/${pick.slot} ${pick.lineItemId} ${pick.creativeId}`)).toEqual(
      golden.picks,
    );
    if (golden.picked_lufs)
      expect(decision.picks.map((pick) => pick.segmentDigest)).toEqual(golden.picked_lufs.map(String));
    expect(decision.noAdReason ?? null).toBe(golden.no_ad_reason);
    if (golden.no_ad_reason !== null) expect(noAdReasons).toContain(golden.no_ad_reason);
    for (const [breakKey, verdicts] of Object.entries(golden.verdicts)) {
      const found = decision.candidates.filter((candidate) => candidate.breakKey === breakKey);
      expect(Object.fromEntries(found.map((one) => [one.lineItemId, one.verdict]))).toMatchObject(verdicts);
    }
    for (const candidate of decision.candidates) expect(verdictCodes).toContain(candidate.verdict);
  });
});
