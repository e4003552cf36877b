import { types } from 'node:util';

/** Error codes of Node and OpenSSL, and their meanings in words. */
const meanings: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the name has no address',
  EAI_AGAIN: 'no name server answers',
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was closed',
  EHOSTUNREACH: 'no way leads there',
  ENETUNREACH: 'no way leads there',
  ETIMEDOUT: 'no answer in time',
  TimeoutError: 'no answer in time',
  CERT_HAS_EXPIRED: 'the certificate has ended',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'the authority of the certificate is not known here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the authority of the certificate is not known here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the authority of the certificate is not known here',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is of another name',
};

/** Why a connection failed, in words where they are known; `fetch` hides the reason in the cause of its error. */
export function explainNetworkError(error: unknown): string {
  const found = types.isNativeError(error) && types.isNativeError(error.cause) ? error.cause : error;
  // An abort by time is a DOMException, which is no native error.
  if (typeof found !== 'object' || found === null || !('message' in found)) return String(found);
  const { code, name, message } = found as NodeJS.ErrnoException;
  // Nodemailer gives codes of its own (ESOCKET, EDNS); those of Node stand in its messages.
  const own = [code, name, ...(message.match(/\bE[A-Z_]{4,}\b/g) ?? [])];
  const meaning = own.map((each) => meanings[each ?? '']).find((text) => text !== undefined);
  return meaning ?? message;
}
