/**
 * `Link` header of a refusal that comes from the plan (RFC 8288, relation "help" of HTML): where the account reads what is left and
 * until when.
 * @param neededMs milliseconds of sound that the refused start needs, when they are known
 */
export const usageLink = (neededMs?: number): Readonly<Record<'Link', string>> => ({
  Link: `</api/v1/account/usage${neededMs === undefined ? '' : `?needed_ms=${neededMs}`}>; rel="help"`,
});
