const login = ['KAFKA_SASL_MECHANISM', 'KAFKA_USERNAME', 'KAFKA_PASSWORD'] as const;

/** Variables that say how connections to Kafka are encrypted and who opens them. */
export type KafkaVariable = 'KAFKA_TLS' | (typeof login)[number];

/**
 * The faults of the variables of Kafka together, by variable: a login has a mechanism, a user and a password, a password in plain text
 * needs TLS, and without brokers there is no Kafka to log in at.
 */
export function kafkaFaults(
  environment: Readonly<Record<string, string | undefined>>,
): readonly (readonly [variable: string, fault: string])[] {
  const isTls = environment['KAFKA_TLS'] === 'true';
  const present = login.filter((name) => environment[name]);
  const missing = present.length > 0 ? login.filter((name) => !environment[name]) : [];
  const needBrokers = [...(isTls ? ['KAFKA_TLS'] : []), ...present];
  return [
    ...(needBrokers.length > 0 && !environment['KAFKA_BROKERS']
      ? [['KAFKA_BROKERS', `is missing: without it there is no Kafka for ${needBrokers.join(', ')}`] as const]
      : []),
    ...missing.map((name) => [name, `is missing: a login at Kafka is ${login.join(', ')} together`] as const),
    ...(environment['KAFKA_SASL_MECHANISM'] === 'plain' && !isTls
      ? [
          [
            'KAFKA_SASL_MECHANISM',
            'plain sends the password in plain text: set KAFKA_TLS=true, or use scram-sha-256 or scram-sha-512',
          ] as const,
        ]
      : []),
  ];
}

type Mechanism = 'plain' | 'scram-sha-256' | 'scram-sha-512';

/** Those variables, parsed. */
interface KafkaVariables {
  readonly KAFKA_TLS?: 'true' | 'false' | undefined;
  readonly KAFKA_SASL_MECHANISM?: Mechanism | undefined;
  readonly KAFKA_USERNAME?: string | undefined;
  readonly KAFKA_PASSWORD?: string | undefined;
}

/** The options `ssl` and `sasl` of kafkajs. */
export interface KafkaSecurity {
  readonly ssl: boolean;
  readonly sasl?: {
    [M in Mechanism]: { readonly mechanism: M; readonly username: string; readonly password: string };
  }[Mechanism];
}

/** How clients of Kafka connect. The password is that of the configuration at the time when a connection is opened. */
export function kafkaSecurity(config: KafkaVariables): KafkaSecurity {
  const { KAFKA_TLS: tls, KAFKA_SASL_MECHANISM: mechanism, KAFKA_USERNAME: username } = config;
  const ssl = tls === 'true';
  if (mechanism === undefined || username === undefined) return { ssl };
  return {
    ssl,
    sasl: {
      mechanism,
      username,
      // kafkajs keeps this object, and reads the member at each login.
      get password() {
        return config.KAFKA_PASSWORD ?? '';
      },
    },
  };
}
