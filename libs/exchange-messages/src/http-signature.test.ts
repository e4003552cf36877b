import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { growthOf, linear } from '@longwave/test-kit/growth-of';
import fc from 'fast-check';
import { contentDigestOf, matchesContentDigest } from './content-digest.ts';
import { isSignedBy, signBytes, tryParsePublicKey } from './ed25519.ts';
import { claimedKeyId, isRequestSigned, signRequest, verifyRequest } from './http-signature.ts';
import { signatureBaseOf, type HttpRequest } from './signature-base.ts';

describe('RFC 9421, appendix B', () => {
  const x = 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs';
  const d = 'n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU';
  const privateKey = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', x, d }, format: 'jwk' });
  const body = Buffer.from('{"hello": "world"}');
  const digest = 'sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:';
  const request: HttpRequest = {
    method: 'POST',
    url: 'https://example.com/foo?param=Value&Pet=dog',
    headers: [
      ['Host', 'example.com'],
      ['Date', 'Tue, 20 Apr 2021 02:07:55 GMT'],
      ['Content-Type', 'application/json'],
      ['Content-Digest', digest],
      ['Content-Length', '18'],
    ],
    body,
  };
  const components = ['date', '@method', '@path', '@authority', 'content-type', 'content-length'];
  const parameters =
    '("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"';
  const expectedBase = [
    '"date": Tue, 20 Apr 2021 02:07:55 GMT',
    '"@method": POST',
    '"@path": /foo',
    '"@authority": example.com',
    '"content-type": application/json',
    '"content-length": 18',
    `"@signature-params": ${parameters}`,
  ].join('\n');
  const signature = 'wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==';

  test('B.2.6: the signature base', () => {
    expect(signatureBaseOf(request, components, parameters)).toEqual({ ok: true, base: expectedBase });
  });

  test('B.2.6: the signature by Ed25519', () => {
    expect(signBytes(privateKey, Buffer.from(expectedBase)).toString('base64')).toBe(signature);
    expect(isSignedBy(tryParsePublicKey(x)!, Buffer.from(expectedBase), Buffer.from(signature, 'base64'))).toBe(true);
  });

  test('B.2: the digest of the body (RFC 9530)', () => {
    expect(matchesContentDigest(digest, body)).toBe(true);
    expect(contentDigestOf(body)).toBe('sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:');
  });

  test('B.2.6 has not the profile of this protocol', () => {
    const headers = [
      ...request.headers,
      ['Signature-Input', `sig-b26=${parameters}`] as const,
      ['Signature', `sig-b26=:${signature}:`] as const,
    ];
    expect(verifyRequest({ ...request, headers }, 1_618_884_480, () => tryParsePublicKey(x))).toMatchObject({
      ok: false,
      fault: 'parameter_missing',
    });
  });

  test.each([
    ['@method', 'POST'],
    ['@target-uri', 'https://example.com/foo?param=Value&Pet=dog'],
    ['@authority', 'example.com'],
    ['@scheme', 'https'],
    ['@path', '/foo'],
    ['@query', '?param=Value&Pet=dog'],
  ])('§2.2: %s is %s', (component, value) => {
    expect(signatureBaseOf(request, [component], '()')).toEqual({
      ok: true,
      base: `"${component}": ${value}\n"@signature-params": ()`,
    });
  });

  test('§2.2.3, §2.2.6, §2.2.7: host in lower case without the default port, path and query are never empty', () => {
    const bare = { ...request, url: 'https://WWW.Example.com:443#part' };
    expect(signatureBaseOf(bare, ['@authority', '@path', '@query', '@target-uri'], '()')).toMatchObject({
      base: '"@authority": www.example.com\n"@path": /\n"@query": ?\n"@target-uri": https://www.example.com/\n"@signature-params": ()',
    });
  });
});

