import { seedOf } from '@longwave/ad-decision';
import { outputDigestOf, requestClassOf, servingIdOf } from '../src/decisions/decision-record.ts';
import type { NewDecision } from '../src/decisions/stored-decision.ts';

const id = (prefix: string, digit: string) => `${prefix}_0123456789abcdefghjkmnpq${digit}r`;
const decisionId = id('dec', '1');
const [lineItemId, otherId] = [id('li', '2'), id('li', '3')];
const context: NewDecision['inputs']['context'] = {
  ...{ decisionId, atMs: 1_795_468_407_644, podcastId: id('pod', '4'), episodeId: id('ep', '5') },
  ...{ streamFormat: 'mp3/96000/44100/1', country: 'AT', region: 'AT-9', surface: 'progressive', device: 'mobile' },
  ...{ operatingSystem: 'iOS', app: 'Pocket Casts', language: 'de', explicit: true },
  ...{ contentCategories: ['Arts', 'Küche'], publishedAtMs: 1_795_000_000_000, loudnessLufs: -16.25 },
  breaks: [
    { key: 'pre', position: 'pre', maxSlots: 1, maxDurationMs: 60_000, positionMs: 0, slotRules: [] },
    {
      ...{ key: 'mid:1', position: 'mid', maxSlots: 2, maxDurationMs: 90_000, positionMs: 600_000 },
      slotRules: [{ slot: 1, maxDurationMs: 30_000, lineItemTypes: ['house'], productions: ['host_read'] }],
    },
  ],
} as unknown as NewDecision['inputs']['context'];
const answer: NewDecision['answer'] = {
  decision_id: decisionId,
  no_ad_reason: 'capped',
  picks: [
    {
      billable: true,
      break_key: 'mid:1',
      campaign_id: id('cmp', '6'),
      click_url: 'https://shop.example/?c=1',
      creative_id: id('crv', '7'),
      duration_ms: 30_024,
      line_item_id: lineItemId,
      segment_digest: '5a'.repeat(32),
      serving_id: servingIdOf(decisionId, 'mid:1', 1),
      size_bytes: 480_384,
      slot: 1,
    },
  ],
  serving_plan_id: id('spl', '8'),
};

/** A decision with everything that one may have. */
export const goldenDecision: NewDecision = {
  ...{ decisionId, workspaceId: id('ws', '9'), atMs: context.atMs, answer },
  servingPlanId: answer.serving_plan_id,
  planDigest: '0f'.repeat(32),
  requestDigest: 'e1'.repeat(32),
  trace: {
    index_version: '0f'.repeat(32),
    request_class: requestClassOf(context, true),
    stages: [
      { break_key: 'pre', name: 'eligibility', in: 400, out: 1, dropped_by: { targeting_country: 399 } },
      { break_key: 'mid:1', name: 'selection', in: 1, out: 1, dropped_by: {} },
    ],
    candidates: [
      { break_key: 'pre', line_item_id: otherId, verdict: 'capped', codes: ['capped', 'outranked'], tier: 3, rank: 1 },
      { break_key: 'mid:1', line_item_id: lineItemId, verdict: 'won', codes: ['won'], tier: 2, rank: null },
    ],
    policy_versions: [{ id: id('pol', 'a'), version: 3, kind: 'frequency' }],
    seed: seedOf(decisionId),
    input_digest: 'e1'.repeat(32),
    output_digest: outputDigestOf(answer),
  },
  inputs: {
    context,
    told: { room: { [lineItemId]: 4 }, shares: { [otherId]: [1, 200] }, heard: { [`${otherId} 86400000`]: 2 } },
    suspensions: '77'.repeat(32),
    policies: '88'.repeat(32),
    cap_keys: [lineItemId, `${lineItemId}/mid:1`],
  },
  countedSlots: [{ lineItemId, attempt: 'Zm9vYmFy' }],
  mode: 'lease',
  nodeEpoch: 0,
  ...{ shareOpportunities: [otherId], shareServings: [] },
};

