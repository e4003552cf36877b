import type { topics } from '@longwave/events';

/** The public names of an installation: `{base_url}`, `{mcp_url}`, `{api_url}`, `{media_url}`. */
export const publicHosts = ['base', 'mcp', 'api', 'media'] as const;
export type PublicHost = (typeof publicHosts)[number];

type Topic = (typeof topics)[keyof typeof topics];

/** The rights of a service on the installation's Redis, besides those of every client. */
export interface RedisRights {
  /** Key patterns of its own (Redis globs). */
  readonly keys?: readonly string[];
  /** Channels of PUBLISH and SUBSCRIBE. */
  readonly channels?: readonly string[];
  readonly publishes?: readonly Topic[];
  /** Topics and the group by which they are followed. */
  readonly follows?: readonly (readonly [topic: Topic, group: string])[];
}

/** The rights of a key on objects by the beginning of their names; the longest that fits decides, and none fits means nothing. */
export type ObjectRights = Readonly<Record<string, readonly ('read' | 'write' | 'list')[]>>;

/** Secrets and the keys that verify them: the variable by which a service gets the text or the path of the file. */
export type SecretVariable =
  /** Path of a private JWK (Ed25519) that signs statements about principals. */
  | 'PRINCIPAL_PRIVATE_KEY'
  /** Path of the JWKS with the public key of the above. */
  | 'PRINCIPAL_KEYS'
  /** Path of a private JWK (Ed25519). */
  | 'RECEIPT_SIGNING_KEY'
  /** Path of the private JWKS (ES256) that signs access tokens, the newest key first. */
  | 'ACCESS_TOKEN_SIGNING_KEYS'
  /** Path of the JWKS with the public keys of the above. */
  | 'ACCESS_TOKEN_KEYS'
  /** Path of the octet keys (JWKS, A256GCM) that encrypt the secrets of second factors, the newest key first. */
  | 'SECOND_FACTOR_KEYS'
  /** 32 bytes, hex. */
  | 'CURSOR_KEY'
  /** 32 bytes, hex. */
  | 'LISTENER_SECRET'
  /** 32 bytes in hex each, separated by commas, the newest first. */
  | 'DELIVERY_TOKEN_SECRETS'
  /** 32 bytes in hex each, separated by commas, the newest first. */
  | 'WEBHOOK_SECRET_KEYS';

/** The secrets of which a variable names the file; the others are in the variable itself. */
export const secretsInFiles: readonly SecretVariable[] = [
  'PRINCIPAL_PRIVATE_KEY',
  'PRINCIPAL_KEYS',
  'RECEIPT_SIGNING_KEY',
  'ACCESS_TOKEN_SIGNING_KEYS',
  'ACCESS_TOKEN_KEYS',
  'SECOND_FACTOR_KEYS',
];

/** An API with pages of its own at `<path>/docs` and `<path>/openapi.json`. */
interface DocumentedApi {
  readonly path: string;
  readonly name: string;
  /** Continues the sentence that begins with “the” and the name. */
  readonly purpose: string;
}

/**
 * Everything that running a service takes, as plain data. Each service is an app of its own name, `apps/<name>`.
 * @template S the names of all services
 */
export interface ServiceEntry<S extends string = string> {
  /** The database schema that it alone uses; its migrations are in `apps/<name>/prisma`. Without one it gets no database login. */
  readonly schema?: string;
  /** Whether it answers other services. */
  readonly grpc: boolean;
  /** Paths of the public hosts that it answers, without a slash at the end; '' is every path that no other service has. */
  readonly http?: Readonly<Partial<Record<PublicHost, readonly string[]>>>;
  /** The APIs of `{api_url}` among them, for the page at its root. */
  readonly apis?: readonly DocumentedApi[];
  /** Acts for people only: it may call whatever serves people, and without a person's signed statement it may do nothing. */
  readonly isGateway?: true;
  /** Services that it calls by gRPC; it gets their addresses. */
  readonly calls: readonly S[];
  readonly secrets: readonly SecretVariable[];
  /** Folders of its own on the machine, by variable. */
  readonly folders?: Readonly<Record<string, string>>;
  /** The variables of those folders that all processes of the service on one machine share; each has the others for itself. */
  readonly sharedFolders?: readonly string[];
  /** The variables of those folders that each process must find again after a restart. */
  readonly lastingFolders?: readonly string[];
  /** Files and folders of this repository that it reads, by variable. What a build makes may be missing. */
  readonly files?: Readonly<Record<string, string>>;
  /** It connects to addresses that clients or settings name, anywhere. */
  readonly reachesInternet?: true;
  /** Without them it gets no login. */
  readonly redis?: RedisRights;
  /** Without them it gets no key of the object store. */
  readonly objects?: ObjectRights;
  /** It gives clients addresses of the object store, or pages that send them there, so it knows the store's public address. */
  readonly presigns?: true;
  /** MB that V8 fills before it collects what is new (`--max-semi-space-size`); 4 where it is not said, which keeps a service at rest small. */
  readonly youngGenerationMb?: number;
}

/** Services by name, in the order in which they are listed. */
export type Manifest<S extends string = string> = Readonly<Record<S, ServiceEntry<S>>>;
