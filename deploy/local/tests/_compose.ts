import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { workspaceRoot } from '@longwave/fleet';
import { withPrograms } from '@longwave/test-kit/with-programs';

export const withComposeModel = withPrograms('TEST_COMPOSE_MODEL');

interface Container {
  readonly image: string;
  readonly build?: { readonly args: Readonly<Record<string, string>> };
  readonly entrypoint: readonly string[] | null;
  readonly command: readonly string[] | null;
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly { readonly source: string; readonly target: string }[];
  readonly volumes?: readonly { readonly type: string; readonly source: string; readonly target: string }[];
  readonly networks?: Readonly<Record<string, object | null>>;
  readonly ports?: readonly { readonly published: string; readonly target: number }[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string; readonly required: boolean }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly restart: string;
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt: readonly string[];
  readonly logging?: object;
}

/** What Docker Compose understands of deploy/server/compose.yaml. */
export interface ComposeModel {
  readonly services: Readonly<Record<string, Container>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, object>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
}

const filled = { LONGWAVE_DOMAIN: 'pod.example', NODE_DIGEST: `sha256:${'ab'.repeat(32)}` };

/** Reads the file with the variables of a filled-in .env; answers what is wrong in place of the model. */
export function readCompose(variables: Readonly<Record<string, string>> = {}, ...profiles: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.env['TEST_COMPOSE_MODEL'] ?? '',
    [path.join(workspaceRoot, 'deploy/server/compose.yaml'), ...profiles],
    { encoding: 'utf8', env: { ...filled, ...variables } },
  );
  return status === 0 ? { model: JSON.parse(stdout) as ComposeModel, stderr } : { stderr };
}

let known: ComposeModel | undefined;

/** The model with the profile "kafka". Throws what the reader says. */
export function composeModel(): ComposeModel {
  if (known) return known;
  const { model, stderr } = readCompose({ KAFKA_BROKERS: 'kafka:9092' }, 'kafka');
  if (!model) throw new Error(stderr);
  return (known = model);
}
