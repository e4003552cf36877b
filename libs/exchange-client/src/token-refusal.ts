import * as oauth from 'oauth4webapi';
import { z } from 'zod';

const refusalBody = z.object({ error: z.string(), error_description: z.string().optional() });

/** The refusal in a response with a challenge (RFC 6749 §5.2), whose body nobody has read yet. */
async function challengedBody({ response }: oauth.WWWAuthenticateChallengeError) {
  const body: unknown = await response.json().catch(() => undefined);
  return refusalBody.safeParse(body).data ?? { error: `status ${response.status}` };
}

const refusalText = (proof: 'secret' | 'key', { error, error_description: text }: z.output<typeof refusalBody>) =>
  error === 'invalid_client'
    ? `The client id or its ${proof} is wrong (invalid_client).`
    : `The authorization server gives the client no token: ${text ?? 'it is refused'} (${error}).`;

/**
 * An error of a request for a token in one sentence: the refusal of the authorization server with its code, or that the address belongs to
 * something else. Any other error is answered as it is.
 * @param proof what the client proves itself by
 */
export async function tokenRefusal(cause: unknown, tokenUrl: string, proof: 'secret' | 'key'): Promise<unknown> {
  if (cause instanceof oauth.ResponseBodyError)
    return new Error(refusalText(proof, { error: cause.error, error_description: cause.error_description }), { cause });
  if (cause instanceof oauth.WWWAuthenticateChallengeError)
    return new Error(refusalText(proof, await challengedBody(cause)), { cause });
  if (!(cause instanceof oauth.OperationProcessingError)) return cause;
  const isUnsafe = cause.code === oauth.HTTP_REQUEST_FORBIDDEN;
  return new Error(isUnsafe ? `${tokenUrl} is not an https address.` : `${tokenUrl} is not a token endpoint.`, {
    cause,
  });
}