const pair = generateKeyPairSync('ed25519');
const key = tryParsePublicKey(pair.publicKey.export({ format: 'jwk' }).x!)!;
const now = 1_795_000_000;
const parameters = { created: now, expires: now + 300, nonce: 'b3k2pp5k7z-50gnwp.yemd', keyid: 'key_1' };
const request: HttpRequest = {
  method: 'POST',
  url: 'https://api.example.com/hosting-exchange/v1/workspaces/ws_1/messages',
  headers: [
    ['Content-Type', 'application/json'],
    ['Idempotency-Key', 'one'],
  ],
  body: Buffer.from('{"messages":[]}'),
};
const keyOf = (keyid: string) => (keyid === 'key_1' ? key : undefined);
const signed: HttpRequest = {
  ...request,
  headers: [...request.headers, ...Object.entries(signRequest(request, pair.privateKey, parameters))],
};
const valueOf = (name: string) => signed.headers.find(([each]) => each === name)![1];
const verdict = (changed: HttpRequest, at = now) => {
  const result = verifyRequest(changed, at, keyOf);
  return result.ok ? 'ok' : result.fault;
};
const withHeader = (name: string, ...values: readonly string[]): HttpRequest => ({
  ...signed,
  headers: [
    ...signed.headers.filter(([each]) => each.toLowerCase() !== name),
    ...values.map((value) => [name, value] as const),
  ],
});

test('a signed request verifies, and says whose signature it is and what is to be remembered', () => {
  expect(verifyRequest(signed, now, keyOf)).toEqual({ ok: true, parameters });
  expect([isRequestSigned(signed), isRequestSigned(request)]).toEqual([true, false]);
  expect([claimedKeyId(signed), claimedKeyId(request)]).toEqual(['key_1', undefined]);
  expect(verdict(request)).toBe('unsigned');
});

test.each<[string, HttpRequest, string]>([
  ['another method', { ...signed, method: 'PUT' }, 'signature_wrong'],
  ['another path', { ...signed, url: `${signed.url}/` }, 'signature_wrong'],
  ['another host', { ...signed, url: signed.url.replace('api.', 'api2.') }, 'signature_wrong'],
  ['another scheme', { ...signed, url: signed.url.replace('https', 'http') }, 'signature_wrong'],
  ['another body', { ...signed, body: Buffer.from('{}') }, 'digest_mismatch'],
  [
    'another body with its digest',
    { ...withHeader('content-digest', contentDigestOf(Buffer.from('{}'))), body: Buffer.from('{}') },
    'signature_wrong',
  ],
  ['another type', withHeader('content-type', 'text/plain'), 'signature_wrong'],
  ['a method that is none', { ...signed, method: 'POST\n"x": y' }, 'method_invalid'],
  ['an address that is none', { ...signed, url: '/messages' }, 'url_invalid'],
  ['no type', withHeader('content-type'), 'header_missing'],
  ['no digest', withHeader('content-digest'), 'header_missing'],
  ['two types', withHeader('content-type', 'application/json', 'application/json'), 'header_repeated'],
  ['two types in one line', withHeader('content-type', 'application/json, application/json'), 'header_repeated'],
  ['a type with a line end', withHeader('content-type', 'application/json\n"x": y'), 'header_invalid'],
  ['a type beyond ASCII', withHeader('content-type', 'application/jsön'), 'header_invalid'],
  [
    'two digests',
    withHeader('content-digest', valueOf('content-digest'), valueOf('content-digest')),
    'header_repeated',
  ],
  [
    'two digests in one line',
    withHeader('content-digest', `${valueOf('content-digest')}, ${valueOf('content-digest')}`),
    'digest_mismatch',
  ],
  ['a digest by MD5', withHeader('content-digest', 'md5=:1B2M2Y8AsgTpgAmY7PhCfg==:'), 'digest_mismatch'],
  ['no signature', withHeader('signature'), 'unsigned'],
  ['no input', withHeader('signature-input'), 'unsigned'],
  ['another label', withHeader('signature', valueOf('signature').replace('sig1', 'sig2')), 'malformed'],
  ['63 bytes', withHeader('signature', `sig1=:${Buffer.alloc(63).toString('base64')}:`), 'malformed'],
  ['base64 with unused bits', withHeader('signature', `sig1=:${'A'.repeat(85)}B==:`), 'malformed'],
  ['another signature', withHeader('signature', `sig1=:${Buffer.alloc(64, 7).toString('base64')}:`), 'signature_wrong'],
  ['two signatures', withHeader('signature', valueOf('signature'), valueOf('signature')), 'several_signatures'],
  ['two labels', withHeader('signature', `${valueOf('signature')}, sig2=:AA==:`), 'several_signatures'],
  [
    'one label twice',
    withHeader('signature-input', `${valueOf('signature-input')},${valueOf('signature-input')}`),
    'several_signatures',
  ],
  [
    'two inputs',
    withHeader('signature-input', valueOf('signature-input'), valueOf('signature-input')),
    'several_signatures',
  ],
  ['5000 characters', withHeader('signature-input', valueOf('signature-input').padEnd(5000, 'x')), 'malformed'],
])('a request with %s is refused', (_name, changed, fault) => {
  expect(verdict(changed)).toBe(fault);
});

