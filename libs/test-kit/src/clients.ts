/** The outside of a running installation: its clients, its operator, its listeners. For tests, the demo and benchmarks. */
export { createRestClient, uploadFile, type RestClient } from './rest-client.ts';
export {
  commandsIn,
  createAccount,
  createAccountWithoutWorkspace,
  issueCredential,
  openOperator,
  playWithoutDetails,
  type Account,
  type Operator,
} from './operator.ts';
export { grantExchangeAccess } from './exchange-access.ts';
export { bookCampaign, publishPlan, type Booking } from './book-campaign.ts';
export {
  checkRanges,
  dissect,
  download,
  listenerAgent,
  listenerAgentOf,
  NoAd,
  type DissectedFile,
  type Download,
} from './check-delivery.ts';
export { connectorRedirect, consentTo, getAccessToken, registerConnector } from './grant-access.ts';
export { acceptInvitation, mailFolderOf, signUp, tokenIn, type Person } from './people.ts';
export { playByHls, type HeardByHls } from './play-by-hls.ts';
export { listServingsOfDownload, listServingsByHls } from './heard-servings.ts';
export { checkFeed } from './check-feed.ts';
