import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { buildIndex, decide, decidePrepared, freshInputs, preparePlay, prepareUntraced } from '../src/index.ts';
import { hour, inputs, lines, plays, separations } from './_arbitraries.ts';
import { contextOf, planOf, preroll, type CaseLine } from './_support.ts';

test('equal inputs give equal decisions, whatever was decided between them and in whatever order the plan lists its line items', () => {
  fc.assert(
    fc.property(lines, separations, plays, plays, inputs, (given, separation, play, other, inputsOf) => {
      const index = buildIndex(planOf(given, { separation }));
      const first = decide(index, play, inputsOf(index));
      decide(index, other, inputsOf(index));
      expect(decide(index, play, inputsOf(index))).toEqual(first);
      const reversed = buildIndex(planOf(given.toReversed(), { separation }));
      expect(decide(reversed, play, inputsOf(reversed))).toEqual(first);
    }),
  );
});

test('without a trace, the same line items fit and the same ads are chosen', () => {
  fc.assert(
    fc.property(lines, separations, plays, inputs, (given, separation, play, inputsOf) => {
      const index = buildIndex(planOf(given, { separation }));
      const [traced, untraced] = [preparePlay(index, play), prepareUntraced(index, play)];
      const fitting = ({ eligible }: typeof traced) => eligible.map(({ bits, count }) => [bits, count]);
      expect(fitting(untraced)).toEqual(fitting(traced));
      const counters = inputsOf(index);
      const {
        stages,
        candidates,
        noAdReason: _reason,
        ...decided
      } = decidePrepared(untraced, counters, { isTraced: false });
      expect(decided).toEqual(
        (({ picks, opportunities, verdicts, policies }) => ({ picks, opportunities, verdicts, policies }))(
          decidePrepared(traced, counters),
        ),
      );
      expect([stages, candidates]).toEqual([[], []]);
    }),
  );
});

test('every pick is inside its window and targeting, in every rendition that the play needs, and no break exceeds its slots, duration or ad load', () => {
  fc.assert(
    fc.property(lines, plays, inputs, (given, play, inputsOf) => {
      const plan = planOf(given);
      const index = buildIndex(plan);
      const { picks } = decide(index, play, inputsOf(index));
      const load = picks.reduce((sum, pick) => sum + pick.durationMs, 0);
      expect(load).toBeLessThanOrEqual(play.adLoadLimitMs ?? Infinity);
      for (const adBreak of play.breaks) {
        const here = picks.filter((pick) => pick.breakKey === adBreak.key);
        const slots = here.map((pick) => pick.slot);
        expect(slots).toEqual(adBreak.slotRules.length > 0 ? [...new Set(slots)].sort() : slots.map((_, at) => at));
        for (const slot of slots) expect(slot).toBeLessThan(adBreak.maxSlots);
        expect(here.reduce((sum, pick) => sum + pick.durationMs, 0)).toBeLessThanOrEqual(adBreak.maxDurationMs);
        expect(new Set(here.map((pick) => pick.lineItemId)).size).toBe(here.length);
        for (const pick of here) {
          const one = plan.line_items.find((line) => line.line_item_id === pick.lineItemId)!;
          const creative = one.creatives.find((other) => other.creative_id === pick.creativeId)!;
          expect(Date.parse(one.window.start)).toBeLessThanOrEqual(play.atMs);
          expect(Date.parse(one.window.end)).toBeGreaterThan(play.atMs);
          expect(one.break_positions).toContain(adBreak.position);
          for (const [lists, value] of [
            [one.targeting.podcasts, play.podcastId],
            [one.targeting.episodes, play.episodeId],
            [one.targeting.countries, play.country],
          ] as const) {
            if (lists.include.length) expect(lists.include).toContain(value);
            expect(lists.exclude).not.toContain(value);
          }
          if (one.targeting.explicit !== 'any') expect(one.targeting.explicit === 'only').toBe(play.explicit);
          const streams = creative.media.filter((media) => media.stream_format === play.streamFormat);
          const stream = streams.find((media) => media.segment_digest === pick.segmentDigest);
          expect(stream).toBeDefined();
          if (play.streamFormats) expect(streams.every(({ hls }) => hls)).toBe(true);
          expect(pick.hls).toEqual(play.streamFormats && stream!.hls);
          const rule = adBreak.slotRules.find((other) => other.slot === pick.slot);
          if (rule?.maxDurationMs) expect(pick.durationMs).toBeLessThanOrEqual(rule.maxDurationMs);
          if (rule?.lineItemTypes.length) expect(rule.lineItemTypes).toContain(one.type);
          if (creative.place === 'first') expect(pick.slot).toBe(Math.min(...slots));
          if (creative.place === 'last') expect(pick.slot).toBe(Math.max(...slots));
        }
      }
    }),
  );
});

