import { describe, expect, test } from '@jest/globals';
import { createLogger, redact } from './logger.ts';

const secret = 's3cr3t'.repeat(10);
const deliveryToken = `t1.${'aB-_'.repeat(25)}`;

describe('a logged text', () => {
  test.each([
    ['a delivery token', `GET /d/${deliveryToken}/a.mp3`, 'GET /d/t1.***/a.mp3'],
    ['an overlong delivery token', `/d/t1.${'x'.repeat(900)}/a`, '/d/t1.***/a'],
    ['an account API key', `lw_key_${secret}!`, 'lw_key_***!'],
    ['a legacy token', `"svc_pat_${secret}"`, '"svc_pat_***"'],
    ['an MCP token', `svc_mcp_${secret}`, 'svc_mcp_***'],
    [
      'a presigned URL',
      `http://s3.test/a?X-Amz-Credential=id%2F20261121&X-Amz-Date=1&X-Amz-Security-Token=${secret}&X-Amz-Signature=${secret}`,
      'http://s3.test/a?X-Amz-Credential=***&X-Amz-Date=1&X-Amz-Security-Token=***&X-Amz-Signature=***',
    ],
    ['a presigned URL in lower case', `?x-amz-signature=${secret}"`, '?x-amz-signature=***"'],
    ['a JWT', `Bearer eyJhbGciOiJFZERTQSJ9.eyJhIjoxfQ.${secret}.`, 'Bearer jwt.***.'],
    ['a URL with a password', 'postgres://role:pass@db:5432/x', 'postgres://role:***@db:5432/x'],
    ['a URL with a password and no user', 'redis://:pass@redis:6379/1', 'redis://:***@redis:6379/1'],
    ['a password with an @', 'postgres://role:p@ss@db/x', 'postgres://role:***@db/x'],
    ['a password with a colon', 'amqp://u:a:b@h', 'amqp://u:***@h'],
  ])('has %s without its secret', (_what, text, clean) => {
    expect(redact(text)).toBe(clean);
  });

  test.each(['http://host:8080/a?mail=b@c.test', 'redis://redis:6379', 't1.short', 'at 12:00 b@c', 'lw_keyboard'])(
    'without a secret stays: %s',
    (text) => expect(redact(text)).toBe(text),
  );
});

test('every line of the logger passes, wherever the secret stands', () => {
  const lines: string[] = [];
  const logger = createLogger('test', 'info', { write: (line) => void lines.push(line) });
  logger.error({ err: new Error('no redis://:pass@redis', { cause: new Error(deliveryToken) }), url: deliveryToken });
  logger.info({}, `lw_key_${secret}`);
  expect(lines).toHaveLength(2);
  expect(lines.join('')).not.toMatch(/pass|aB-_|s3cr3t/);
});
