/** The first parts of addresses of this origin that belong to APIs and to pages of auth-server; the console never has them. */
export const addressesOfOthers = [
  ...['/api', '/api-docs', '/management', '/oauth', '/.well-known'],
  ...['/sign-in', '/sign-up', '/sign-out', '/settings'],
];