test('no two ads of a play are closer than separation allows', () => {
  fc.assert(
    fc.property(lines, separations, plays, (given, separation, play) => {
      const plan = planOf(given, { separation });
      const { picks } = decide(buildIndex(plan), play);
      const standing = picks.map((pick) => ({
        line: plan.line_items.find((line) => line.line_item_id === pick.lineItemId)!,
        adBreak: play.breaks.find((one) => one.key === pick.breakKey)!,
      }));
      const near = { none: () => false, episode: () => true } as const;
      const shares = (a: readonly string[], b: readonly string[]) => a.some((one) => b.includes(one));
      for (const [at, a] of standing.entries())
        for (const b of standing.slice(0, at)) {
          const inOne = a.adBreak.key === b.adBreak.key;
          const minutes = Math.abs(a.adBreak.positionMs - b.adBreak.positionMs) / 60_000;
          const tooNear = ({ scope, minutes: apart = 0 }: (typeof separation)['group']) =>
            scope === 'break' ? inOne : scope === 'minutes' ? inOne || minutes < apart : near[scope]();
          if (a.line.advertiser_id === b.line.advertiser_id) expect(tooNear(separation.advertiser)).toBe(false);
          else {
            if (shares(a.line.separation_groups, b.line.separation_groups))
              expect(tooNear(separation.group)).toBe(false);
            if (shares(a.line.ad_product_categories, b.line.ad_product_categories))
              expect(tooNear(separation.category)).toBe(false);
          }
        }
    }),
  );
});

test('an exclusive line item with a share takes no second break of a play before its share allows it', () => {
  const line: CaseLine = { line_item_id: 'li_1', type: 'exclusive', goal: { unit: 'share_pct', quantity: 1 } };
  const breaks = ['b0', 'b1'].map((key) => ({ ...preroll, key }));
  expect(decide(buildIndex(planOf([line])), contextOf({ breaks })).picks).toHaveLength(1);
});

test('no goal, cap or share is exceeded by the slots that one decision gives', () => {
  fc.assert(
    fc.property(lines, plays, inputs, (given, play, inputsOf) => {
      const index = buildIndex(planOf(given));
      const { remaining, frequencyRecord, share } = inputsOf(index);
      const { picks } = decide(index, play, inputsOf(index));
      for (const [ordinal, line] of index.lines.entries()) {
        const here = picks.filter((pick) => pick.ordinal === ordinal);
        if (here.length === 0) continue;
        if (line.goalQuantity !== undefined) expect(here.length).toBeLessThanOrEqual(remaining?.(ordinal) ?? 0);
        for (const { max, per, windowMs } of line.caps) {
          expect(frequencyRecord).toBeDefined();
          if (per === 'listener_bucket')
            expect(frequencyRecord!(line.lineItemId, play.atMs - windowMs) + here.length).toBeLessThanOrEqual(max);
        }
        if (line.sharePct !== undefined) {
          const { served, opportunities } = share(ordinal);
          const allowed = (line.sharePct / 100) * (opportunities + play.breaks.length) - served;
          expect(here.length).toBeLessThan(allowed + 1);
        }
      }
    }),
  );
});

test('a line item loses to a lower tier or priority only when it was refused, did not fit or was too close to a competitor', () => {
  fc.assert(
    fc.property(lines, plays, inputs, (given, play, inputsOf) => {
      const index = buildIndex(planOf(given));
      const { picks, candidates } = decide(index, play, inputsOf(index));
      const rankOf = (lineItemId: string) => {
        const { tier, priority } = index.lines.find((one) => one.lineItemId === lineItemId)!;
        return tier * 10 + (tier === 2 ? priority : 0);
      };
      for (const pick of picks)
        for (const other of candidates)
          if (other.breakKey === pick.breakKey && rankOf(other.lineItemId) < rankOf(pick.lineItemId))
            expect(other.verdict).not.toBe('outranked');
    }),
  );
});

test('every stage accounts for every line item, and every candidate has one verdict per break', () => {
  fc.assert(
    fc.property(lines, plays, inputs, (given, play, inputsOf) => {
      const index = buildIndex(planOf(given));
      const { stages, candidates, noAdReason, picks } = decide(index, play, inputsOf(index));
      for (const stage of stages)
        expect(stage.out + Object.values(stage.droppedBy).reduce((sum, count) => sum + count, 0)).toBe(stage.in);
      for (const adBreak of play.breaks) {
        const ofBreak = stages.filter((stage) => stage.breakKey === adBreak.key);
        expect(ofBreak[0]!.in).toBe(given.length);
        for (const [at, stage] of ofBreak.slice(1).entries()) expect(stage.in).toBe(ofBreak[at]!.out);
        expect(ofBreak.at(-1)!.out).toBe(picks.filter((pick) => pick.breakKey === adBreak.key).length);
      }
      const names = candidates.map((one) => `${one.breakKey} ${one.lineItemId}`);
      expect(new Set(names).size).toBe(names.length);
      expect(names.length).toBeLessThanOrEqual(50);
      expect(candidates.filter((one) => one.verdict === 'won').length).toBe(picks.length);
      if (picks.length === 0 && play.breaks.every((one) => one.maxSlots > 0 && one.maxDurationMs > 0))
        expect(noAdReason).toBeDefined();
    }),
  );
});

