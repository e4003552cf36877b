export interface ForeignKafka {
  readonly brokers: readonly string[];
  /** The variables of tests that use the second port; none without one. */
  readonly login: Readonly<Record<string, string>>;
  /** SIGKILL, then again on the same port over the same data; resolves when it answers. */
  readonly killAndRestart: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Starts one broker with an empty data folder; the answer says why when it cannot. */
export function startForeignKafka(options?: {
  readonly onProgress?: (text: string) => void;
  /** It has a second port, which takes TLS connections with a login alone. Default: false. */
  readonly withLogin?: boolean;
}): Promise<ForeignKafka | { readonly unavailable: string }>;

/** The folder of the jars of Apache Kafka; the answer says why when it cannot be had. */
export function fetchKafka(options?: {
  readonly onProgress?: (text: string) => void;
}): Promise<{ readonly jars: string } | { readonly unavailable: string }>;
