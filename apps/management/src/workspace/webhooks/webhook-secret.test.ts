import { expect, test } from '@jest/globals';
import { createWebhookSecrets, secretHint, secretText, signedHeaders } from './webhook-secret.ts';

test('a message is signed as the published example of Standard Webhooks says', () => {
  const secret = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
  const headers = signedHeaders(
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    '{"test": 2432232314}',
    [secret],
    new Date(1_614_265_330_000),
  );
  expect(headers).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

test('a secret is the same each time it is derived, and another for each endpoint, generation and key', () => {
  const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const secrets = createWebhookSecrets([first, second]);
  const alone = createWebhookSecrets([second]);
  const derive = (endpointId: string, generation: number, key = secrets.newestKey) =>
    secrets.derive({ endpointId, generation, key })!.toString('hex');
  expect(derive('whe_1', 1)).toBe(derive('whe_1', 1));
  const all = [derive('whe_1', 1), derive('whe_1', 2), derive('whe_2', 1), derive('whe_1', 1, alone.newestKey)];
  expect(new Set(all).size).toBe(all.length);
  expect(alone.derive({ endpointId: 'whe_1', generation: 1, key: secrets.newestKey })).toBeUndefined();
  expect(() => createWebhookSecrets([])).toThrow(RangeError);
});

test('a secret is shown in base64 behind its prefix; its hint is the end without padding', () => {
  const secret = Buffer.alloc(32, 7);
  expect(secretText(secret)).toBe('whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=');
  expect(secretHint(secret)).toBe('HBwc');
});
