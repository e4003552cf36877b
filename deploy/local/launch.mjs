#!/usr/bin/env node
/**
 * The program behind every npm script: makes the machine ready (packages, Node 24, ffmpeg, Redis, generated code, builds), then runs
 * the command. Plain JavaScript without dependencies, because it runs before anything is installed, on any Node ≥ 20.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import {
  build,
  buildConsole,
  compileCache,
  ensureSystemPackages,
  findNode24,
  generateCode,
  installPackages,
  Unprepared,
} from './prepare.mjs';

const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../..');

/** `needs`: what must be there besides the npm packages and generated code. */
const commands = {
  start: {
    script: 'deploy/local/start.ts',
    /** Looks at the options before anything is built. */
    check: 'deploy/local/check-settings.ts',
    needs: ['system', 'build'],
    summary: 'start the whole service on this machine; the first time, make a complete trial run on a sample',
    usage: `npm start -- [options]

  --public-url URL        public address of pages and the REST API, https://pod.example; the others are mcp.pod.example, api.pod.example,
                          media.pod.example and objects.pod.example, or what --mcp-url, --api-url, --media-url and --objects-url say
  --listen ADDRESS        address that the public ports are bound to (default 127.0.0.1)
  --port-base N           port of the REST API (default 8080); N+1 is for agents (MCP), N+2 for ad server APIs, N+3 for feeds and audio,
                          N+4 for uploads
  --metrics-port-base N   first of ten ports of health and metrics on 127.0.0.1, for Prometheus (default: free ones)
  --config FILE           file with settings, in YAML or JSON
  --data FOLDER           folder for all data (default .longwave)
  --adopt                 the data folder is a copy that takes the place of the first one, with its database

docs/configuration.md lists every setting. Each is a member of the file, an option and a LONGWAVE_ variable: public_url, --public-url,
LONGWAVE_PUBLIC_URL. An option wins over a variable, a variable over the file. FETCH_ALLOW_ORIGINS, PLANS_FILE, WEBSUB_HUB, LOG_LEVEL,
TRUSTED_PROXIES, MAIL_URL, MAIL_FROM, POLICY_URL and TERMS_URL are read without LONGWAVE_ too. Without a mail server mails become files in the
folder of all data. A server with a proxy in front: docs/self-hosting.md.

Ctrl-C stops everything. The data is kept for the next start.`,
  },
  fleet: {
    script: 'deploy/local/fleet.ts',
    needs: ['system', 'console'],
    summary: 'start the whole service in the shape of a cluster on this machine, or test it so',
    usage: `npm run fleet -- --profile cluster [--test [NAME …]]

  --profile cluster   what containers would hold (npm run package, made again when sources changed), two processes of every service behind
                      the edge, an S3 server that is not ours, Apache Kafka, PostgreSQL and Redis with TLS
  --test              run tests/acceptance and tests/faults on it, or the files whose names have one of the words

Servers that you have take the place of its own, by the variables of services: DATABASE_URL (a role that may make schemas and roles),
REDIS_URL (a user who may make users), KAFKA_BROKERS (and KAFKA_TLS, KAFKA_SASL_MECHANISM, KAFKA_USERNAME, KAFKA_PASSWORD), S3_ENDPOINT
with S3_ACCESS_KEY and S3_SECRET_KEY, S3_REGION, S3_BUCKET, and NODE_EXTRA_CA_CERTS for their authority. Tests run on its own engines always. What it makes there stays.

It fetches Kafka (needs Java 17 and Maven) and builds the S3 server (needs Go) once, as npm test does. Ports are free ones, its own data is
removed at the end.`,
  },
  demo: {
    script: 'deploy/local/demo.ts',
    needs: ['system', 'build'],
    summary: 'make a complete trial run with your own audio file, from upload to a counted download',
    usage: `npm run demo -- --audio FILE [--ad FILE] [--hls] [--fresh] [--json]

  --audio FILE   mp3, wav, flac, ogg or m4a
  --ad FILE      the advertisement before the episode (default: the one in deploy/local/samples)
  --hls          switch HLS on for the podcast; the listener then also plays the episode by HLS, to its end, and it is checked that the ads are
                 those of the download and that everything is counted once (docs/hls.md)
  --fresh        use a new installation that is removed afterwards (default: the running one, or the data of npm start)
  --json         print the result as one JSON object in the last line
  --port-base N  as for npm start, if the service is not running yet
  --data FOLDER  as for npm start

The exit code is 0 only if every step passed.`,
  },
  test: {
    script: 'tools/test.mjs',
    needs: ['system', 'build'],
    summary: 'check everything: types, format, lint, contracts, all tests',
    usage: `npm test

  Runs every check and ends with one line: N passed, N failed[, N skipped].
  With REQUIRE_FOREIGN_ENGINES=1 it fetches Apache Kafka, a foreign S3 server, Caddy, HAProxy, promtool, Helm, schemas of Kubernetes, Schemathesis
  and the packages of the foreign host, and fails where one of them is not available; without, it leaves out what was not fetched before,
  and says so at the end.`,
  },
  bench: {
    script: 'deploy/bench/main.ts',
    needs: ['system', 'build'],
    summary: 'measure the service on this machine, beside simple baselines',
    usage: `npm run bench -- [words]

  words   measure only the rows whose group has one of these words in its name: npm run bench -- stitched resolve
          (a word that no group has shows the names of all)

  Each row is a ratio against a baseline that was measured in the same run; the CPU time of one request or call stands beside it.`,
  },
  faults: {
    script: 'tests/faults/run.ts',
    needs: ['system', 'build'],
    summary: 'put an installation through kills, partitions and restarts under load',
    usage: `npm run faults -- [--profile cluster] [--case PART]… [--list]

  --profile cluster  two processes of each service on Kafka, a foreign S3 server and TLS (see npm run fleet -- --help); default: embedded
  --case PART        only cases in whose names one of these stands: --case "black-hole management" --case kill
  --list             print the names of all cases and run none

Each case has steady listeners, commands and an encode, and prints how soon everything succeeds again, what failed meanwhile, and every
acknowledged command, event or byte that was lost or doubled. The exit code is 1 when there is one. All cases take about an hour: docs/faults.md.`,
  },
  'last-release': {
    script: 'deploy/local/last-release.ts',
    needs: ['system', 'build'],
    summary: 'prove that the last release works on the schema of this checkout, before a new one is made',
    usage: `npm run last-release -- [--version X.Y.Z]

  --version X.Y.Z   another release of docs/releases.json than the newest

1. It takes the release from the history of this repository, installs its packages, starts it on new data, and waits for its trial run.
2. It applies the migrations of this checkout while that release answers a request every 50 ms, and counts those that fail.
3. The release makes a complete run on the migrated schema.
4. Then longwave upgrade puts this checkout in its place: it must give listeners the same file as before, and make a complete run too.

Everything is made in temporary folders, on free ports, and removed at the end. The exit code is 0 only if everything held, and 2 when the
command line is wrong.`,
  },
  contracts: {
    script: 'deploy/local/contracts.ts',
    needs: [],
    summary: 'write contracts/*.json from the code',
    usage: 'npm run contracts -- [--check]\n\n  --check   write nothing; fail if a file would change',
  },
  migrate: {
    script: 'deploy/local/migrate.ts',
    needs: [],
    summary: 'create, apply and compare database migrations',
    usage: `npm run migrate -- COMMAND [options]

  create NAME --app APP   write the migration to apps/APP/prisma/schema.prisma (needs no database)
  deploy                  create schemas, set the rights of roles and apply all migrations, on the database of DATABASE_URL
                          (the URL of an administrator)
  provision               create schemas and, for each, the role of its service and the role of its migrations (their passwords in
                          PRODUCT_PASSWORD, PRODUCT_MIGRATION_PASSWORD and so on), for an installation whose migrations log in apart
  status                  show which migrations differ between the database of DATABASE_URL and the folders
  drift --app APP         check that migrations and schema.prisma agree (needs no database)`,
  },
  sbom: {
    script: 'tools/supply-chain.mjs',
    needs: [],
    summary: 'print the packages of production as a bill of materials (CycloneDX, JSON)',
    usage: `npm run --silent sbom > sbom.json

  --check       print nothing but faults: packages without a hash, from elsewhere than the registry, or with another licence than allowed
  --lock FILE   of this lock file (default: package-lock.json)`,
  },
  package: {
    script: 'deploy/package/package.ts',
    needs: ['console'],
    summary: 'build what a container of a service holds, as a folder that starts with Node 24 alone',
    usage: `npm run package -- [SERVICE …] [--out FOLDER]

  SERVICE        a service of libs/services/src/manifest.ts (default: all of them)
  --out FOLDER   where its folder is made (default dist); an earlier one of the same service is replaced

The folder has the bundle, the npm packages that stay outside of it and what they need, at the versions of package-lock.json, the data
that it reads, and the migrations of its schema. Sizes are printed. deploy/Dockerfile makes its images by this command.`,
  },
  'server-secrets': {
    script: 'deploy/local/make-server-secrets.ts',
    needs: [],
    summary: 'make the secrets, logins and certificates of the containers of deploy/server/compose.yaml',
    usage: `npm run server-secrets -- [--out FOLDER]

  --out FOLDER   where the files are made (default deploy/server/secrets)

Run it as root: the containers read the files as user 10001, who then owns them. What is there is kept; certificates, which last 90 days,
are made anew in their last 14 days. docs/self-hosting.md#with-containers says when to run it again.`,
  },
  longwave: {
    script: 'apps/cli/src/main.ts',
    needs: [],
    summary: 'operate a running installation',
    usage: undefined,
  },
};

