import { expect, test } from '@jest/globals';
import { apiScopes } from '@longwave/principal';
import { isWriteScope } from './resources.ts';

test('a token with these scopes alone may only read', () => {
  const reading = Object.values(apiScopes)
    .flat()
    .filter((scope) => !isWriteScope(scope));
  expect(reading.sort()).toEqual([
    ...['api:read', 'audience:read', 'exchange:read'],
    ...['management:diagnostics', 'management:read', 'mcp:ads.read', 'mcp:read'],
  ]);
});
