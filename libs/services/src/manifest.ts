import { namesOf } from './derive.ts';
import { changesChannel, jobsChannel, progressKeyOf } from './redis-names.ts';
import type { Manifest, ObjectRights, ServiceEntry } from './service-entry.ts';

/** Reads everything but the objects that one or two other services use alone. */
const readsMedia = {
  '': ['read'],
  'bindings/': [],
  'bus/': [],
  'decisions/': [],
  'exports/': [],
  'imports/': [],
  'plans/': [],
} as const satisfies ObjectRights;

const audienceLists = { AUDIENCE_DATA: 'libs/audience/data' } as const;

const entries = {
  'auth-server': {
    schema: 'identity',
    grpc: true,
    http: {
      base: [
        '/sign-in',
        '/sign-up',
        '/sign-out',
        '/settings',
        '/oauth',
        '/.well-known/oauth-authorization-server',
        '/.well-known/openid-configuration',
      ],
    },
    calls: ['management'],
    secrets: ['PRINCIPAL_PRIVATE_KEY', 'RECEIPT_SIGNING_KEY', 'ACCESS_TOKEN_SIGNING_KEYS', 'SECOND_FACTOR_KEYS'],
    // Mails, while no mail server is configured.
    folders: { MAIL_FOLDER: 'mail' },
    sharedFolders: ['MAIL_FOLDER'],
    reachesInternet: true,
    redis: { keys: ['attempts:*'], publishes: ['identity.events'], follows: [['product.events', 'auth-server']] },
  },
  management: {
    schema: 'product',
    grpc: true,
    http: {
      api: ['/management/v1', '/.well-known/oauth-protected-resource/management/v1'],
      // For pages of the web application, by the session of their cookie.
      base: ['/management/v1'],
    },
    apis: [
      {
        path: '/management/v1',
        name: 'Management API',
        purpose: 'reads and changes every resource by declared commands',
      },
    ],
    calls: ['auth-server', 'encoder', 'forecaster', 'analytics-sink', 'internal-serving', 'public-delivery'],
    secrets: ['PRINCIPAL_KEYS', 'RECEIPT_SIGNING_KEY', 'CURSOR_KEY', 'WEBHOOK_SECRET_KEYS'],
    reachesInternet: true,
    // It archives and trims the streams of every topic.
    redis: { keys: ['bus:*', progressKeyOf('*'), 'rate:*'], channels: [changesChannel, jobsChannel] },
    // Management writes every object but those of the encoder and those about decided and delivered plays.
    objects: {
      '': ['read', 'write', 'list'],
      'media/': ['read', 'list'],
      'artwork/': ['read', 'list'],
      'bindings/': [],
      'decisions/': [],
    },
    presigns: true,
  },
  encoder: {
    grpc: true,
    calls: ['management'],
    secrets: [],
    folders: { ENCODER_WORK_FOLDER: 'encoder' },
    reachesInternet: true,
    redis: { keys: [progressKeyOf('*')], channels: [progressKeyOf('*'), jobsChannel] },
    objects: { ...readsMedia, 'media/': ['read', 'write'], 'artwork/': ['read', 'write'] },
  },
  forecaster: {
    grpc: true,
    calls: ['management', 'internal-serving'],
    secrets: [],
    redis: { channels: [jobsChannel] },
  },
  'internal-serving': {
    schema: 'serving',
    grpc: true,
    calls: ['analytics-sink'],
    secrets: [],
    redis: {
      // Of goals: for releases up to 0.7.0, which may run beside this one.
      keys: ['goal:*', 'listener:*'],
      publishes: ['serving.decisions', 'serving.opportunities'],
      follows: [
        ['product.events', 'internal-serving'],
        ['product.events', 'internal-serving.states'],
      ],
    },
    objects: { 'plans/': ['read'], 'decisions/': ['read', 'write'] },
  },
  'analytics-sink': {
    schema: 'audience',
    grpc: true,
    http: { api: ['/audience/v1', '/.well-known/oauth-protected-resource/audience/v1'] },
    apis: [
      {
        path: '/audience/v1',
        name: 'Audience Analytics Sink API',
        purpose: 'takes measurements of other programs and companies',
      },
    ],
    calls: ['auth-server'],
    secrets: ['PRINCIPAL_KEYS', 'ACCESS_TOKEN_KEYS'],
    files: audienceLists,
    redis: {
      follows: [
        ['serving.decisions', 'analytics-sink'],
        ['serving.opportunities', 'analytics-sink'],
        ['delivery.facts', 'analytics-sink'],
      ],
    },
  },
  'hosting-exchange': {
    schema: 'exchange',
    grpc: true,
    http: { api: ['/hosting-exchange/v1', '/.well-known/oauth-protected-resource/hosting-exchange/v1'] },
    apis: [
      {
        path: '/hosting-exchange/v1',
        name: 'Hosting Exchange API',
        purpose: 'takes signed messages of other hosting platforms about their content',
      },
    ],
    calls: ['auth-server', 'management', 'analytics-sink'],
    secrets: ['ACCESS_TOKEN_KEYS'],
    reachesInternet: true,
    redis: {
      keys: ['exchange:*', 'rate:*'],
      publishes: ['exchange.events'],
      follows: [['product.events', 'hosting-exchange']],
    },
  },
  'public-delivery': {
    schema: 'delivery',
    grpc: true,
    http: { media: [''] },
    calls: ['internal-serving', 'hosting-exchange'],
    secrets: ['LISTENER_SECRET', 'DELIVERY_TOKEN_SECRETS'],
    folders: { CACHE_FOLDER: 'delivery-cache', JOURNAL_FOLDER: 'delivery-journal' },
    lastingFolders: ['JOURNAL_FOLDER'],
    // It announces feeds to hubs.
    reachesInternet: true,
    files: audienceLists,
    redis: { publishes: ['delivery.facts'], follows: [['product.events', 'public-delivery']] },
    objects: { ...readsMedia, 'bindings/': ['write'] },
    youngGenerationMb: 16,
  },
  'rest-gateway': {
    grpc: false,
    http: { base: [''] },
    isGateway: true,
    calls: ['management', 'auth-server', 'analytics-sink', 'public-delivery'],
    secrets: [],
    files: { CONSOLE_FOLDER: 'apps/web/dist' },
    redis: { keys: [progressKeyOf('*'), 'rate:*', 'upload_url:*'], channels: [progressKeyOf('*')] },
    presigns: true,
  },
  'mcp-server': {
    grpc: false,
    http: { mcp: [''] },
    isGateway: true,
    calls: ['management', 'auth-server', 'analytics-sink', 'public-delivery'],
    secrets: [],
    redis: { keys: ['progress:*', 'rate:*', 'upload_url:*', 'confirm:*'] },
  },
} as const satisfies Readonly<Record<string, ServiceEntry>>;

export type ServiceName = keyof typeof entries;

/** A name in a certificate: a service, or `operator`, the person at the operator commands. */
export type CallerName = ServiceName | 'operator';

/** The services of Longwave. Everything that starts, connects, permits or deploys them is derived from this. */
export const services: Manifest<ServiceName> = entries;

/** The services that act for people only. */
export const gateways: readonly ServiceName[] = namesOf(services).filter((name) => services[name].isGateway);

/** Whether a caller acts for people only. */
export const isGateway = (caller: CallerName): boolean => gateways.some((name) => name === caller);
