import { createAddressSet, createSenderOf } from '@longwave/audience';
import { users } from '@longwave/command-catalog';
import { findAnywhere, type ExecuteCommand } from '@longwave/command-pipeline';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import { connectRedis, listenHttp, logRedisError } from '@longwave/http-kit';
import type { Pool } from '@longwave/postgres';
import { openKeyFile } from '@longwave/principal';
import type { Logger } from '@longwave/service-kit';
import type { AuthServerConfig } from '../config.ts';
import type { AnswerGrant } from '../grants/answer-grant.ts';
import { readLook } from '../look.ts';
import { createMailPort } from '../mail/mail-port.ts';
import { createPostOffice } from '../mail/post-office.ts';
import { createAuthorization } from '../oauth/create-authorization.ts';
import type { Resource } from '../oauth/resources.ts';
import { secondFactorMails } from '../mail/mails.ts';
import { createAttemptLimit } from '../passwords/attempt-limit.ts';
import { createChangePassword } from '../passwords/change-password.ts';
import { createCheckPassword } from '../passwords/check-password.ts';
import { createLimitMails } from '../mail/limit-mails.ts';
import { sendInvitations } from '../invitations/send-invitations.ts';
import type { Plans } from '../plans.ts';
import { createCheckCode } from '../second-factor/check-code.ts';
import { createSecretSeal } from '../second-factor/secret-seal.ts';
import { createTellSecondFactorEvent } from '../second-factor/tell-second-factor-event.ts';
import { createSendCommand } from '../send-command.ts';
import { createSessions } from '../sessions/sessions.ts';
import { createBeginSession } from '../sign-in/begin-session.ts';
import { createEnter } from '../sign-in/enter.ts';
import { createCreatePerson, createFinishSignUp } from '../sign-up/create-person.ts';
import type { AwaitHolders } from '../verification/await-holders.ts';
import { pageRoutes } from './page-routes.ts';
import { createServer } from './server.ts';

interface PagesDeps {
  readonly config: AuthServerConfig;
  readonly pool: Pool;
  readonly plans: Plans;
  readonly resources: readonly Resource[];
  /** Fetches the metadata documents of connectors. */
  readonly fetchDocument: GuardedFetch;
  readonly execute: ExecuteCommand;
  readonly awaitHolders: AwaitHolders;
  readonly answerGrant: AnswerGrant;
  readonly clock: () => Date;
  readonly logger: Logger;
}

interface Pages extends AsyncDisposable {
  readonly port: number;
  /** Called after an invitation was made. */
  readonly mailInvitations: () => void;
  /** Called after the second factor of a person was switched off. */
  readonly mailSecondFactorOff: (userId: string) => void;
}

/** Serves the pages for people. Disposing lets running answers finish and sends the mails that wait. */
export async function startPages(deps: PagesDeps): Promise<Pages> {
  const { config, pool, plans, execute, awaitHolders, answerGrant, clock, logger } = deps;
  const baseUrl = config.BASE_URL;
  await using stack = new AsyncDisposableStack();
  const redis = await connectRedis(() => config.REDIS_URL, {
    connectionName: 'auth-server-attempts',
    commandTimeout: 1_000,
    onError: logRedisError(logger),
  });
  stack.defer(() => redis.disconnect());
  const from = config.MAIL_FROM ?? `Longwave <no-reply@${new URL(baseUrl).hostname}>`;
  const post = stack.use(createPostOffice({ pool, mail: createMailPort({ ...config, from }), baseUrl, clock, logger }));
  const send = createSendCommand(execute);
  const sessions = createSessions({ pool, send, baseUrl, clock });
  const limit = createAttemptLimit(redis);
  const limitMails = createLimitMails(limit);
  const keys = openKeyFile(config.SECOND_FACTOR_KEYS, {
    now: Date.now,
    onError: (error) => logger.error({ err: error }, 'second_factor.keys_unreadable'),
  });
  const seal = createSecretSeal(keys);
  const tell = createTellSecondFactorEvent({ pool, post, clock });
  const beginSession = createBeginSession({
    ...{ pool, sessions, baseUrl },
    finishSignUp: createFinishSignUp({ pool, send, plans, clock }),
  });
  const routes = pageRoutes({
    pool,
    sessions,
    baseUrl,
    ...{ post, send, answerGrant },
    plans,
    limitMails,
    checkPassword: createCheckPassword({ pool, limit }),
    checkCode: createCheckCode({ pool, limit, seal, tell, clock }),
    ...{ seal, tell, beginSession },
    enter: createEnter({ pool, beginSession, baseUrl }),
    changePassword: createChangePassword({ pool, post, send, clock }),
    createPerson: createCreatePerson({ pool, send, plans, clock }),
  });
  const proxies = createAddressSet(config.TRUSTED_PROXIES);
  const senderOf = createSenderOf(proxies);
  const look = readLook();
  const authorization = createAuthorization({ ...deps, limit, senderOf, lookPath: look.path });
  const app = createServer({
    routes: [...routes, ...authorization.pages],
    mount: authorization.mount,
    ...{ sessions, look, awaitHolders, baseUrl, senderOf, clock, logger },
  });
  const listener = await listenHttp(config.HTTP_LISTEN, app, { proxyProtocol: config.PROXY_PROTOCOL && proxies });
  stack.defer(() => listener.close());
  const invitations = stack.use(sendInvitations({ pool, post, limitMails, clock, logger }));
  const owned = stack.move();
  return {
    port: listener.port,
    mailInvitations: () => invitations.wake(),
    mailSecondFactorOff: (userId) =>
      post.later(async () => {
        const user = await findAnywhere(pool, users.type, userId);
        if (user)
          await post.send(secondFactorMails.second_factor_off(user.attributes.email, post.pageLink('/sign-in/reset')));
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