const required = ['@method', '@target-uri', '@authority', 'content-type', 'content-digest'];

/** The request with another `Signature-Input`, correctly signed wherever it can be. */
function resigned(components: readonly string[], rest: string): HttpRequest {
  const inner = `(${components.map((each) => `"${each}"`).join(' ')})${rest}`;
  const covered = signatureBaseOf(signed, components, inner);
  const signature = covered.ok ? signBytes(pair.privateKey, Buffer.from(covered.base)) : Buffer.alloc(64);
  const input = withHeader('signature-input', `sig1=${inner}`);
  return {
    ...input,
    headers: [
      ...input.headers.filter(([name]) => name !== 'signature'),
      ['signature', `sig1=:${signature.toString('base64')}:`],
    ],
  };
}
const values: Readonly<Record<string, string>> = {
  ...{ created: `${now}`, expires: `${now + 300}`, nonce: '"0123456789abcdef"', keyid: '"key_1"' },
  ...{ alg: '"ed25519"', tag: '"hosting-exchange"' },
};
const textOf = (parameters: Readonly<Record<string, string | undefined>>) =>
  Object.entries(parameters)
    .flatMap(([name, value]) => (value === undefined ? [] : [`;${name}=${value}`]))
    .join('');
const withParameter = (name: string, value: string | undefined) =>
  resigned(required, textOf({ ...values, [name]: value }));

test('components and parameters may stand in any order, more headers may be covered, and alg may be absent', () => {
  expect(verdict(resigned([...required].reverse(), textOf(values)))).toBe('ok');
  expect(verdict(resigned(required, textOf(Object.fromEntries(Object.entries(values).reverse()))))).toBe('ok');
  expect(verdict(resigned([...required, 'idempotency-key', '@query'], textOf(values)))).toBe('ok');
  expect(verdict(withParameter('alg', undefined))).toBe('ok');
});