/** The same of a node that knew the credit of goals: inputs of format 2. */
export const goldenCredit: NewDecision = {
  ...goldenDecision,
  inputs: {
    ...goldenDecision.inputs,
    told: { format: 2, ...goldenDecision.inputs.told, urgency: { [lineItemId]: 3 } },
  },
};

/** The same of a play that asks for pictures. */
export const goldenPictures = (): NewDecision => {
  const streamFormats = ['mp3/96000/44100/1', 'hls-aac-192', 'hls-avc'];
  const [{ segment_digest, serving_id, size_bytes, slot, ...pick }] = goldenFormats.answer.picks as [
    (typeof answer.picks)[number],
  ];
  const pictures = (['v360', 'v720', 'v1080', 'iframe'] as const).map((name, at) => ({
    ...{ codec: 'avc1.64001f', digest: `8${at}`.repeat(32), duration_ms: 30_040 },
    ...{ frame_rate: { frames: 30_000, seconds: 1001 }, height: 720, index_digest: `9${at}`.repeat(32) },
    ...{ index_size_bytes: 420, name, size_bytes: 130_000 + at, width: 1280 },
  }));
  const shown = {
    ...goldenFormats.answer,
    picks: [{ ...pick, pictures, segment_digest, serving_id, size_bytes, slot }],
  };
  const inputs = { ...goldenFormats.inputs, context: { ...goldenFormats.inputs.context, streamFormats } };
  return {
    ...goldenFormats,
    answer: shown,
    inputs,
    trace: {
      ...goldenFormats.trace,
      request_class: requestClassOf(inputs.context, true),
      output_digest: outputDigestOf(shown),
    },
  };
};

/** The same of a play that names stream formats; every ad has a track of HLS. */
export const goldenFormats: NewDecision = (() => {
  const streamFormats = ['mp3/96000/44100/1', 'hls-aac-192'];
  const [{ line_item_id, segment_digest, serving_id, size_bytes, slot, ...pick }] = answer.picks as [
    (typeof answer.picks)[number],
  ];
  const hls = {
    ...{ codec: 'mp4a.40.2', digest: '6b'.repeat(32), duration_ms: 30_037 },
    ...{ index_digest: '7c'.repeat(32), index_size_bytes: 410, size_bytes: 657_605 },
  };
  const formatted = {
    ...answer,
    picks: [{ ...pick, hls, line_item_id, segment_digest, serving_id, size_bytes, slot }],
  };
  return {
    ...goldenDecision,
    answer: formatted,
    trace: {
      ...goldenDecision.trace,
      request_class: requestClassOf({ ...context, streamFormats }, true),
      output_digest: outputDigestOf(formatted),
    },
    inputs: { ...goldenDecision.inputs, context: { ...context, streamFormats } },
  };
})();

/** Texts that the second form has in common with others. */
export const goldenTexts: readonly string[] = [
  ...[lineItemId, otherId, 'mid:1', '0f'.repeat(32), answer.serving_plan_id, 'unused'],
  ...Array.from({ length: 60 }, (_, at) => `filler ${at}`),
  ...['Pocket Casts', 'mp3/96000/44100/1'],
];

