import { generateKeyPairSync, hash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { tryDecodeBase64url } from './base64url.ts';
import { messageDigestOf } from './digest.ts';
import { tryParsePublicKey } from './ed25519.ts';
import { isMessageSignedBy, parseEnvelope, parseProtectedHeader, signMessage } from './envelope.ts';
import { maxPayloadBytes } from './limits.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const key = tryParsePublicKey(publicKey.export({ format: 'jwk' }).x!)!;
const kid = `key_${'0'.repeat(26)}`;
const encode = (text: string) => Buffer.from(text).toString('base64url');
const signed = signMessage('{"a":1}', privateKey, kid);

describe('an envelope', () => {
  test('is read with the bytes of its payload, and verifies under the key that signed it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (payload) => {
        const envelope = signMessage(payload, privateKey, kid);
        expect(parseEnvelope(envelope)).toEqual({ ok: true, envelope, payload: Buffer.from(payload) });
        expect(parseProtectedHeader(envelope.protected)).toMatchObject({ ok: true, header: { kid } });
        expect(isMessageSignedBy(key, envelope)).toBe(true);
      }),
    );
  });

  test('is the same for the same payload', () => {
    expect(signMessage(Buffer.from('{"a":1}'), privateKey, kid)).toEqual(signed);
  });

  test('verifies no more when one character of it is another', () => {
    const members = ['protected', 'payload', 'signature'] as const;
    fc.assert(
      fc.property(fc.constantFrom(...members), fc.nat(), fc.constantFrom(...'AZaz09-_'), (member, at, character) => {
        const text = signed[member];
        const place = at % text.length;
        fc.pre(text[place] !== character);
        const changed = { ...signed, [member]: text.slice(0, place) + character + text.slice(place + 1) };
        const parsed = parseEnvelope(changed);
        expect(parsed.ok && isMessageSignedBy(key, parsed.envelope)).toBe(false);
      }),
    );
  });

  test('with a signature of another length does not verify', () => {
    for (const bytes of [0, 63, 65])
      expect(isMessageSignedBy(key, { ...signed, signature: Buffer.alloc(bytes, 1).toString('base64url') })).toBe(
        false,
      );
  });

  const { signature: _signature, ...unsigned } = signed;
  test.each<[string, unknown, string, readonly string[]]>([
    ['null', null, 'malformed_message', ['/messages/0']],
    ['text', 'a.b.c', 'malformed_message', ['/messages/0']],
    ['a list', [signed], 'malformed_message', ['/messages/0']],
    ['nothing', {}, 'malformed_message', ['/messages/0/protected', '/messages/0/payload', '/messages/0/signature']],
    ['a missing member', unsigned, 'malformed_message', ['/messages/0/signature']],
    ['a member of another kind', { ...signed, payload: 1 }, 'malformed_message', ['/messages/0/payload']],
    ['an unprotected header', { ...signed, header: { kid } }, 'unknown_field', ['/messages/0/header']],
    ['general JWS', { payload: signed.payload, signatures: [signed] }, 'unknown_field', ['/messages/0/signatures']],
    ['__proto__', JSON.parse('{"__proto__":{"payload":""}}'), 'unknown_field', ['/messages/0/__proto__']],
    ['padding', { ...signed, payload: `${encode('a')}==` }, 'malformed_message', ['/messages/0/payload']],
    ['unused bits', { ...signed, payload: 'YR' }, 'malformed_message', ['/messages/0/payload']],
    ['base64', { ...signed, payload: '+/+/' }, 'malformed_message', ['/messages/0/payload']],
    ['white space', { ...signed, payload: 'YW\nJj' }, 'malformed_message', ['/messages/0/payload']],
    ['one character', { ...signed, payload: 'Y' }, 'malformed_message', ['/messages/0/payload']],
  ])('with %s is refused', (_name, item, code, paths) => {
    const result = parseEnvelope(item, '/messages/0');
    expect(result).toMatchObject({ ok: false, code });
    expect(!result.ok && result.errors.map(({ path }) => path)).toEqual(paths);
  });

  test('has a payload of 256 KiB at most', () => {
    const largest = signMessage(Buffer.alloc(maxPayloadBytes, 'a'), privateKey, kid);
    expect(parseEnvelope(largest)).toMatchObject({ ok: true });
    const larger = { ...largest, payload: Buffer.alloc(maxPayloadBytes + 1, 'a').toString('base64url') };
    expect(parseEnvelope(larger)).toMatchObject({
      ok: false,
      code: 'payload_too_large',
      errors: [{ path: '/payload' }],
    });
    expect(() => signMessage(Buffer.alloc(maxPayloadBytes + 1), privateKey, kid)).toThrow(RangeError);
  });

  test('is not made with a key id or key of another kind', () => {
    expect(() => signMessage('{}', privateKey, 'other')).toThrow(RangeError);
    expect(() => signMessage('{}', generateKeyPairSync('ed448').privateKey, kid)).toThrow(RangeError);
  });

  test('of any value is read or refused without throwing', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.jsonValue(), fc.record({ protected: fc.string(), payload: fc.string(), signature: fc.string() })),
        (item) => {
          parseEnvelope(item);
        },
      ),
    );
  });
});

