import type { KafkaSecurity } from '@longwave/service-kit';

const trust =
  'The certificate of Kafka is not trusted, or is for another host: name its authority by NODE_EXTRA_CA_CERTS.';
const noTls = 'The port may take connections without TLS alone: look at KAFKA_TLS and KAFKA_BROKERS.';

const loginVariables = 'KAFKA_SASL_MECHANISM, KAFKA_USERNAME and KAFKA_PASSWORD';
const refusedLogin = `Kafka refuses the login: look at ${loginVariables}.`;
const wantsLogin = `Kafka may want a login: look at ${loginVariables}.`;

/** Advice by the message of a connection that a broker, or this client, has ended; kafkajs keeps little more than the message. */
function adviceOn(message: string, { ssl, sasl }: KafkaSecurity): string | undefined {
  if (/SASL/.test(message)) return sasl ? refusedLogin : wantsLogin;
  if (/certificate/i.test(message)) return trust;
  if (ssl && /secure TLS connection|wrong version number|ECONNRESET/.test(message)) return noTls;
  if (!/closed connection/i.test(message)) return undefined;
  if (!ssl) return 'The port may take TLS connections alone: look at KAFKA_TLS.';
  return sasl ? undefined : wantsLogin;
}

/** Why Kafka cannot be used, as an operator reads it: what to look at, and the message of the client in parentheses. */
export function explainRefusal(error: unknown, security: KafkaSecurity): string {
  const message = error instanceof Error ? error.message : 'unknown';
  const advice = adviceOn(message, security);
  return advice === undefined ? message : `${advice} (${message})`;
}
