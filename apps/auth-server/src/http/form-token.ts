import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { cookieAttributes, cookieName, cookieOf } from '@longwave/principal';

/** The token of a person's forms follows from a secret that only the browser has: its session, or a cookie made for forms. */
const tokenOf = (secret: string) => createHash('sha256').update(`form token ${secret}`).digest('base64url');

export interface FormToken {
  readonly token: string;
  /** The `Set-Cookie` of a secret that was made for this answer. */
  readonly setCookie?: string;
}

/** The form token of a browser. */
export function formTokenOf(request: Request, sessionText: string | undefined, baseUrl: string): FormToken {
  const name = cookieName('lw_form', baseUrl);
  const known = sessionText ?? cookieOf(request.headers.cookie, name);
  if (known !== undefined) return { token: tokenOf(known) };
  const secret = randomBytes(32).toString('base64url');
  return { token: tokenOf(secret), setCookie: `${name}=${secret}; ${cookieAttributes(baseUrl)}` };
}

/** Whether a form carries the token, compared in constant time. */
export function isFormToken(sent: unknown, { token, setCookie }: FormToken): boolean {
  if (typeof sent !== 'string' || setCookie !== undefined) return false;
  const [a, b] = [Buffer.from(sent), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}