describe('a protected header', () => {
  const header = { alg: 'EdDSA', kid, typ: 'hx+json', hxv: '1' };
  const parse = (value: unknown) => parseProtectedHeader(encode(JSON.stringify(value)));

  test('may have its members in any order', () => {
    expect(parse(Object.fromEntries(Object.entries(header).reverse()))).toEqual({ ok: true, header });
  });

  test.each<[string, unknown]>([
    ...['crit', 'jku', 'jwk', 'x5u', 'x5c', 'x5t', 'x5t#S256', 'cty', 'b64', 'zip', '__proto__'].map(
      (name): [string, unknown] => [
        name,
        JSON.parse(JSON.stringify(header).replace('}', `,${JSON.stringify(name)}:false}`)),
      ],
    ),
    ...Object.keys(header).map((name): [string, unknown] => [`no ${name}`, { ...header, [name]: undefined }]),
    ...['none', 'ES256', 'HS256', 'Ed25519', 'eddsa', '', null, ['EdDSA']].map((alg): [string, unknown] => [
      `alg ${alg}`,
      { ...header, alg },
    ]),
    ['another typ', { ...header, typ: 'JWT' }],
    ['another version', { ...header, hxv: 1 }],
    ['another kid', { ...header, kid: 'agr_00000000000000000000000000' }],
    ['a kid with a line end', { ...header, kid: `${kid}\n` }],
    ['a list', [header]],
    ['null', null],
  ])('with %s is refused', (_name, value) => {
    expect(parse(value)).toMatchObject({ ok: false, code: 'signature_profile_invalid' });
  });

  test.each([
    ['no JSON', encode('{')],
    ['nothing', ''],
    ['a repeated member', encode(JSON.stringify(header).replace('}', ',"alg":"EdDSA"}'))],
    ['a byte order mark', encode(`\ufeff${JSON.stringify(header)}`)],
    ['padding', `${encode(JSON.stringify({ ...header }))}=`],
    ['513 bytes', encode(JSON.stringify(header).padEnd(513))],
  ])('that is %s is refused', (_name, encoded) => {
    const result = parseProtectedHeader(encoded, '/messages/3/protected');
    expect(result).toMatchObject({ ok: false, code: 'signature_profile_invalid' });
    expect(!result.ok && result.errors[0]!.path).toBe('/messages/3/protected');
  });
});

test('the digest of a message is that of its signing input, whatever the signature', () => {
  expect(messageDigestOf('YQ', 'Yg')).toBe(`sha256:${hash('sha256', 'YQ.Yg', 'hex')}`);
  expect(messageDigestOf('YQ', 'Yg')).not.toBe(messageDigestOf('YQY', 'g'));
});

test('bytes have one text in base64url', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.string(), (bytes, text) => {
      expect(tryDecodeBase64url(Buffer.from(bytes).toString('base64url'))).toEqual(Buffer.from(bytes));
      const decoded = tryDecodeBase64url(text);
      if (decoded) expect(decoded.toString('base64url')).toBe(text);
    }),
  );
});
