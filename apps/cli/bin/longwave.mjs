#!/usr/bin/env node
/** `npx longwave …`, in any folder of the checkout. The launcher makes the machine ready and picks Node 24, as for `npm run longwave -- …`. */
process.argv.splice(2, 0, 'longwave');
await import('../../../deploy/local/launch.mjs');