const served = (count: number, serve: (decisionId: string) => string) => {
  const times = new Map<string, number>();
  for (let play = 0; play < count; play++) {
    const name = serve(`dec_${play}`);
    times.set(name, (times.get(name) ?? 0) + 1);
  }
  return times;
};

test('equal line items share the plays evenly, also when there are more than are ordered at once', () => {
  for (const [count, each] of [
    [10, 500],
    [600, 40],
  ] as const) {
    const index = buildIndex(planOf(Array.from({ length: count }, (_, at) => ({ line_item_id: `li_${at}` }))));
    const times = served(count * each, (decisionId) => {
      return decide(index, contextOf({ decisionId, breaks: [preroll] })).picks[0]!.lineItemId;
    });
    expect(times.size).toBe(count);
    expect(Math.min(...times.values())).toBeGreaterThan(each * 0.3);
    expect(Math.max(...times.values())).toBeLessThan(each * 1.9);
  }
});

test.each(['exclusive', 'house'] as const)(
  '%s line items share the plays by weight, long ones and short ones alike',
  (type) => {
    const index = buildIndex(
      planOf([
        { line_item_id: 'light', type, weight: 1, creatives: [{ creative_id: 'crv_1', duration_ms: 60_000 }] },
        { line_item_id: 'heavy', type, weight: 3, creatives: [{ creative_id: 'crv_2', duration_ms: 10_000 }] },
      ]),
    );
    const times = served(10_000, (decisionId) => decide(index, contextOf({ decisionId })).picks[0]!.lineItemId);
    expect(times.get('heavy')! / 10_000).toBeGreaterThan(0.73);
    expect(times.get('heavy')! / 10_000).toBeLessThan(0.77);
  },
);

test('creatives of one line item share its plays by weight', () => {
  const creatives = [
    { creative_id: 'crv_light', duration_ms: 30_000, weight: 1 },
    { creative_id: 'crv_heavy', duration_ms: 30_000, weight: 3 },
  ];
  const index = buildIndex(planOf([{ line_item_id: 'li_1', creatives }]));
  const times = served(10_000, (decisionId) => decide(index, contextOf({ decisionId })).picks[0]!.creativeId);
  expect(times.get('crv_heavy')! / 10_000).toBeGreaterThan(0.73);
  expect(times.get('crv_heavy')! / 10_000).toBeLessThan(0.77);
});

test('sponsorships have exactly their shares of many plays, whatever the decision ids', () => {
  const shares = { half: 50, third: 30, tenth: 10 };
  const index = buildIndex(
    planOf([
      ...Object.entries(shares).map(([line_item_id, quantity]) => ({
        line_item_id,
        type: 'sponsorship' as const,
        goal: { unit: 'share_pct' as const, quantity },
      })),
      { line_item_id: 'house' },
    ]),
  );
  const counts = new Map<string, { served: number; opportunities: number }>();
  const countOf = (id: string) => counts.get(id) ?? { served: 0, opportunities: 0 };
  const times = served(1_000, (decisionId) => {
    const share = (ordinal: number) => countOf(index.lines[ordinal]!.lineItemId);
    const { picks, opportunities } = decide(index, contextOf({ decisionId }), { ...freshInputs, share });
    for (const id of opportunities) {
      const before = countOf(id);
      const more = picks.filter((pick) => pick.lineItemId === id).length;
      counts.set(id, { served: before.served + more, opportunities: before.opportunities + 1 });
    }
    return picks[0]!.lineItemId;
  });
  for (const [id, pct] of Object.entries(shares)) expect(Math.abs(times.get(id)! - pct * 10)).toBeLessThanOrEqual(2);
});

test('the loudnesses of a creative never change whether it is chosen', () => {
  const loudnesses = fc.array(fc.option(fc.integer({ min: -30, max: -8 }), { nil: null }), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(lines, plays, fc.infiniteStream(loudnesses), (given, play, prepared) => {
      const louder = given.map((one) => ({
        ...one,
        creatives: one.creatives!.map((creative) => ({ ...creative, loudnesses: prepared.next().value! })),
      }));
      const names = (plan: CaseLine[]) =>
        decide(buildIndex(planOf(plan)), play).picks.map(
          (pick) => `${pick.slot} ${pick.lineItemId} ${pick.creativeId}`,
        );
      expect(names(louder)).toEqual(names(given));
    }),
  );
});

test('a plan with a line item twice, an unreadable window, an unknown time zone or a goal without quantity is refused', () => {
  expect(() => buildIndex(planOf([{ line_item_id: 'li_1' }, { line_item_id: 'li_1' }]))).toThrow('li_1 twice');
  const window = { start: 'soon', end: hour(1) };
  expect(() => buildIndex(planOf([{ line_item_id: 'li_1', window }]))).toThrow('no instant');
  const dayparts = { time_zone: 'Mars/Olympus', hours: [1] };
  expect(() => buildIndex(planOf([{ line_item_id: 'li_1', targeting: { dayparts } }]))).toThrow('Mars/Olympus');
  for (const unit of ['impressions', 'completes', 'share_pct'] as const)
    expect(() => buildIndex(planOf([{ line_item_id: 'li_1', goal: { unit } }]))).toThrow('no quantity');
});
