/** A character that stands for itself or is percent-encoded, however often. */
const either = (character: string, hex: string) => `(?:${character}|%(?:25)*${hex})`;
const base64url = either('[A-Za-z0-9_-]', '(?:2d|5f|3\\d|4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a])');
const dot = either('\\.', '2e');
const underscore = either('_', '5f');

const pattern = (...parts: readonly string[]) => new RegExp(parts.join(''), 'gi');

/** Delivery tokens, credentials and presigned signatures, anywhere in a text, and what replaces them. */
const secrets: readonly (readonly [RegExp, string])[] = [
  [pattern(either('t', '74'), either('1', '31'), dot, base64url, '{40,}'), 't1.***'],
  [pattern('\\b(lw|svc)', underscore, '(key|pat|mcp|ses|once)', underscore, base64url, '{8,}'), '$1_$2_***'],
  [pattern('\\bbearer(?:\\s|\\+|%20)+[^\\s"\'\\\\,;]{8,}'), 'Bearer ***'],
  // A JWT begins where no longer text of its characters does: else a text of many beginnings is read to its end for each of them.
  [pattern('(?<![A-Za-z0-9_-])eyJ', base64url, '{8,}', dot, base64url, '+', dot, base64url, '+'), 'jwt.***'],
  [/(X-Amz-(?:Signature|Credential|Security-Token)(?:=|%3d))(?:(?!%26)[^&\s"\\])+/gi, '$1***'],
  [/\b((?:access_token|refresh_token|id_token|client_secret|code_verifier)=)[^&\s"\\]+/gi, '$1***'],
  [/("(?:authorization|proxy-authorization|cookie|set-cookie|token)\\*"\s*:\s*\\*")[^"\\]+/gi, '$1***'],
  [/(:\/\/[^:@/?#\s"]*:)[^/?#\s"]+@/g, '$1***@'],
];

/** A text without credentials, delivery tokens or signatures. */
export function redact(text: string): string {
  return secrets.reduce((clean, [secret, replacement]) => clean.replace(secret, replacement), text);
}
