import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { redact } from './redact.ts';

const secret = 's3cr3t'.repeat(10);
const deliveryToken = `t1.${'aB-_'.repeat(25)}`;

describe('a text', () => {
  test.each([
    ['a delivery token', `GET /d/${deliveryToken}/a.mp3`, 'GET /d/t1.***/a.mp3'],
    ['an overlong delivery token', `/d/t1.${'x'.repeat(900)}/a`, '/d/t1.***/a'],
    ['a delivery token in an encoded URL', `?url=%2Fd%2F${deliveryToken}%2Fa.mp3`, '?url=%2Fd%2Ft1.***%2Fa.mp3'],
    ['a delivery token with an encoded point', `/t1%2e${'x'.repeat(100)}/`, '/t1.***/'],
    ['a delivery token encoded twice', `/t1%252E${'x'.repeat(100)}/`, '/t1.***/'],
    ['an account API key', `lw_key_${secret}!`, 'lw_key_***!'],
    ['an encoded account API key', `k=lw%5Fkey%5F${secret}`, 'k=lw_key_***'],
    ['a legacy token', `"svc_pat_${secret}"`, '"svc_pat_***"'],
    ['an MCP token', `svc_mcp_${secret}`, 'svc_mcp_***'],
    ['a browser session', `lw_session=lw_ses_${secret};`, 'lw_session=lw_ses_***;'],
    ['a one-time token of a mail', `/sign-in/reset?token=lw_once_${secret}`, '/sign-in/reset?token=lw_once_***'],
    [
      'a presigned URL',
      `http://s3.test/a?X-Amz-Credential=id%2F20261121&X-Amz-Date=1&X-Amz-Security-Token=${secret}&X-Amz-Signature=${secret}`,
      'http://s3.test/a?X-Amz-Credential=***&X-Amz-Date=1&X-Amz-Security-Token=***&X-Amz-Signature=***',
    ],
    ['a presigned URL in lower case', `?x-amz-signature=${secret}"`, '?x-amz-signature=***"'],
    ['an encoded presigned URL', `a%3FX-Amz-Signature%3D${secret}%26b`, 'a%3FX-Amz-Signature%3D***%26b'],
    ['a JWT', `"eyJhbGciOiJFZERTQSJ9.eyJhIjoxfQ.${secret}"`, '"jwt.***"'],
    ['a bearer token', `authorization: Bearer ${secret}`, 'authorization: Bearer ***'],
    ['an authorization header', `{"authorization":"Basic ${secret}"}`, '{"authorization":"***"}'],
    [
      'a header in JSON in a text of JSON',
      JSON.stringify({ a: JSON.stringify({ Token: secret, b: 1 }) }),
      JSON.stringify({ a: JSON.stringify({ Token: '***', b: 1 }) }),
    ],
    [
      'a form',
      `grant_type=refresh_token&refresh_token=${secret}&a=1`,
      'grant_type=refresh_token&refresh_token=***&a=1',
    ],
    ['a URL with a password', 'postgres://role:pass@db:5432/x', 'postgres://role:***@db:5432/x'],
    ['a URL with a password and no user', 'redis://:pass@redis:6379/1', 'redis://:***@redis:6379/1'],
    ['a password with an @', 'postgres://role:p@ss@db/x', 'postgres://role:***@db/x'],
    ['a password with a colon', 'amqp://u:a:b@h', 'amqp://u:***@h'],
  ])('has %s without its secret', (_what, text, clean) => {
    expect(redact(text)).toBe(clean);
    expect(redact(clean)).toBe(clean);
  });

  test.each(['http://host:8080/a?mail=b@c.test', 'redis://redis:6379', 't1.short', 'at 12:00 b@c', 'lw_keyboard'])(
    'without a secret stays: %s',
    (text) => expect(redact(text)).toBe(text),
  );
});

test.each([
  '-eyJaaaaaaaa',
  'eyJaaaaaaaa.',
  't1.',
  '%2525',
  'lw_key_a',
  'bearer ',
  'bearer++',
  '"token\\\\',
  '://a:b',
  'X-Amz-Signature=',
])('a megabyte of %s is read once, not once for each beginning', (piece) => {
  const text = piece.repeat(1_000_000 / piece.length);
  expect(redact(text).length).toBeLessThanOrEqual(text.length + 100_000 * 3);
});

test('nothing is left of a delivery token, whichever of its characters are percent-encoded and how often', () => {
  const token = `t1.${'aB-_9zZ0'.repeat(13).slice(0, 100)}`;
  fc.assert(
    fc.property(fc.array(fc.nat(3), { minLength: token.length, maxLength: token.length }), (times) => {
      const encoded = [...token]
        .map((character, i) => {
          const hex = `%${character.charCodeAt(0).toString(16)}`;
          return times[i] === 0 ? character : hex.replace('%', `%${'25'.repeat(times[i]! - 1)}`);
        })
        .join('');
      expect(redact(`GET /p/${encoded}/a.mp3`)).toBe('GET /p/t1.***/a.mp3');
    }),
  );
});