/** The decision in every form in which decisions were ever stored (hex); version 2 is `goldenFormats`. Forms are added, never changed. */
export const packedByVersion = {
  'version 2':
    '02e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1000000004b0f4773706c0110c8531d0952d8d73e1194e9' +
    '5b5d18490f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f4b1047706f640110c8531d0952d8d73e1194e95b' +
    '5c984665700110c8531d0952d8d73e1194e95b5cb845116d70332f39363030302f34343130302f3145024154450441542d39909295450c50' +
    '6f636b657420436173747345026465424f45044172747345064bc3bc6368654380bcd9f29e344400000000004030c0404f59450b686c732d' +
    '6161632d3139324b0c81810143e0d403004d45056d69643a3182024390bf0543c0cf244e4a04c501c643b0ea01c74ed0c84ed1844a038d4a' +
    '01466c690110c8531d0952d8d73e1194e95b5c58048e4a01466c690110c8531d0952d8d73e1194e95b5c784f0143c8018f4a0145266c695f' +
    '3031323334353637383961626364656667686a6b6d6e70713372203836343030303030024977777777777777777777777777777777777777' +
    '777777777777777777777777774988888888888888888888888888888888888888888888888888888888888888884f6245236c695f303132' +
    '3334353637383961626364656667686a6b6d6e707132722f6d69643a31a34b0c426147636d700110c8531d0952d8d73e1194e95b5cd84519' +
    '68747470733a2f2f73686f702e6578616d706c652f3f633d31476372760110c8531d0952d8d73e1194e95b5cf843c8ea015345096d703461' +
    '2e34302e32496b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b43d5ea01497c7c7c7c7c7c7c7c7c7c7c7c7c' +
    '7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c439a0343c5912862495a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a' +
    '5a5a5a5a404380a91d014b0a8187439003014a01a9438f03618c0101404b0c8163a34fa3c403016162864002404e4a03c947706f6c0110c8' +
    '531d0952d8d73e1194e95b5d58ca03cb894f6245085a6d3976596d4679',
  'version 1':
    '01e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1000000004b0f4773706c0110c8531d0952d8d73e1194' +
    'e95b5d18490f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f4b0f47706f640110c8531d0952d8d73e1194' +
    'e95b5c984665700110c8531d0952d8d73e1194e95b5cb845116d70332f39363030302f34343130302f3145024154450441542d39909295' +
    '450c506f636b657420436173747345026465424f45044172747345064bc3bc6368654380bcd9f29e344400000000004030c0404b0c8181' +
    '0143e0d403004d45056d69643a3182024390bf0543c0cf244e4a04c501c643b0ea01c74ed0c84ed1844a038d4a01466c690110c8531d09' +
    '52d8d73e1194e95b5c58048e4a01466c690110c8531d0952d8d73e1194e95b5c784f0143c8018f4a0145266c695f303132333435363738' +
    '3961626364656667686a6b6d6e707133722038363430303030300249777777777777777777777777777777777777777777777777777777' +
    '77777777774988888888888888888888888888888888888888888888888888888888888888884f6145236c695f30313233343536373839' +
    '61626364656667686a6b6d6e707132722f6d69643a31a34b0b426047636d700110c8531d0952d8d73e1194e95b5cd8451968747470733a' +
    '2f2f73686f702e6578616d706c652f3f633d31476372760110c8531d0952d8d73e1194e95b5cf843c8ea0161495a5a5a5a5a5a5a5a5a5a' +
    '5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a404380a91d014b0a8187439003014a01a9438f03608c0101404b0c8162a34fa3c4' +
    '03016061864002404e4a03c947706f6c0110c8531d0952d8d73e1194e95b5d58ca03cb894f6145085a6d3976596d4679',
  'version 1 with known texts':
    '01e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1070000004b0f59584b0f47706f640110c8531d0952d8' +
    'd73e1194e95b5c984665700110c8531d0952d8d73e1194e95b5cb84c1845024154450441542d399092954c1745026465424f4504417274' +
    '7345064bc3bc6368654380bcd9f29e344400000000004030c0404b0c81810143e0d403004d5782024390bf0543c0cf244e4a04c501c643' +
    'b0ea01c74ed0c84ed1844a038d4a0155048e4a01564f0143c8018f4a0145266c695f3031323334353637383961626364656667686a6b6d' +
    '6e707133722038363430303030300249777777777777777777777777777777777777777777777777777777777777777749888888888888' +
    '88888888888888888888888888888888888888888888888888884f5545236c695f3031323334353637383961626364656667686a6b6d6e' +
    '707132722f6d69643a31a34b0b425747636d700110c8531d0952d8d73e1194e95b5cd8451968747470733a2f2f73686f702e6578616d70' +
    '6c652f3f633d31476372760110c8531d0952d8d73e1194e95b5cf843c8ea0155495a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a' +
    '5a5a5a5a5a5a5a5a5a5a404380a91d014b0a8187439003014a01a9438f03578c0101404b0c8156a34fa3c403015755864002404e4a03c9' +
    '47706f6c0110c8531d0952d8d73e1194e95b5d58ca03cb894f5545085a6d3976596d4679',
  'version 1 with credit':
    '01e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1000000004b0f4773706c0110c8531d0952d8d73e1194' +
    'e95b5d18490f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f4b0f47706f640110c8531d0952d8d73e1194' +
    'e95b5c984665700110c8531d0952d8d73e1194e95b5cb845116d70332f39363030302f34343130302f3145024154450441542d39909295' +
    '450c506f636b657420436173747345026465424f45044172747345064bc3bc6368654380bcd9f29e344400000000004030c0404b0c8181' +
    '0143e0d403004d45056d69643a3182024390bf0543c0cf244e4a04c501c643b0ea01c74ed0c84ed1844a054506666f726d6174028d4a01' +
    '466c690110c8531d0952d8d73e1194e95b5c58048e4a01466c690110c8531d0952d8d73e1194e95b5c784f0143c8018f4a0145266c695f' +
    '3031323334353637383961626364656667686a6b6d6e70713372203836343030303030024507757267656e63794a016203497777777777' +
    '77777777777777777777777777777777777777777777777777777749888888888888888888888888888888888888888888888888888888' +
    '88888888884f6245236c695f3031323334353637383961626364656667686a6b6d6e707132722f6d69643a31a34b0b426047636d700110' +
    'c8531d0952d8d73e1194e95b5cd8451968747470733a2f2f73686f702e6578616d706c652f3f633d31476372760110c8531d0952d8d73e' +
    '1194e95b5cf843c8ea0162495a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a404380a91d014b0a818743' +
    '9003014a01a9438f03608c0101404b0c8163a34fa3c403016062864002404e4a03c947706f6c0110c8531d0952d8d73e1194e95b5d58ca' +
    '03cb894f6245085a6d3976596d4679',
  'version 3':
    '03e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1000000004b0f4773706c0110c8531d0952d8d73e1194e95b5d18490f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f4b1047706f640110c8531d0952d8d73e1194e95b5c984665700110c8531d0952d8d73e1194e95b5cb845116d70332f39363030302f34343130302f3145024154450441542d39909295450c506f636b657420436173747345026465424f45044172747345064bc3bc6368654380bcd9f29e344400000000004030c0405059450b686c732d6161632d3139324507686c732d6176634b0c81810143e0d403004d45056d69643a3182024390bf0543c0cf244e4a04c501c643b0ea01c74ed0c84ed1844a038d4a01466c690110c8531d0952d8d73e1194e95b5c58048e4a01466c690110c8531d0952d8d73e1194e95b5c784f0143c8018f4a0145266c695f3031323334353637383961626364656667686a6b6d6e70713372203836343030303030024977777777777777777777777777777777777777777777777777777777777777774988888888888888888888888888888888888888888888888888888888888888884f6345236c695f3031323334353637383961626364656667686a6b6d6e707132722f6d69643a31a34b0d426247636d700110c8531d0952d8d73e1194e95b5cd8451968747470733a2f2f73686f702e6578616d706c652f3f633d31476372760110c8531d0952d8d73e1194e95b5cf843c8ea015345096d7034612e34302e32496b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b43d5ea01497c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c439a0343c59128634b28450b617663312e36343030316649808080808080808080808080808080808080808080808080808080808080808043d8ea014f43b0ea0143e90743d00549909090909090909090909090909090909090909090909090909090909090909043a40345047633363043d0f70743800a6f49818181818181818181818181818181818181818181818181818181818181818143d8ea014f43b0ea0143e90743d00549919191919191919191919191919191919191919191919191919191919191919143a40345047637323043d1f70743800a6f49828282828282828282828282828282828282828282828282828282828282828243d8ea014f43b0ea0143e90743d00549929292929292929292929292929292929292929292929292929292929292929243a4034505763130383043d2f70743800a6f49838383838383838383838383838383838383838383838383838383838383838343d8ea014f43b0ea0143e90743d00549939393939393939393939393939393939393939393939393939393939393939343a4034506696672616d6543d3f70743800a495a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a404380a91d014b0a8187439003014a01a9438f03628c0101404b0c8164a34fa3c403016263864002404e4a03c947706f6c0110c8531d0952d8d73e1194e95b5d58ca03cb894f6345085a6d3976596d4679',
};
