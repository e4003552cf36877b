/** Paths of the authorization server on `{base_url}`. */
export const authorizePath = '/oauth/authorize';
export const tokenPath = '/oauth/token';
export const revokePath = '/oauth/revoke';
export const jwksPath = '/oauth/jwks';
export const interactionPath = '/oauth/interaction';
