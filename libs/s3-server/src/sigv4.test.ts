import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { parseRequestTarget } from './request-target.ts';
import { verifySignature } from './sigv4.ts';

// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html and …/sigv4-query-string-auth.html
const options = {
  keys: [{ accessKey: 'AKIAIOSFODNN7EXAMPLE', secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }],
  region: 'us-east-1',
  nowMs: Date.parse('2013-05-24T00:00:00Z'),
};
const emptySha256 = createHash('sha256').digest('hex');
const scope = 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request';
const base = {
  host: 'examplebucket.s3.amazonaws.com',
  'x-amz-date': '20130524T000000Z',
  'x-amz-content-sha256': emptySha256,
};

type Headers = Readonly<Record<string, string>>;
const verify = (method: string, url: string, headers: Headers, changes: Partial<typeof options> = {}) =>
  verifySignature(
    { method, headersDistinct: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])) },
    parseRequestTarget(url),
    { ...options, ...changes },
  );
const authorization = (signedHeaders: string, signature: string) => ({
  authorization: `AWS4-HMAC-SHA256 Credential=${scope},SignedHeaders=${signedHeaders},Signature=${signature}`,
});

const examples: readonly [string, string, string, Headers][] = [
  [
    'GET an object',
    'GET',
    '/test.txt',
    {
      ...base,
      range: 'bytes=0-9',
      ...authorization(
        'host;range;x-amz-content-sha256;x-amz-date',
        'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
      ),
    },
  ],
  [
    'PUT an object',
    'PUT',
    '/test%24file.text',
    {
      ...base,
      date: 'Fri, 24 May 2013 00:00:00 GMT',
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
      'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
      ...authorization(
        'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
        '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
      ),
    },
  ],
  [
    'GET a bucket lifecycle',
    'GET',
    '/?lifecycle',
    {
      ...base,
      ...authorization(
        'host;x-amz-content-sha256;x-amz-date',
        'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
      ),
    },
  ],
  [
    'GET a listing',
    'GET',
    '/?max-keys=2&prefix=J',
    {
      ...base,
      ...authorization(
        'host;x-amz-content-sha256;x-amz-date',
        '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
      ),
    },
  ],
];
const presigned =
  `/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${encodeURIComponent(scope)}&X-Amz-Date=20130524T000000Z` +
  '&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404';
const { host } = base;

describe('Signature Version 4', () => {
  test.each(examples)(
    'the published example "%s" is accepted, and with any part changed refused',
    (_, method, url, headers) => {
      const payload = headers['x-amz-content-sha256'];
      expect(verify(method, url, headers)).toMatchObject({ payloadSha256: payload });
      expect(() => verify('DELETE', url, headers)).toThrow('does not match');
      expect(() => verify(method, `${url}x`, headers)).toThrow('does not match');
      expect(() => verify(method, url, { ...headers, host: 'other' })).toThrow('does not match');
      expect(() => verify(method, url, { ...headers, 'x-amz-content-sha256': '0'.repeat(64) })).toThrow(
        'does not match',
      );
      const keys = options.keys.map((key) => ({ ...key, secretKey: 'other' }));
      expect(() => verify(method, url, headers, { keys })).toThrow('does not match');
    },
  );

  test('the published presigned example is accepted until its last second and refused after it', () => {
    const day = 86_400_000;
    expect(verify('GET', presigned, { host })).toMatchObject({ payloadSha256: undefined });
    expect(verify('GET', presigned, { host }, { nowMs: options.nowMs + day })).toMatchObject({
      payloadSha256: undefined,
    });
    expect(() => verify('GET', presigned, { host }, { nowMs: options.nowMs + day + 1 })).toThrow('expired');
    expect(() => verify('GET', presigned, { host }, { nowMs: options.nowMs - 901_000 })).toThrow('not valid yet');
  });

  test.each([
    ['X-Amz-Expires=0', /X-Amz-Expires/],
    ['X-Amz-Expires=604801', /X-Amz-Expires/],
    ['X-Amz-Expires=1e3', /X-Amz-Expires/],
    ['X-Amz-Date=2013', /X-Amz-Date/],
    ['X-Amz-Algorithm=AWS4-HMAC-SHA1', /X-Amz-Algorithm/],
    ['X-Amz-SignedHeaders=range', /host/],
    ['X-Amz-Signature=00', /SignatureDoesNotMatch/],
    ['X-Amz-Credential=AKIAIOSFODNN7EXAMPLE/20130524/eu-west-1/s3/aws4_request', /region/],
    ['X-Amz-Credential=AKIAIOSFODNN7EXAMPLE/20130525/us-east-1/s3/aws4_request', /scope/],
    ['X-Amz-Credential=OTHER/20130524/us-east-1/s3/aws4_request', /InvalidAccessKeyId/],
  ])('a presigned URL with %s is refused', (change, message) => {
    const [name = ''] = change.split('=');
    expect(() => verify('GET', presigned.replace(new RegExp(`${name}=[^&]*`), change), { host })).toThrow(message);
  });

  test('a header of Amazon that was not signed is refused', () => {
    expect(() => verify('GET', presigned, { host, 'x-amz-meta-x': '1' })).toThrow('not signed');
  });

  test('a request with two signatures or none is refused', () => {
    expect(() => verify('GET', presigned, { host, authorization: 'AWS4-HMAC-SHA256' })).toThrow('Only one');
    expect(() => verify('GET', '/test.txt', { host })).toThrow('not signed');
  });

  test('a signed header is 15 minutes old at most', () => {
    const [, method, url, headers] = examples[0] ?? ['', '', '', {}];
    expect(() => verify(method, url, headers, { nowMs: options.nowMs + 900_001 })).toThrow('15 minutes');
    expect(() => verify(method, url, headers, { nowMs: options.nowMs - 900_001 })).toThrow('15 minutes');
    expect(verify(method, url, headers, { nowMs: options.nowMs + 900_000 }).payloadSha256).toBe(emptySha256);
  });
});
