import type { Cut } from '@longwave/test-kit';
import { namesOf, services, type ServiceName } from '@longwave/services';
import type { Kind } from './_attempts.ts';
import type { DiskName } from './_disks.ts';
import type { FaultCase } from './_run-case.ts';
import type { Engine, Link, Subject } from './_subject.ts';

const known: readonly Kind[] = ['known listener', 'HLS listener', 'feed'];
const media: readonly Kind[] = [...known, 'new listener', 'new HLS listener'];

/** What goes on while a service is away (docs/services, “When something is gone”). */
const withoutService: Partial<Record<ServiceName, readonly Kind[]>> = {
  'public-delivery': ['command', 'read', 'upload'],
  'rest-gateway': media,
  management: media,
  'auth-server': media,
};
const everything: readonly Kind[] = [...media, 'command', 'read', 'upload'];

/** What listeners are promised while public-delivery has no engine of a kind. */
const withoutEngine: Readonly<Record<Engine, readonly Kind[]>> = {
  postgres: known,
  redis: media,
  objectStore: known,
  kafka: media,
};

const killService = (name: ServiceName): FaultCase => ({
  name: `kill ${name}`,
  begin: async (subject) => void subject.killService(name),
  promises: withoutService[name] ?? everything,
  losesLastFacts: name === 'public-delivery',
});

const killEngine = (engine: Engine): FaultCase => ({
  name: `kill ${engine}`,
  begin: async (subject) => void subject.killEngine(engine),
  promises: withoutEngine[engine],
});

const cutMs = 30_000;

const cutLink = ({ service, engine }: Link, how: Cut, lastsMs = cutMs): FaultCase => ({
  name: `${how} ${service}-${engine}`,
  begin: (subject) => subject.cut([{ service, engine }], how),
  lastsMs,
  promises: service === 'public-delivery' ? withoutEngine[engine] : media,
});

/** Decisions hang: the service takes questions and does not answer. */
const freezeService = (name: ServiceName): FaultCase => ({
  name: `freeze ${name}`,
  begin: (subject) => subject.freezeService(name),
  lastsMs: cutMs,
  promises: media,
});

/** Kafka tells clients its own address, which leads past a proxy; so it stands still instead. */
const freezeEngine = (engine: Engine): FaultCase => ({
  name: `freeze ${engine}`,
  begin: (subject) => subject.freezeEngine(engine),
  lastsMs: cutMs,
  promises: withoutEngine[engine],
});

const cutAll = (how: Cut): FaultCase => ({
  name: `${how} everything`,
  begin: (subject) => subject.cut(subject.links, how),
  lastsMs: cutMs,
  promises: known,
});

const fillDisk = (name: DiskName): FaultCase => ({
  name: `full disk ${name}`,
  begin: async (subject) => {
    const free = subject.fillDisk(name);
    return async () => free();
  },
  lastsMs: cutMs,
  promises: name === 'postgres' ? known : everything,
});

/** Where a service has two processes, no listener notices. */
const rollingRestart = ({ replicas }: Subject): FaultCase => ({
  name: 'rolling restart',
  begin: async (subject) => {
    await subject.restartAll();
    return async () => undefined;
  },
  promises: replicas > 1 ? media : [],
});

/** All cases that an installation can be put through, the most telling ones first. */
export const casesOf = (subject: Subject): readonly FaultCase[] => [
  ...(['black-hole', 'refused'] as const).flatMap((how) => [
    ...subject.links.map((link) => cutLink(link, how)),
    cutAll(how),
  ]),
  ...namesOf(services).map(killService),
  ...subject.engines.map(killEngine),
  ...subject.engines.filter((engine) => engine === 'kafka').map(freezeEngine),
  freezeService('internal-serving'),
  ...subject.disks.map(fillDisk),
  rollingRestart(subject),
];