/** Tools of `longwave` that import no generated code, and start without a look at it. */
const withoutGeneratedCode = ['exchange', 'status', 'logs', 'doctor', 'backup'];
const needsGeneratedCode = (name, [tool]) =>
  name === 'longwave' ? !withoutGeneratedCode.includes(tool) : name !== 'sbom';

function overview() {
  const lines = Object.entries(commands).map(([name, { summary }]) => {
    const typed = name === 'start' || name === 'test' ? `npm ${name}` : `npm run ${name}`;
    return `  ${typed.padEnd(20)} ${summary}`;
  });
  return [
    'Longwave: podcast hosting with an audio ad server.',
    '',
    ...lines,
    '',
    'Each explains itself with --help: npm run demo -- --help',
  ].join('\n');
}

/** Our parent and, on Linux, its parent: npm runs us through a shell. Changes when one of them is killed. */
function ancestors() {
  try {
    const stat = readFileSync(`/proc/${process.ppid}/stat`, 'latin1');
    return `${process.ppid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]}`;
  } catch {
    return `${process.ppid}`;
  }
}

/** Runs the command in the foreground; signals reach it through us, and it learns of our death by the closed channel. */
function handOver(node, script, args) {
  return new Promise((resolve) => {
    const child = spawn(node, ['--enable-source-maps', path.join(root, script), ...args], {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: process.env,
    });
    // Ctrl-C reaches the child too, because it is in our foreground group; a signal to us alone does not. So it may get a signal twice.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill('SIGTERM'));
    const before = ancestors();
    if (process.env.npm_lifecycle_event)
      setInterval(() => ancestors() === before || child.kill('SIGTERM'), 1_000).unref();
    child.once('error', (error) => {
      console.error(error.message);
      resolve(1);
    });
    child.once('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 1)));
  });
}

async function main([name, ...args]) {
  if (!name || name === '--help' || name === '-h' || name === 'help') {
    console.log(overview());
    return name ? 0 : 2;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    console.error(`There is no command “${name}”.\n\n${overview()}`);
    return 2;
  }
  if (command.usage && (args.includes('--help') || args.includes('-h'))) {
    console.log(`${command.summary[0].toUpperCase()}${command.summary.slice(1)}.\n\n${command.usage}`);
    return 0;
  }
  const major = Number(process.versions.node.split('.')[0]);
  if (major < 20) throw new Unprepared(`Longwave needs Node 20 or newer to start; this is ${process.version}.`);
  if (!existsSync(path.join(root, command.script))) throw new Unprepared(`${command.script} does not exist yet.`);
  await installPackages(root);
  const node = findNode24(root);
  // Every program run from here on finds Node 24 first.
  process.env.PATH = [path.dirname(node), path.join(root, 'node_modules/.bin'), process.env.PATH].join(path.delimiter);
  process.env.NODE_COMPILE_CACHE ??= compileCache(root);
  if (command.check) {
    const { status } = spawnSync(node, [path.join(root, command.check), ...args], { stdio: 'inherit' });
    if (status !== 0) return status ?? 1;
  }
  if (command.needs.includes('system')) ensureSystemPackages({ forTests: name === 'test' });
  if (command.needs.includes('build')) await build(root);
  else if (needsGeneratedCode(name, args)) await generateCode(root);
  if (command.needs.includes('console')) await buildConsole(root);
  return handOver(node, command.script, args);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Unprepared)) throw error;
  console.error(`\n${error.message}`);
  process.exitCode = 1;
}
