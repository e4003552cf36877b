import { expect, test } from '@jest/globals';
import { deliveryContract, type DeliveryContract } from '@longwave/services';
import { requireSurfaces } from './surfaces.ts';

const contract: DeliveryContract = {
  ...deliveryContract,
  surfaces: [
    { name: 'progressive', status: 'current', media: ['audio'], events: ['GET'], version: 4 },
    { name: 'hls', status: 'deprecated', media: ['audio'], events: ['GET'], version: 2 },
  ],
};

test('a current surface of a current contract is named with the version of its capability', () => {
  expect(requireSurfaces(contract, ['progressive'])).toEqual([
    { type: 'surface_capabilities', id: 'progressive', version: 4 },
  ]);
});

test.each([
  ['a surface that is no longer current', contract, ['progressive', 'hls'], '“hls” is deprecated'],
  ['a surface that nobody serves', contract, ['smart_tv'], '“smart_tv” is not known'],
  [
    'a contract that is no longer current',
    { ...contract, status: 'deprecated' as const },
    ['progressive'],
    'deprecated',
  ],
  ['a plan for plays by HLS alone', deliveryContract, ['hls'], 'Add “progressive”'],
])('%s is refused', (_, given, surfaces, detail) => {
  expect(() => requireSurfaces(given, surfaces)).toThrow(
    expect.objectContaining({ code: 'capability_not_supported', message: expect.stringContaining(detail) }),
  );
});
