import { expect, test } from '@jest/globals';
import type { DecideResponse, Pick } from '@longwave/rpc/serving';
import { readAnswer } from './decide.ts';

const request = {
  decisionId: 'dec_1',
  breaks: [{ key: 'pre', position: 'pre', maxSlots: 1, maxDurationMs: 90_000n, positionMs: 0n, slotRules: [] }],
};
const pick: Pick = {
  breakKey: 'pre',
  slot: 0,
  servingId: 'srv_1',
  campaignId: 'cmp_1',
  lineItemId: 'li_1',
  creativeId: 'crv_1',
  segmentDigest: 'a'.repeat(64),
  sizeBytes: 384_000n,
  durationMs: 24_000n,
  clickUrl: '',
  billable: true,
};
const answer = (picks: Pick[], decisionId = 'dec_1'): DecideResponse => ({
  decisionId,
  servingPlanId: 'spl_1',
  picks,
  noAdReason: '',
});

test('a pick becomes an ad of its slot, with what counting must know', () => {
  expect(readAnswer(request, answer([pick]))).toEqual({
    decided: true,
    ads: [{ digest: 'a'.repeat(64), sizeBytes: 384_000, durationMs: 24_000, kind: 'ad', slot: 'pre/0' }],
    counted: {
      'pre/0': {
        serving_id: 'srv_1',
        campaign_id: 'cmp_1',
        line_item_id: 'li_1',
        creative_id: 'crv_1',
        break_key: 'pre',
        slot: 0,
        billable: true,
      },
    },
  });
  expect(readAnswer(request, answer([]))).toEqual({ decided: true, ads: [], counted: {} });
});

test.each([
  ['of another decision', answer([pick], 'dec_2')],
  ['with more ads than asked', answer([pick, { ...pick, slot: 1 }])],
  ['for another break', answer([{ ...pick, breakKey: 'mid' }])],
  ['with an ad that is too long', answer([{ ...pick, durationMs: 90_001n }])],
  ['with an ad of no length', answer([{ ...pick, durationMs: 0n }])],
  ['with half a frame', answer([{ ...pick, sizeBytes: 385n }])],
  ['with a digest that is none', answer([{ ...pick, segmentDigest: '../x' }])],
])('an answer %s is not used', (_name, wrong) => {
  expect(readAnswer(request, wrong)).toEqual({ decided: false, reason: 'invalid_answer' });
});
