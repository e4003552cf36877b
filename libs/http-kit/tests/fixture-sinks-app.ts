import { SpanStatusCode, trace } from '@opentelemetry/api';
import { Problem } from '@longwave/problems';
import express from 'express';
import type { Logger } from '@longwave/service-kit';
import { listenHttp, renderProblem } from '../src/index.ts';
import type { SinksConfig } from './fixture-sinks-config.ts';

/** Puts every secret into everything that leaves a process: log, console, warnings, spans, problems, and the way it dies, when told to. */
export async function createApp(
  { HTTP_LISTEN: listen, SECRETS: secrets, ENDS_BY: endsBy }: SinksConfig,
  logger: Logger,
) {
  const failure = () =>
    new AggregateError([new Error(secrets)], `failed at ${secrets}`, {
      cause: new Error(secrets, { cause: { deep: [secrets] } }),
    });
  const tell = () => {
    for (const level of ['debug', 'info', 'warn', 'error', 'fatal'] as const)
      logger[level]({ err: failure(), url: `/p/${secrets}`, nested: { list: [secrets] } }, `told ${secrets}`);
    console.log(secrets);
    console.error(failure());
    process.stderr.write(Buffer.from(`${secrets} ä\n`));
    process.emitWarning(failure());
    process.emitWarning(secrets, 'DeprecationWarning', 'LW001');
  };
  const app = express();
  app.get('/p/:token', (request, response) => {
    tell();
    const detail = `${request.params.token} ${secrets}`;
    const errors = [{ path: `/${secrets}`, code: 'unknown_field', detail }];
    renderProblem(response, new Problem('validation_failed', detail, { errors, cause: failure() }), 'req_1');
  });
  const http = await listenHttp(listen, app);
  const url = `http://${listen}/p/${secrets.split(' ')[0]}?secret=${encodeURIComponent(secrets)}`;
  const spanned = trace.getTracer('fixture').startSpan(`GET ${secrets}`, { attributes: { secrets: [secrets] } });
  spanned.addEvent(secrets, { secrets });
  spanned.recordException(failure());
  spanned.setStatus({ code: SpanStatusCode.ERROR, message: secrets });
  spanned.end();
  const body = await (await fetch(url, { headers: { 'user-agent': 'SecretPlayer/1.0' } })).text();
  logger.info({ length: body.length }, body);
  const ways: Readonly<Record<string, () => void>> = {
    exception: () =>
      setImmediate(() => {
        throw failure();
      }),
    rejection: () => void Promise.reject(failure()),
    signal: () => process.kill(process.pid, 'SIGTERM'),
  };
  process.stdin.once('data', () => ways[endsBy]!());
  return { readiness: {}, [Symbol.asyncDispose]: () => http.close() };
}