test.each<[string, HttpRequest, string]>([
  ...['created', 'expires', 'nonce', 'keyid'].map((name): [string, HttpRequest, string] => [
    `without ${name}`,
    withParameter(name, undefined),
    'parameter_missing',
  ]),
  ['without tag', withParameter('tag', undefined), 'wrong_tag'],
  ['with another tag', withParameter('tag', '"other"'), 'wrong_tag'],
  ['with another algorithm', withParameter('alg', '"rsa-pss-sha512"'), 'wrong_algorithm'],
  ['with a number as algorithm', withParameter('alg', '1'), 'wrong_algorithm'],
  ['with a short nonce', withParameter('nonce', '"0123456789abcde"'), 'parameter_missing'],
  ['with a number as keyid', withParameter('keyid', '1'), 'parameter_missing'],
  ['with text as time', withParameter('created', `"${now}"`), 'parameter_missing'],
  ['with an unknown key', withParameter('keyid', '"key_2"'), 'unknown_key'],
  ['with another parameter', withParameter('context', '"a"'), 'parameter_not_allowed'],
  ['with a parameter twice', resigned(required, `${textOf(values)};nonce="0123456789abcdef"`), 'parameter_repeated'],
  ['with a leading zero', withParameter('created', `0${now}`), 'malformed'],
  ['with an escape', withParameter('nonce', '"0123456789abcdef\\""'), 'malformed'],
  ['with a space between parameters', resigned(required, textOf(values).replace(';nonce', '; nonce')), 'malformed'],
  ...required.map((name): [string, HttpRequest, string] => [
    `that does not cover ${name}`,
    resigned(
      required.filter((each) => each !== name),
      textOf(values),
    ),
    'component_missing',
  ]),
  ['that covers nothing', resigned([], textOf(values)), 'component_missing'],
  ['that covers a header twice', resigned([...required, '@method'], textOf(values)), 'component_repeated'],
  ['that covers an absent header', resigned([...required, 'date'], textOf(values)), 'header_missing'],
  [
    'that covers its own parameters',
    resigned([...required, '@signature-params'], textOf(values)),
    'component_unsupported',
  ],
  ['that covers a status', resigned([...required, '@status'], textOf(values)), 'component_unsupported'],
  [
    'that covers a header with a parameter',
    withHeader('signature-input', valueOf('signature-input').replace('"content-type"', '"content-type";bs')),
    'malformed',
  ],
])('a signature %s is refused', (_name, changed, fault) => {
  expect(verdict(changed)).toBe(fault);
});

test('a signature holds from its creation, within a minute, until it expires, for 300 s at most', () => {
  expect([now - 61, now - 60, now, now + 299, now + 300].map((at) => verdict(signed, at))).toEqual([
    ...['not_yet_valid', 'ok', 'ok', 'ok', 'expired'],
  ]);
  expect([300, 301, 1, 0].map((life) => verdict(withParameter('expires', `${now + life}`)))).toEqual([
    ...['ok', 'window_too_long', 'ok', 'window_too_long'],
  ]);
});

test.each([
  ['a window of 301 s', request, { ...parameters, expires: now + 301 }],
  ['a nonce with a quote', request, { ...parameters, nonce: '"0123456789abcdef' }],
  ['a keyid that ends its text', request, { ...parameters, keyid: 'a";tag="b' }],
  ['a fraction of a second', request, { ...parameters, created: now + 0.5 }],
  ['a signed request', signed, parameters],
  ['no content type', { ...request, headers: [] }, parameters],
  ['an address without host', { ...request, url: '/messages' }, parameters],
])('%s cannot be signed', (_name, each, given) => {
  expect(() => signRequest(each, pair.privateKey, given)).toThrow(RangeError);
});

test('every body of a signed request verifies, and no header or address makes verification throw', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.webUrl({ withQueryParameters: true }), (body, url) => {
      const each = { ...request, url, body };
      const headers = Object.entries(signRequest(each, pair.privateKey, parameters));
      expect(verdict({ ...each, headers: [...request.headers, ...headers] })).toBe('ok');
    }),
  );
  const text = fc.oneof(
    fc.string(),
    fc.stringMatching(/^sig1=[ -~]*$/),
    fc.constantFrom(valueOf('signature-input'), valueOf('signature')),
  );
  fc.assert(
    fc.property(text, text, fc.string(), (input, signature, url) => {
      const headers = [...request.headers, ['Signature-Input', input] as const, ['Signature', signature] as const];
      expect(verdict({ ...request, url, headers })).not.toBe('ok');
    }),
  );
});

test.each([
  ['parameters', 'sig1=(', '"a" '],
  ['components', 'sig1=()', ';a="'],
  ['labels', '', 'a,'],
  ['white space', 'sig1=(', ' '],
])('many %s are refused in linear time', (_name, before, part) => {
  const refusing = (size: number) => {
    const signed = withHeader('signature-input', before + part.repeat(size / part.length));
    return () => {
      for (let times = 0; times < 100; times++) if (verdict(signed) === 'ok') throw new Error('it was not refused');
    };
  };
  expect(growthOf(refusing, 3_900)).toBeLessThan(linear);
});
